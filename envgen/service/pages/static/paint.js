// What all charts share: colours from the stylesheet, quiet axes, and drawing again when the theme changes.
"use strict";
const paint = (() => {
  const NAMES = ["paper", "card", "sunk", "ink", "soft", "line", "accent", "frontier", "mastered", "hopeless", "hint_only", "unmeasured"];
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  };
  const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark";
  const KINDS = {
    light: ["#1f8a5b", "#3f6fd1", "#c2571f", "#8a4fb5", "#b08400", "#c33f6c", "#2a8ea3", "#6b7a1e", "#7a5c48", "#5558c8", "#d07a4a", "#4f9e83", "#a04a95", "#8a8f3f", "#5d7f9e"],
    dark: ["#5cc795", "#86a9f2", "#f0935e", "#c194ea", "#dcb040", "#ee83a6", "#68c3d6", "#b3c45a", "#c4a18a", "#a3a5f5", "#e9b28e", "#92d4bd", "#dc97d2", "#cdd28a", "#9dbcd8"],
  };
  const kinds = () => KINDS[isDark() ? "dark" : "light"];
  const ramp = () => isDark()
    ? [[0, "#55585a"], [0.34, "#7f7f6a"], [0.6, "#c9a545"], [1, "#ffe08a"]]
    : [[0, "#b8b2a2"], [0.34, "#98a78f"], [0.6, "#3f8f6b"], [1, "#0c4a30"]];

  const layout = (more = {}) => {
    const c = colours();
    const axis = { gridcolor: c.line, zerolinecolor: c.line, linecolor: c.line, tickfont: { color: c.soft, size: 12 }, fixedrange: true, automargin: true, ticks: "outside", ticklen: 5, tickcolor: "rgba(0,0,0,0)", title: { font: { color: c.soft, size: 12 } } };
    const of = (own) => ({ ...axis, ...own, title: { ...axis.title, ...own.title } });
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", color: c.ink, size: 13 },
      margin: { l: 40, r: 12, t: 8, b: 36 }, showlegend: false, hovermode: "closest",
      hoverlabel: { bgcolor: c.card, bordercolor: c.line, font: { color: c.ink } },
      ...more,
      xaxis: of({ showgrid: false, ...more.xaxis }), yaxis: of(more.yaxis ?? {}),
    };
  };
  const config = { displayModeBar: false, responsive: true, showTips: false };

  // Plotly comes when it comes; nothing else of a page waits for it.
  const script = document.getElementById("plotly");
  const here = !script || window.Plotly ? Promise.resolve() : new Promise((done) => { script.addEventListener("load", done); });

  // Draws now and whenever the theme changes; `figure` gives [traces, layout]. Returns what draws again.
  async function draw(node, figure) {
    await here;
    const again = () => Plotly.react(node, ...figure(), config);
    again();
    document.addEventListener("theme", again);
    // Plotly itself follows the window only, not a grid that moves its cards.
    let wide = node.clientWidth;
    new ResizeObserver(() => {
      if (node.clientWidth && node.clientWidth !== wide) { wide = node.clientWidth; Plotly.Plots.resize(node); }
    }).observe(node);
    return again;
  }
  // JSON from the API; a failure says so in the place of the chart.
  async function fetched(address, node) {
    try {
      const answer = await fetch(address, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      return await answer.json();
    } catch {
      if (node) node.textContent = "The figures could not be read.";
      return null;
    }
  }
  return { colours, kinds, ramp, layout, config, draw, fetched, isDark };
})();
