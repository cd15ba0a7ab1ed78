// The theme switch, the search key, what went wrong, and the token of a service that asks for one.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const button = document.getElementById("theme");

  function told() {
    button.setAttribute("aria-pressed", String(isDark()));
    document.dispatchEvent(new CustomEvent("theme"));
  }
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* for this page only */ }
    told();
  });
  system.addEventListener("change", told);
  told();

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    const search = document.getElementById("q");
    if (event.key === "/" && !typing && search && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });

  const note = document.getElementById("note");
  let hiding;
  function say(text) {
    note.textContent = text;
    note.hidden = false;
    clearTimeout(hiding);
    hiding = setTimeout(() => { note.hidden = true; }, 8000);
  }

  let token = "";
  try { token = sessionStorage.getItem("token") || ""; } catch { /* asked for each time */ }
  document.addEventListener("htmx:configRequest", (event) => {
    if (token && event.detail.verb !== "get") event.detail.headers.Authorization = `Bearer ${token}`;
  });
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr, elt } = event.detail;
    if (xhr.status === 401) {
      const given = prompt("This service asks for its token before anything is changed:");
      if (given) {
        token = given.trim();
        try { sessionStorage.setItem("token", token); } catch { /* for this page only */ }
        say("Thank you. Do it once more.");
      }
      return;
    }
    let detail = xhr.responseText;
    try { detail = JSON.parse(xhr.responseText).detail; } catch { detail = `The service answered ${xhr.status}.`; }
    say(detail);
    elt.removeAttribute("aria-busy");
  });
  document.addEventListener("htmx:sendError", () => say("The service does not answer. Is it still running?"));

  // A play: after an action one sees and hears what was answered, and is back where one acted.
  const FIELDS = "input:not([type=hidden]), select, textarea, button";
  let acted = "";
  document.addEventListener("htmx:beforeRequest", (event) => { acted = event.detail.elt.id; });
  function on() {
    const form = acted && document.getElementById(acted);
    const next = (form && form.querySelector(FIELDS)) || document.querySelector("[data-next]");
    if (next && document.activeElement === document.body) next.focus({ preventScroll: true });
  }
  // A hint that is open stays open over the turns.
  let shown = false;
  document.addEventListener("htmx:beforeSwap", () => { shown = Boolean(document.querySelector("#hint[open]")); });
  document.addEventListener("htmx:afterSwap", () => {
    const hint = document.getElementById("hint");
    if (hint && shown) hint.open = true;
    const talk = [...document.querySelectorAll("[data-follow] > li")];
    if (!talk.length) return;
    talk.at(-1).scrollIntoView({ block: "nearest" });
    const mine = talk.findLastIndex((one) => one.classList.contains("assistant"));
    document.getElementById("heard").textContent = talk.slice(mine + 1).map((one) => one.lastChild.textContent).join("\n");
    on();
  });
  if (document.querySelector("[data-follow]")) on();
})();
