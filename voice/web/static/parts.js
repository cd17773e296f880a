// What the views are made of.

import { el, icon, prose } from "./dom.js";
import { clock, houseText, houseWords, number, t, when } from "./i18n.js";

export const head = (title, lead, ...actions) =>
  el(
    "div",
    { class: "vhead" },
    el("div", {}, el("h1", { tabindex: "-1" }, title), lead ? el("p", {}, lead) : null),
    actions.length ? el("div", { class: "acts" }, actions) : null,
  );

export const button = (text, act, { cls = "btn", label = null, key = null, sign = null, ...rest } = {}) =>
  el(
    "button",
    { class: cls, type: "button", onclick: act, "aria-label": label, ...rest },
    sign ? icon(sign) : null,
    text,
    key ? el("kbd", { class: "single hide-n", "aria-hidden": "true" }, key) : null,
  );

export const tag = (text, hue = "") => el("span", { class: `tag ${hue}` }, text);

export const quote = (text) => el("mark", {}, text);

export const time = (iso, text = when(iso)) => el("time", { dateTime: iso }, text);

/** Real dates never break in two. */
export const entryText = (text) =>
  text
    .split(/(\((?:every )?[\d-]*\d\d-\d\d\)\.?)/)
    .map((part, i) => (i % 2 ? el("span", { class: "nb2" }, part) : part));

/** A choice of one among a few, each with a count where there is one: [key, text, count]. */
export const choice = (label, options, chosen, choose) =>
  el(
    "div",
    { class: "seg", role: "group", "aria-label": label },
    options.map(([key, text, n]) =>
      el(
        "button",
        { type: "button", "aria-pressed": String(key === chosen), "data-key": `${label} ${key}`, onclick: () => choose(key) },
        text,
        n === undefined ? null : el("span", { class: "n num" }, number(n)),
      ),
    ),
  );

export const pairs = (rows) =>
  el(
    "dl",
    { class: "kv" },
    rows
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value, lang]) => [el("dt", {}, name), el("dd", { lang }, value)]),
  );

/** What the house says, in the page's language where there are words for it. */
export function says(text, tag = "span", properties = {}) {
  const { text: own, lang } = houseWords(text);
  return el(tag, { ...properties, lang }, prose(own));
}

/** What happened (bold), what it means, what to do. */
export function message({ title, text = "", kind = "stop", actions = [], lang = null }) {
  return el(
    "div",
    { class: kind === "stop" ? "err" : "err info", role: kind === "stop" ? "alert" : "status", lang },
    icon(kind === "stop" ? "warn" : "info"),
    el("b", {}, prose(title)),
    text ? el("p", {}, typeof text === "string" ? prose(text) : text) : null,
    actions.length
      ? el("div", { class: "acts" }, actions.map(([label, act], i) => button(t(label), act, { cls: i ? "btn" : "btn pri" })))
      : null,
  );
}

/** Sentences of the house as a message: the first is what happened. */
export function told(text, rest = {}) {
  const { sentences, lang } = houseText(text);
  return message({ title: sentences[0], text: sentences.slice(1).join(" "), lang, ...rest });
}

/** A fault of the server's as a message: our words where we have some, else its own. */
export function problem(fault, ...actions) {
  if (fault.kind === "server") return message({ title: t("e_server"), text: t("e_server_p"), actions });
  return told(fault.detail || String(fault.message ?? fault), { actions });
}

export const stars = (n) =>
  el(
    "span",
    { class: "stars", role: "img", "aria-label": t("stars", { n }) },
    "★".repeat(n),
    el("s", {}, "★".repeat(5 - n)),
  );

/** A command to be copied. */
export function command(text) {
  const copy = button(t("copy"), async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = t("copied");
  }, { cls: "btn sm", label: `${t("copy")}: ${text}` });
  return el("div", { class: "cmd" }, el("span", {}, text), copy);
}

export const onOff = (id, on, act, describedBy = null) =>
  el("input", {
    type: "checkbox", role: "switch", class: "sw", id, checked: on, "aria-describedby": describedBy,
    onchange: (event) => act(event.target.checked, event.target),
  });

export const meter = (label, now, most) =>
  el("div", { class: "gbar", role: "meter", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": String(most), "aria-valuenow": String(now) });

export const empty = (text) => el("p", { class: "small sub empty" }, text);

/**
 * A conversation's name, in words where it has its usual form: "call-20261202-091200". Beside a
 * time of the same day its own is enough.
 */
export function conversationName(id, beside = null) {
  const found = /^(call|chat)-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(id ?? "");
  if (!found) return id;
  const [, kind, y, mo, d, h, mi, s] = found;
  const iso = `${y}-${mo}-${d}T${h}:${mi}:${s}`;
  const sameDay = beside && new Date(beside).toDateString() === new Date(iso).toDateString();
  return t(kind === "call" ? "the_call_at" : "the_chat_at", { when: sameDay ? clock(iso) : when(iso) });
}

/** Groups rows by their day, in the order in which they come. */
export function byDay(rows, at) {
  const days = new Map();
  for (const row of rows) {
    const key = new Date(at(row)).toDateString();
    days.set(key, [...(days.get(key) ?? []), row]);
  }
  return [...days.values()];
}

export const hourOf = (iso) => time(iso, clock(iso));
