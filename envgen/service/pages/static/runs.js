// The curves that one looks at first, by role, and a choice of all the others.
"use strict";
(async () => {
  const run = await paint.fetched("/figures/run", null);
  if (!run) return;
  const every = [...run.rounds.map((one) => ({ ...one, step: "round" })), ...run.versions.map((one) => ({ ...one, step: "version" }))];
  const named = (name, step) => every.find((one) => one.name === name && (!step || one.step === step));
  const FIRST = {
    designer: [["Valid designs", ["designer/valid"]], ["Regret", ["designer/regret"]], ["Learnable share", ["designer/learnable"]], ["Reward", ["designer/reward"]], ["Vendi / n", ["designer/vendi_share"]], ["Entropy", ["designer/entropy"]]],
    solver: [["Return in rounds", ["solver/return_unhinted", "solver/return_hinted"], "round"], ["Return in training", ["solver/return"], "version"], ["Loss", ["solver/loss"]], ["Entropy", ["solver/entropy"]], ["Gradient norm", ["solver/grad_norm"]], ["Turns of a play", ["solver/turns"]]],
  };
  function chart(node, chosen) {
    return paint.draw(node, () => {
      const curves = chosen();
      const c = paint.colours(), tones = [c.accent, c.mastered, c.hint_only];
      return [curves.map((one, at) => ({
        name: one.name.split("/").pop().replaceAll("_", " "), x: one.steps, y: one.values, mode: one.steps.length > 40 ? "lines" : "lines+markers",
        line: { color: tones[at % 3], width: 2 }, marker: { size: 6 }, hovertemplate: `%{y:.3g}<extra>${one.step} %{x}</extra>`,
      })), paint.layout({ showlegend: curves.length > 1, legend: { orientation: "h", y: 1.2, x: 0 }, margin: { l: 44, r: 10, t: curves.length > 1 ? 28 : 8, b: 34 }, xaxis: { title: { text: curves[0].step }, dtick: curves[0].steps.length < 12 ? 1 : undefined } })];
    });
  }
  const ready = [];
  for (const [role, wanted] of Object.entries(FIRST)) {
    const section = document.getElementById(role);
    for (const [title, names, step] of wanted) {
      const curves = names.map((name) => named(name, step)).filter(Boolean);
      if (!curves.length) continue;
      section.hidden = false;
      const card = document.createElement("div"), head = document.createElement("h3"), node = document.createElement("div");
      card.className = "card"; node.className = "chart"; head.textContent = title;
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", `${title} by ${curves[0].step}; last ${curves[0].values.at(-1).toPrecision(3)}`);
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
