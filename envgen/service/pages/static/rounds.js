// Returns, health and regrets of all rounds, from the API.
"use strict";
(async () => {
  const places = Object.fromEntries([...document.querySelectorAll("[data-chart]")].map((node) => [node.dataset.chart, node]));
  const rounds = await paint.fetched("/figures/rounds", places.returns);
  if (!rounds) return;
  const x = rounds.map((one) => one.shard);
  const line = (name, key, colour, more = {}) => ({
    name, x, y: rounds.map((one) => one[key]), mode: rounds.length > 40 ? "lines" : "lines+markers", line: { color: colour, width: 2, ...more }, marker: { size: 6 },
    hovertemplate: `${name}, round %{x}: %{y:.2f}<extra></extra>`,
  });
  const named = { showlegend: true, legend: { orientation: "h", y: 1.22, x: 0, font: { size: 12 } }, margin: { l: 36, r: 10, t: 30, b: 34 } };
  const steps = { title: { text: "round" }, dtick: x.length < 12 ? 1 : undefined };
  paint.draw(places.returns, () => {
    const c = paint.colours();
    return [[line("with hint", "return_hinted", c.mastered, { dash: "dot" }), line("without", "return_unhinted", c.soft), line("regret", "regret", c.accent)],
      paint.layout({ ...named, xaxis: steps, yaxis: { rangemode: "tozero" } })];
  });
  paint.draw(places.health, () => {
    const c = paint.colours();
    return [[line("learnable", "learnable", c.accent), line("variety", "vendi_share", c.hint_only)],
      paint.layout({ ...named, xaxis: steps, yaxis: { range: [0, 1.04] } })];
  });
  paint.draw(places.regrets, () => {
    const c = paint.colours();
    return [[{ type: "histogram", x: rounds.flatMap((one) => one.regrets), xbins: { start: -1, end: 1.05, size: 0.1 }, marker: { color: c.accent }, hovertemplate: "regret %{x}: %{y} environments<extra></extra>" }],
      paint.layout({ bargap: 0.12, xaxis: { title: { text: "regret" } }, yaxis: { title: { text: "environments" } } })];
  });
})();
