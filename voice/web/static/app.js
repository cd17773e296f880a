// The frame: views, keys, language, light and dark. Each view is a module of its own.

import * as dialog from "./dialog.js";
import { $, el, icon, kept } from "./dom.js";
import { LANGUAGES, preferred, t, translate } from "./i18n.js";
import { pairs } from "./parts.js";
import { listen } from "./server.js";
import { KEYS, keyName } from "./side.js";
import * as talk from "./views/talk.js";

const VIEWS = ["talk", "notebooks", "changes", "journal", "search", "lessons", "month", "settings"];
const SIGNS = { notebooks: "book" };
const TABS = ["talk", "notebooks", "changes", "search"];

const opened = new Map([["talk", talk]]); // name → the view, once it was opened
let current = "talk";

const singleKeys = () => kept.get("single-keys") !== "off";

// Views -----------------------------------------------------------------------------------

/** "#notebooks?change=1": the view, and what it should show. */
function place() {
  const [name, query] = location.hash.slice(1).split("?");
  return { name: VIEWS.includes(name) ? name : "talk", query: new URLSearchParams(query ?? "") };
}

async function viewOf(name) {
  if (!opened.has(name)) {
    const { default: View } = await import(`./views/${name}.js`);
    // Two quick presses import once, and build once.
    if (!opened.has(name)) {
      const root = el("section", { id: `view-${name}`, class: "view", "data-view": name });
      root.hidden = true;
      $("main").append(root);
      opened.set(name, new View(root, { go, say }));
    }
  }
  return opened.get(name);
}

async function show() {
  const { name, query } = place();
  const view = await viewOf(name);
  if (place().name !== name) return; // another one was asked for meanwhile
  const moved = name !== current;
  current = name;
  document.body.dataset.view = name;
  for (const section of document.querySelectorAll("[data-view].view, #view-talk")) {
    section.hidden = section.dataset.view !== name;
  }
  mark();
  title();
  talk.left(name);
  if (moved) {
    arrive();
    $("main").scrollTop = 0;
    say(t(name));
  }
  view.show(query);
}

/** Keys go to the view from here on. That it is another one is seen: no ring around all of it. */
function arrive() {
  const main = $("main");
  main.classList.add("arrived");
  main.addEventListener("blur", () => main.classList.remove("arrived"), { once: true });
  main.focus({ preventScroll: true });
}

function mark() {
  for (const link of document.querySelectorAll(".nav a, .tabs a")) {
    const here = link.getAttribute("href") === `#${current}`;
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  const more = document.querySelector(".tabs button");
  TABS.includes(current) ? more.removeAttribute("aria-current") : more.setAttribute("aria-current", "page");
}

function title() {
  $("top-title").textContent = t(current);
  talk.name(t(current), current === "talk");
}

function go(name, query = {}) {
  const asked = new URLSearchParams(query).toString();
  const hash = `#${name}${asked ? `?${asked}` : ""}`;
  if (location.hash === hash) show();
  else location.hash = hash;
}

const say = (text) => ($("say").textContent = text);

addEventListener("hashchange", show);

listen((names) => {
  talk.changed(names);
  if (current !== "talk") opened.get(current)?.changed(names);
});

// Language and look -----------------------------------------------------------------------

function speak(to) {
  translate(to);
  document.querySelector(".lang").value = to;
  for (const view of opened.values()) view.draw();
  title();
}

function theme(to = document.documentElement.dataset.theme === "dark" ? "light" : "dark") {
  kept.set("theme", to);
  document.documentElement.dataset.theme = to;
  for (const view of opened.values()) view.repaint?.();
}

addEventListener("jarvis:language", (event) => {
  kept.set("language", event.detail);
  speak(event.detail);
});
addEventListener("jarvis:theme", (event) => theme(event.detail));
document.querySelector(".lang").addEventListener("change", (event) => {
  dispatchEvent(new CustomEvent("jarvis:language", { detail: event.target.value }));
});

// Dialogs ---------------------------------------------------------------------------------

function showKeys() {
  const single = el("input", {
    type: "checkbox", role: "switch", class: "sw", id: "single-keys", checked: singleKeys(), "aria-describedby": "single-hint",
    onchange: (event) => {
      kept.set("single-keys", event.target.checked ? "on" : "off");
      for (const view of opened.values()) view.draw();
    },
  });
  const views = VIEWS.map((name, i) => [t(name), [el("kbd", {}, t("ctrl")), " ", el("kbd", {}, String(i + 1))]]);
  const rest = KEYS.map(([name, key]) => [
    t(name),
    key.split(", ").map((each, i) => [i ? " " : "", el("kbd", {}, keyName(each))]),
  ]);
  dialog.open({
    title: t("keys"),
    body: [
      pairs([...views, ...rest]),
      el("p", { class: "small dim keys-hint" }, t("keys_hint")),
      el("div", { class: "rowf" }, el("div", {}, el("label", { htmlFor: "single-keys" }, t("single_keys")), el("p", { id: "single-hint" }, t("single_hint"))), single),
    ],
  });
}

function showMore() {
  const rest = VIEWS.filter((name) => !TABS.includes(name));
  dialog.open({
    title: t("more"),
    hidden: true,
    body: el(
      "nav",
      { class: "nav more", "aria-label": t("views") },
      rest.map((name) =>
        el("a", { href: `#${name}`, onclick: dialog.close, "aria-current": name === current ? "page" : null }, icon(SIGNS[name] ?? name), el("span", {}, t(name))),
      ),
    ),
  });
}

// Buttons and keys ------------------------------------------------------------------------

const ACTS = {
  start: () => talk.start(),
  hang: talk.hangUp,
  mute: talk.mute,
  stop: talk.stopVoice,
  theme: () => theme(),
  keys: showKeys,
  more: showMore,
  about: talk.showAbout,
};

document.addEventListener("click", (event) => {
  const act = event.target.closest("[data-act]")?.dataset.act;
  if (act) ACTS[act]();
});

$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});

function shown(selector) {
  return [...document.querySelectorAll(`#view-${current} ${selector}`)].filter((each) => each.checkVisibility());
}

/** To the next row of a list, or the one before. */
function step(by) {
  const rows = shown("[data-row]");
  const at = rows.indexOf(document.activeElement.closest?.("[data-row]"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  next?.focus();
  return Boolean(next);
}

const SINGLE = {
  " ": (onControl) => !onControl && current === "talk" && !talk.active() && (talk.start(), true),
  m: () => talk.inCall() && (talk.mute(), true),
  u: () => talk.undoLast(),
  "/": () => {
    const [field] = shown("[data-slash]");
    field ? field.focus() : go("search");
    return true;
  },
  "?": () => (showKeys(), true),
  j: () => step(1),
  k: () => step(-1),
  e: () => opened.get(current).edit?.(),
};

document.addEventListener("keydown", (event) => {
  if (dialog.isOpen()) return;
  if (event.key === "Escape") {
    talk.stopVoice();
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && talk.inCall()) {
    event.preventDefault();
    talk.hangUp();
    return;
  }
  const digit = /^(?:Digit|Numpad)([1-8])$/.exec(event.code)?.[1] ?? /^[1-8]$/.exec(event.key)?.[0];
  const oneOf = event.ctrlKey !== event.altKey && !event.metaKey && !event.shiftKey;
  if (digit && oneOf) {
    event.preventDefault();
    go(VIEWS[digit - 1]);
    return;
  }
  // The browser takes the focus out of a dialog a moment after it closed.
  const target = $("dialog").contains(event.target) ? document.body : event.target;
  const typing = target.closest("input:not([type=checkbox], [type=radio]), select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !singleKeys()) return;
  if (digit) {
    event.preventDefault();
    go(VIEWS[digit - 1]);
    return;
  }
  const act = SINGLE[event.key.toLowerCase()];
  if (act?.(target.closest("button, a, summary, [role=switch], input"))) event.preventDefault();
});

// -----------------------------------------------------------------------------------------

for (const node of document.querySelectorAll("[data-icon]")) node.prepend(icon(node.dataset.icon));
for (const [i, link] of [...document.querySelectorAll(".nav a")].entries()) {
  link.setAttribute("aria-keyshortcuts", `Control+${i + 1} Alt+${i + 1}`);
}
talk.begin({ go, say });
speak(preferred(LANGUAGES.includes(kept.get("language")) ? kept.get("language") : null));
show();
