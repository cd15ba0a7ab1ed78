// The curves that one looks at first, by role, and a choice of all the others.
"use strict";
(async () => {
  const run = await paint.fetched("/figures/run", null);
  if (!run) return;
  const every = [...run.rounds.map((one) => ({ ...one, step: "round" })), ...run.versions.map((one) => ({ ...one, step: "version" }))];
  const named = (name, step) => every.find((one) => one.name === name && (!step || one.step === step));
  const ROUND = "round", VERSION = "version";
  // Title, what its numbers are, curves, and by what they go.
  const FIRST = {
    designer: [
      ["Valid designs", "of each round", ["designer/designs", "designer/valid"], ROUND],
      ["Regret", "mean of new ones", ["designer/regret"], ROUND],
      ["Learnable share", "of new ones", ["designer/learnable"], ROUND],
      ["Reward", "mean of all designs", ["designer/reward"], ROUND],
      ["Variety", "Vendi score / n", ["designer/vendi_share"], ROUND],
      ["Entropy", "nats a token", ["designer/entropy"], VERSION],
    ],
    solver: [
      ["Return in rounds", "mean of new ones", ["solver/return_hinted", "solver/return_unhinted"], ROUND],
      ["Return in training", "mean of plays", ["solver/return"], VERSION],
      ["Loss", "mean of steps", ["solver/loss"], VERSION],
      ["Entropy", "nats a token", ["solver/entropy"], VERSION],
      ["Gradient norm", "before clipping", ["solver/grad_norm"], VERSION],
      ["Turns", "replies a play", ["solver/turns"], VERSION],
    ],
  };
  const NAMES = { "solver/return_unhinted": "without hint", "solver/return_hinted": "with hint", "designer/designs": "written" };
  const TONES = { "solver/return_unhinted": "soft", "solver/return_hinted": "mastered", "designer/designs": "soft" };
  function chart(node, chosen) {
    return paint.draw(node, () => {
      const curves = chosen();
      const c = paint.colours();
      return [curves.map((one) => ({
        name: NAMES[one.name] ?? one.name.split("/").pop().replaceAll("_", " "), x: one.steps, y: one.values, mode: one.steps.length > 40 ? "lines" : "lines+markers",
        line: { color: c[TONES[one.name] ?? "accent"], width: 2, dash: one.name === "solver/return_hinted" ? "dot" : "solid" }, marker: { size: 6 }, hovertemplate: `${curves.length > 1 ? "%{fullData.name}, " : ""}${one.step} %{x}: %{y:.3g}<extra></extra>`,
      })), paint.layout({ showlegend: curves.length > 1, legend: { orientation: "h", y: 1.2, x: 0 }, margin: { l: 44, r: 10, t: curves.length > 1 ? 28 : 8, b: 34 }, xaxis: { title: { text: curves[0].step }, dtick: curves[0].steps.length < 12 ? 1 : undefined }, yaxis: { rangemode: "tozero" } })];
    });
  }
  const ready = [];
  for (const [role, wanted] of Object.entries(FIRST)) {
    const section = document.getElementById(role);
    for (const [title, unit, names, step] of wanted) {
      const curves = names.map((name) => named(name, step)).filter(Boolean);
      if (!curves.length) continue;
      section.hidden = false;
      const [card, head, name, told, node] = ["div", "div", "h3", "small", "div"].map((kind) => document.createElement(kind));
      card.className = "card"; node.className = "chart"; head.className = "head";
      name.textContent = title; told.textContent = unit;
      head.append(name, told);
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", `${title}, ${unit}, by ${curves[0].step}; last ${curves.at(-1).values.at(-1).toPrecision(3)}`);
      card.append(head, node);
      section.querySelector(".charts").append(card);
      ready.push([node, curves]);
    }
  }
  for (const [node, curves] of ready) chart(node, () => curves); // once every card has its width
  const select = document.getElementById("curve"), any = document.getElementById("any");
  if (!every.length) return;
  document.getElementById("other").hidden = false;
  for (const one of every) select.append(new Option(`${one.name.replaceAll("_", " ")} (by ${one.step})`));
  let drawn = null, shown = null;
  const show = async () => {
    shown = every[select.selectedIndex];
    if (drawn) (await drawn)(); else drawn = chart(any, () => [shown]);
  };
  select.addEventListener("change", show);
  select.closest("details").addEventListener("toggle", (event) => { if (event.target.open && !drawn) show(); });
})();
