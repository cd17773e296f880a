// Elements and icons. Text only ever goes into text nodes.

const ICONS = {
  talk: '<path d="M9 2.5a2.5 2.5 0 0 1 2.5 2.5v4a2.5 2.5 0 0 1-5 0V5A2.5 2.5 0 0 1 9 2.5zM4 8.5a5 5 0 0 0 10 0M9 13.5v2.5"/>',
  mute: '<path d="M9 2.5A2.5 2.5 0 0 1 11.500 5v4a2.500 2.500 0 0 1-5 0V5A2.500 2.500 0 0 1 9 2.500zM4 8.500a5 5 0 0 0 10 0M9 13.500V16M3 3l12 12"/>',
  hang: '<path d="M3 11.500c-.5-1 0-2.300 1-3 3-2 7-2 10 0 1 .7 1.500 2 1 3l-2.800-.4-.5-1.900c-1.700-.5-3.700-.5-5.400 0l-.5 1.900z"/>',
  stop: '<rect x="5" y="5" width="8" height="8" rx="1"/>',
  warn: '<path d="M9 3 16 15H2zM9 7.500v3.500M9 13.200v.1"/>',
  info: '<circle cx="9" cy="9" r="6.500"/><path d="M9 8.500V12M9 6v.1"/>',
  sun: '<circle cx="9" cy="9" r="3"/><path d="M9 2v1.500M9 14.500V16M2 9h1.500M14.500 9H16M4 4l1 1M13 13l1 1M14 4l-1 1M5 13l-1 1"/>',
  send: '<path d="M3 9h11M10 5l4 4-4 4"/>',
  book: '<path d="M4 3h8.5A1.5 1.5 0 0 1 14 4.5V15H5.2A1.2 1.2 0 0 1 4 13.8zM4 13.6A1.4 1.4 0 0 1 5.4 12.2H14M7 6h4"/>',
  changes: '<path d="M3 6h9M9.5 3.5 12 6 9.500 8.500M15 12H6M8.5 9.500 6 12l2.500 2.500"/>',
  journal: '<path d="M3.500 4.500h11v10h-11zM3.500 7.500h11M6.500 3v3M11.500 3v3M6.500 10.500h5"/>',
  search: '<circle cx="8" cy="8" r="4.500"/><path d="m11.500 11.500 3.500 3.500"/>',
  lessons: '<path d="M3 3v12h12"/><path d="M5 5c1.500 5 4 7 9 7.500"/>',
  month: '<path d="M3 15h12M5 12.500V9M9 12.500V4M13 12.500V7"/>',
  settings: '<path d="M3 5.500h7M14 5.500h1M3 12.500h1M8 12.500h7"/><circle cx="12" cy="5.500" r="1.800"/><circle cx="6" cy="12.500" r="1.800"/>',
  more: '<circle cx="4" cy="9" r=".8"/><circle cx="9" cy="9" r=".8"/><circle cx="14" cy="9" r=".8"/>',
  ok: '<path d="m4 9.500 3.500 3.500L14.500 5.500"/>',
  no: '<circle cx="9" cy="9" r="6"/><path d="m4.800 4.800 8.400 8.400"/>',
  mark: '<path d="m5 11 6.500-6.500 2.500 2.500L7.500 13.500H5zM3 16h12"/>',
  down: '<path d="M9 3v11M5 10l4 4 4-4"/>',
};

// A shape for each state: a hue is never the only sign.
const GLYPHS = {
  idle: '<circle cx="9" cy="9" r="5.500"/>',
  preparing: '<circle cx="9" cy="9" r="5.500" stroke-dasharray="3 3.200"/>',
  connecting: '<circle cx="9" cy="9" r="5.500" stroke-dasharray="3 3.200"/>',
  listening: '<circle cx="9" cy="9" r="5.500"/><circle cx="9" cy="9" r="2" fill="currentColor"/>',
  hearing: '<circle cx="9" cy="9" r="6.500" fill="currentColor"/>',
  thinking: '<g fill="currentColor"><circle cx="3.500" cy="9" r="1.300"/><circle cx="9" cy="9" r="1.300"/><circle cx="14.500" cy="9" r="1.300"/></g>',
  speaking: '<path d="M3 7v4M6.500 4v10M10 6v6M13.500 3v12" stroke-width="2"/>',
  lowered: '<path d="M3 8v2M6 7v4" stroke-width="2"/><circle cx="12.500" cy="9" r="3.500"/>',
  reconnecting: '<path d="M3 9h3.500M11.500 9H15M8 6l2 6"/>',
  muted: '<circle cx="9" cy="9" r="5.500"/><path d="m4 14 10-10"/>',
};

export const $ = (id) => document.getElementById(id);

function svg(className, paths) {
  const holder = document.createElement("template");
  holder.innerHTML = `<svg class="${className}" viewBox="0 0 18 18" aria-hidden="true">${paths}</svg>`;
  return holder.content.firstChild;
}

export const icon = (name) => svg("i", ICONS[name]);
export const glyph = (state) => svg(`gl ${state}`, GLYPHS[state]);

/** An element with properties (`class`, `data-…`, `aria-…` or a DOM property) and children. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.includes("-") || ["role", "lang", "tabindex"].includes(name)) {
      element.setAttribute(name, value);
    } else element[name] = value;
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// What a person reaches by Tab, and what it goes by when it was drawn anew.
const REACHED = "button, a[href], input, select, textarea, summary, [tabindex]";
const nameOf = (it) => `${it.tagName} ${it.dataset.key || it.id || it.getAttribute("aria-label") || it.textContent}`;
const named = (root, selector, name) => [...root.querySelectorAll(selector)].find((each) => nameOf(each) === name);

/**
 * Show these in `root` instead of what is there. Who works by keys stays where they were: on the same
 * control, else in the row that took its place, else at the title. What was opened stays open.
 */
export function redraw(root, ...children) {
  const at = root.contains(document.activeElement) ? document.activeElement : null;
  const before = at && { name: nameOf(at), caret: at.selectionStart ?? null, end: at.selectionEnd, top: at.scrollTop, row: rowOf(root, at) };
  const open = [...root.querySelectorAll("details[open] > summary")].map(nameOf);
  root.replaceChildren(...children);
  for (const name of open) {
    const summary = named(root, "details > summary", name);
    if (summary) summary.parentElement.open = true;
  }
  if (!before) return;
  const rows = [...root.querySelectorAll("[data-row]")];
  const to = at.isConnected ? at : (named(root, REACHED, before.name) ?? (before.row === null ? null : rows[Math.min(before.row, rows.length - 1)]) ?? root.querySelector("h1"));
  to?.focus({ preventScroll: to.tagName === at.tagName });
  if (before.caret !== null && to?.setSelectionRange) to.setSelectionRange(before.caret, before.end);
  if (to) to.scrollTop = before.top;
}

/** Which row it is in, or comes after; null above the first. */
function rowOf(root, it) {
  const rows = [...root.querySelectorAll("[data-row]")];
  const own = rows.findIndex((row) => row.contains(it));
  if (own >= 0) return own;
  return rows.filter((row) => row.compareDocumentPosition(it) & Node.DOCUMENT_POSITION_FOLLOWING).length || null;
}

/** HTML that the server rendered and cleaned: markup without scripts, links or pictures. */
export function rendered(html) {
  const holder = el("div", { class: "md" });
  holder.innerHTML = html;
  return holder;
}

/** A sentence whose `commands` are set as such. */
export const prose = (text) =>
  text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));

/** Settings of this page, in the browser; without storage they last as long as the page. */
const session = new Map();
export const kept = {
  get(name) {
    try {
      return localStorage.getItem(name) ?? session.get(name) ?? null;
    } catch {
      return session.get(name) ?? null;
    }
  },
  set(name, value) {
    session.set(name, value);
    try {
      localStorage.setItem(name, value);
    } catch {
      // forbidden: the session's copy serves
    }
  },
};
