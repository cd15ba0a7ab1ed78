// Regret with its interval, and both returns, over policy versions.
"use strict";
(async () => {
  const node = document.getElementById("standings");
  if (!node) return;
  const found = await paint.fetched(`/environments/${node.dataset.of}`, node);
  if (!found) return;
  const all = found.standings.filter((one) => one.regret !== null);
  const x = all.map((one) => one.policy_version);
  paint.draw(node, () => {
    const c = paint.colours();
    const line = (name, values, colour, more) => ({ name, x, y: values, mode: "lines+markers", line: { color: colour, width: 2 }, marker: { size: 6 }, hovertemplate: `${name}, version %{x}: %{y:.2f}<extra></extra>`, ...more });
    const regrets = all.map((one) => one.regret);
    const interval = all.some((one) => one.regret_low !== null) && {
      type: "data", symmetric: false, thickness: 1.2, width: 3, color: c.accent,
      array: all.map((one) => (one.regret_high ?? one.regret) - one.regret), arrayminus: all.map((one) => one.regret - (one.regret_low ?? one.regret)),
    };
    return [[
      line("with the hint", all.map((one) => one.return_hinted), c.mastered, { line: { color: c.mastered, width: 1.5, dash: "dot" } }),
      line("without the hint", all.map((one) => one.return_unhinted), c.soft, { line: { color: c.soft, width: 1.5 } }),
      line("regret", regrets, c.accent, interval ? { error_y: interval } : {}),
    ], paint.layout({ showlegend: true, legend: { orientation: "h", y: 1.2, x: 0, font: { color: c.soft } }, margin: { l: 36, r: 12, t: 30, b: 36 }, xaxis: { title: { text: "policy version" }, dtick: x.length < 12 ? 1 : undefined } })];
  });
})();
