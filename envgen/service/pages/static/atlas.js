// The map: points from the API on a canvas, coloured and lit up as the form says. Hovering asks for a card, a
// click opens the environment; wheel and drag move the map, so do the arrow keys, + and -, and n goes from point
// to point. Tens of thousands of points are drawn in one frame: each colour's dot is painted once and copied.
// Only moving the map draws: what is pointed at gets a ring that is an element of its own, and is found in cells.
"use strict";
(() => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const pen = canvas.getContext("2d");
  const over = document.getElementById("over");
  const tip = document.getElementById("tip");
  const ring = document.getElementById("ring");
  const legend = document.getElementById("legend");
  const form = document.querySelector("form.ask");
  const WAIT_MS = 2000, CLOSE_PX = 14, CELL_PX = 24, MOST_ZOOM = 60, EDGE_PX = 28, LEAST_SPAN = 0.5;

  let data = null;          // the columns of /map
  let index = new Map();    // id -> place in the columns
  let colours = [];         // a colour for each point
  let fits = null;          // Uint8Array: which points fit the form; null for all
  let order = [];           // those that fit in reading order, for the key n
  let home = { x: 0, y: 0, wide: 2, high: 2 }; // what the map shows at first: all points
  let view = { x: 0, y: 0, zoom: 1 }; // from the middle of that
  let cells = null;         // screen cell -> points, for hovering; made when it is needed
  let frame = { width: 0, height: 0, scale: 1, radius: 0 }; // of the last drawing: reading it for each point would be slow
  let chosen = -1;
  let asked = false;

  const value = (name) => form.elements[name].value;
  const waiting = (text) => { over.hidden = !text; over.firstElementChild.textContent = text; };
  const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
  const room = (length) => Math.max(1, length - 2 * EDGE_PX);
  const scale = () => { const { width, height } = size(); return Math.min(room(width) / home.wide, room(height) / home.high) * view.zoom; };
  const across = (at) => frame.width / 2 + (data.x[at] - home.x - view.x) * frame.scale;
  const down = (at) => frame.height / 2 - (data.y[at] - home.y - view.y) * frame.scale;

  async function load() {
    const found = await paint.fetched("/map", null);
    if (!found) { waiting("The map could not be read."); return; }
    if (found.id.length && (!data || found.digest !== data.digest || found.id.length !== data.id.length)) {
      data = found;
      home = bounds();
      index = new Map(data.id.map((id, at) => [id, at]));
      recolour();
      choose();
    }
    if (found.state === "drawing") {
      waiting(data ? "" : "Drawing the map. This is done once for each shard …");
      setTimeout(load, WAIT_MS);
    } else if (found.state === "failed") {
      waiting(data ? "" : `The map could not be drawn: ${found.problem}`);
    } else {
      waiting(data ? "" : "No environments to draw yet.");
    }
  }

  // The middle of all points and how far they reach; a few that read alike still have room around them.
  function bounds() {
    const of = (values) => values.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);
    const [left, right] = of(data.x), [low, high] = of(data.y);
    return { x: (left + right) / 2, y: (low + high) / 2, wide: Math.max(LEAST_SPAN, right - left), high: Math.max(LEAST_SPAN, high - low) };
  }

  // Colours

  const ramp = (share) => {
    const stops = paint.ramp();
    const next = Math.max(1, stops.findIndex(([at]) => at >= share));
    const [low, from] = stops[next - 1], [high, to] = stops[next];
    const part = Math.min(1, Math.max(0, (share - low) / (high - low)));
    const mixed = [1, 3, 5].map((at) => {
      const [a, b] = [from, to].map((one) => parseInt(one.slice(at, at + 2), 16));
      return Math.round((a + (b - a) * part) / 8) * 8; // few shades, so few dots to paint
    });
    return `rgb(${mixed.map((one) => Math.min(255, one)).join(" ")})`;
  };
  function recolour() {
    const c = paint.colours(), kinds = paint.kinds(), by = value("by");
    const along = (values, low, high) => values.map((one) => (one === null ? c.unmeasured : ramp((one - low) / (high - low))));
    if (by === "status") {
      colours = data.status.map((at) => c[data.statuses_known[at]]);
      named(data.statuses_known.map((name) => [name, c[name]]));
    } else if (by === "skill") {
      colours = data.skills.map((list) => (list.length ? kinds[list[0] % kinds.length] : c.unmeasured));
      named(data.skills_known.map((name, at) => [name, kinds[at % kinds.length]]));
    } else if (by === "regret") {
      colours = along(data.regret, -0.25, 0.75);
      ramped("regret −0.25 or less", "0.75 or more");
    } else {
      const values = by === "shard" ? data.shard : data.policy_version;
      const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
      colours = along(values, low, Math.max(high, low + 1));
      ramped(`${by === "shard" ? "shard" : "designed by version"} ${low}`, String(high));
    }
    redraw();
  }
  const SVG = "http://www.w3.org/2000/svg";
  function shape(kind, values) {
    const made = document.createElementNS(SVG, kind);
    for (const [name, one] of Object.entries(values)) made.setAttribute(name, one);
    return made;
  }
  function named(pairs) {
    legend.replaceChildren(...pairs.map(([name, colour]) => {
      const item = document.createElement("span");
      const dot = shape("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" });
      dot.append(shape("circle", { cx: 5, cy: 5, r: 5, fill: colour }));
      item.append(dot, name.replaceAll("_", " "));
      return item;
    }));
  }
  function ramped(low, high) {
    const bar = shape("svg", { viewBox: "0 0 140 10", class: "ramp", "aria-hidden": "true" });
    const fill = shape("linearGradient", { id: "shades" });
    for (const [at, colour] of paint.ramp()) fill.append(shape("stop", { offset: at, "stop-color": colour }));
    bar.append(fill, shape("rect", { width: 140, height: 10, rx: 5, fill: "url(#shades)" }));
    legend.replaceChildren(low, bar, high);
  }

  // What fits the form: filters from the columns, words from the list that the server found

  function choose() {
    const skill = data.skills_known.indexOf(value("skill")), status = data.statuses_known.indexOf(value("status"));
    const words = document.getElementById("found").dataset.lit;
    const all = [...data.id.keys()];
    const from = words === undefined ? all : words.split(" ").map((id) => index.get(id)).filter((at) => at !== undefined);
    order = from.filter((at) => (!value("skill") || data.skills[at].includes(skill)) && (!value("status") || data.status[at] === status));
    fits = null;
    if (order.length < all.length) {
      fits = new Uint8Array(all.length);
      for (const at of order) fits[at] = 1;
    }
    redraw();
  }

  // Drawing

  let dots = { key: "", made: new Map() };
  function dot(colour, radius, ratio) {
    const side = Math.ceil(2 * (radius + 1) * ratio);
    const made = document.createElement("canvas");
    made.width = made.height = side;
    const ink = made.getContext("2d");
    ink.fillStyle = colour;
    ink.beginPath();
    ink.arc(side / 2, side / 2, radius * ratio, 0, 2 * Math.PI);
    ink.fill();
    return made;
  }
  function redraw() {
    if (!data || asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; render(); });
  }
  function render() {
    const { width, height } = size(), ratio = window.devicePixelRatio || 1;
    frame = { width, height, scale: scale(), radius: frame.radius };
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const many = data.id.length;
    const radius = Math.min(7, (many > 5000 ? 2.2 : many > 800 ? 3.2 : 5) * Math.sqrt(Math.min(view.zoom, 6)) ** 0.5);
    if (dots.key !== `${radius} ${ratio}`) dots = { key: `${radius} ${ratio}`, made: new Map() };
    cells = null;
    const put = (at) => {
      const x = across(at), y = down(at);
      if (x < -9 || y < -9 || x > width + 9 || y > height + 9) return;
      let image = dots.made.get(colours[at]);
      if (!image) dots.made.set(colours[at], (image = dot(colours[at], radius, ratio)));
      // Whole pixels: a copy that needs no blending between them is several times quicker.
      pen.drawImage(image, Math.round(x * ratio - image.width / 2), Math.round(y * ratio - image.height / 2));
    };
    pen.globalAlpha = 0.12;
    if (fits) for (let at = 0; at < many; at += 1) if (!fits[at]) put(at);
    pen.globalAlpha = 0.86;
    for (let at = 0; at < many; at += 1) if (!fits || fits[at]) put(at);
    frame.radius = radius;
    encircle();
  }
  function encircle() {
    ring.hidden = chosen < 0;
    if (ring.hidden) return;
    ring.style.width = ring.style.height = `${2 * frame.radius + 10}px`;
    ring.style.transform = `translate(${across(chosen)}px, ${down(chosen)}px)`;
  }

  // Pointing

  const cell = (x, y) => Math.floor(x / CELL_PX) * 4096 + Math.floor(y / CELL_PX);
  function sorted() {
    cells = new Map();
    for (let at = 0; at < data.id.length; at += 1) {
      const key = cell(across(at), down(at)), there = cells.get(key);
      if (there) there.push(at); else cells.set(key, [at]);
    }
  }
  function nearest(x, y) {
    if (!cells) sorted();
    let best = -1, least = CLOSE_PX;
    for (const i of [x - CELL_PX, x, x + CELL_PX]) {
      for (const j of [y - CELL_PX, y, y + CELL_PX]) {
        for (const at of cells.get(cell(i, j)) || []) {
          const far = Math.hypot(across(at) - x, down(at) - y) + (fits && !fits[at] ? 6 : 0);
          if (far < least) { best = at; least = far; }
        }
      }
    }
    return best;
  }
  const cards = new Map();
  async function point(at) {
    if (at === chosen) return;
    chosen = at;
    canvas.classList.toggle("on", at >= 0);
    encircle();
    if (at < 0) { tip.hidden = true; return; }
    const id = data.id[at];
    if (!cards.has(id)) {
      if (cards.size > 500) cards.clear();
      cards.set(id, fetch(`/atlas/card/${id}`).then((answer) => (answer.ok ? answer.text() : "")).catch(() => ""));
    }
    const card = await cards.get(id);
    if (chosen !== at || !card) return;
    tip.innerHTML = card; // rendered and escaped by the server
    tip.hidden = false;
    const { width, height } = size(), x = across(at), y = down(at);
    tip.style.left = `${Math.max(8, Math.min(x + 14, width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + tip.offsetHeight + 24 > height ? Math.max(8, y - tip.offsetHeight - 14) : y + 14}px`;
  }
  const open = () => { if (chosen >= 0) location.href = `/environment/${data.id[chosen]}`; };
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

  function zoom(by, x, y) {
    const { width, height } = size(), before = scale();
    view.zoom = Math.min(MOST_ZOOM, Math.max(0.6, view.zoom * by));
    const kept = 1 / before - 1 / scale(); // what lies under the pointer stays there
    view.x += (x - width / 2) * kept;
    view.y -= (y - height / 2) * kept;
    moved();
  }
  function moved() { point(-1); redraw(); }

  const held = new Map();
  let dragged = 0;
  canvas.addEventListener("pointerdown", (event) => { held.set(event.pointerId, place(event)); dragged = 0; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!data) return;
    const now = place(event), before = held.get(event.pointerId);
    if (!before) { point(nearest(...now)); return; }
    const other = [...held].find(([id]) => id !== event.pointerId);
    held.set(event.pointerId, now);
    dragged += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (other) {
      const apart = ([x, y]) => Math.hypot(x - other[1][0], y - other[1][1]) || 1;
      zoom(apart(now) / apart(before), (now[0] + other[1][0]) / 2, (now[1] + other[1][1]) / 2);
    } else if (dragged > 4) {
      view.x -= (now[0] - before[0]) / scale();
      // A finger that goes up or down scrolls the page (`touch-action` in the stylesheet), not the map too.
      if (event.pointerType !== "touch") view.y += (now[1] - before[1]) / scale();
      moved();
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      const there = held.delete(event.pointerId);
      if (!data || !there || name === "pointercancel" || dragged > 4) return;
      const hit = nearest(...place(event));
      // A finger cannot hover: its first tap shows the card, the second opens.
      if (event.pointerType === "mouse" || (hit === chosen && hit >= 0)) { chosen = hit; open(); } else point(hit);
    });
  }
  canvas.addEventListener("pointerleave", () => { if (!held.size && document.activeElement !== canvas) point(-1); });
  canvas.addEventListener("wheel", (event) => {
    if (!data) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), ...place(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!data) return;
    const { width, height } = size(), step = 60 / scale();
    const keys = {
      ArrowLeft: () => { view.x -= step; moved(); }, ArrowRight: () => { view.x += step; moved(); },
      ArrowUp: () => { view.y += step; moved(); }, ArrowDown: () => { view.y -= step; moved(); },
      "+": () => zoom(1.4, width / 2, height / 2), "=": () => zoom(1.4, width / 2, height / 2), "-": () => zoom(1 / 1.4, width / 2, height / 2),
      0: () => { view = { x: 0, y: 0, zoom: 1 }; moved(); },
      n: () => step_to(1), p: () => step_to(-1), Enter: open, Escape: () => point(-1),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  function step_to(by) {
    if (!order.length) return;
    const now = order.indexOf(chosen);
    const at = order[(now + by + order.length) % order.length];
    const { width, height } = size();
    if (across(at) < 0 || down(at) < 0 || across(at) > width || down(at) > height) {
      view.x = data.x[at] - home.x;
      view.y = data.y[at] - home.y;
      render();
    }
    point(at);
  }
  canvas.addEventListener("blur", () => point(-1));

  document.addEventListener("htmx:afterSwap", () => { if (data) choose(); });
  document.addEventListener("theme", () => { if (data) recolour(); });
  form.elements.by.addEventListener("change", () => { if (data) recolour(); });
  new ResizeObserver(redraw).observe(canvas);
  load();
})();
