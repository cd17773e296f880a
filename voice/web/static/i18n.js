// The page's language: words from the table, numbers and times as the language writes them.

import { SENTENCES } from "./sentences/all.js";
import { WORDS } from "./words.js";

export const LANGUAGES = ["en", "de", "es"];

let current = "en";
let locale = "en"; // the language as it is written where the user lives

export const language = () => current;

/** The first of the browser's languages that the page has, or the one chosen before. */
export function preferred(chosen) {
  const wanted = [chosen, ...navigator.languages].filter(Boolean);
  return wanted.map((tag) => tag.slice(0, 2)).find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

export const has = (key) => key in WORDS;

export function t(key, values = {}) {
  if (!has(key)) throw new Error(`no word for ${key}`);
  return WORDS[key][LANGUAGES.indexOf(current)].replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : value;
  });
}

// What the house says -----------------------------------------------------------------------

const SENTENCE_END = /(?<=[.!?])[^\S\n]+(?=[\p{Lu}`“])|\s*(?=\n)/u;
const ENDS = /[.!?]$/; // a phrase is no sentence
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const pattern = (english) => new RegExp(`^${english.split("{}").map(escaped).join("(.+?)")}$`, "su");
const rows = SENTENCES.map((row) => ({ row, english: pattern(row[0]), ends: ENDS.test(row[0]), own: row[0].replaceAll("{}", "").length })).sort(
  (a, b) => b.own - a.own, // what says most by itself fits best
);

const NUMBER = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?(?=$| )|^\d+\.\d+(?=$| [kMG]i?B$)/;

/** A number that the house wrote the English way, as the page's language writes it. */
const localNumber = (value) =>
  /^\d+%$/.test(value) ? percent(parseInt(value, 10) / 100) : value.replace(NUMBER, (written) => number(Number(written.replaceAll(",", "")), written.split(".")[1]?.length ?? 0));

function filled(row, values) {
  return row[LANGUAGES.indexOf(current)].replace(/\{(say|-)?\}/g, (_, how) => {
    const value = localNumber(values.shift());
    if (how === "-") return "";
    return how === "say" ? (translated(value) ?? translated(`${value}.`)?.replace(/\.$/, "") ?? value) : value;
  });
}

function asItStands(text) {
  const ends = ENDS.test(text);
  for (const { row, english, ends: same } of rows) {
    const found = same === ends && english.exec(text);
    if (found) return filled(row, found.slice(1));
  }
  return null;
}

/** A sentence or phrase of the house in the page's language, or null where there is no row for it. */
function translated(text) {
  const whole = asItStands(text);
  if (whole !== null || !text.endsWith(".")) return whole;
  const phrase = text.slice(0, -1); // a phrase of the code that became a sentence
  const own = asItStands(phrase) ?? asItStands(phrase[0].toLowerCase() + phrase.slice(1));
  return own && `${own[0].toUpperCase()}${own.slice(1)}.`;
}

/**
 * What the house says, sentence by sentence, all in the page's language or all in English (`lang`). A
 * sentence that begins a line begins with the line's end.
 */
export function houseText(text) {
  const sentences = text.trim().split(SENTENCE_END);
  if (current === "en") return { sentences, lang: null };
  const own = sentences.map((each) => {
    const line = each.startsWith("\n") ? "\n" : "";
    const bare = each.slice(line.length).trimEnd(); // what is set in is known by it
    const said = translated(bare) ?? (/\s/.test(bare.trim()) ? null : bare); // a name or a number is no English
    return said === null ? null : line + said;
  });
  if (!own.includes(null)) return { sentences: own, lang: null };
  const whole = translated(text.trim()); // a name or a quote in it may end as a sentence does
  return whole === null ? { sentences, lang: "en" } : { sentences: [whole], lang: null };
}

/** The same as one text. */
export function houseWords(text) {
  const { sentences, lang } = houseText(text);
  return { text: sentences.join(" "), lang };
}

/** "1 entry", "3 entries": the words for one and for several, with the number in them. */
export const count = (n, one, several) => t(n === 1 ? one : several, { n });

export const number = (value, digits = 0) =>
  value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const percent = (share) => share.toLocaleString(locale, { style: "percent", maximumFractionDigits: 0 });

/** A sum that is small: "$0.012", "0,012 $". */
export const dollars = (value) => {
  const digits = value < 1 ? 3 : 2;
  return value.toLocaleString(locale, {
    style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", minimumFractionDigits: digits, maximumFractionDigits: digits,
  });
};

/** "45 sec", "30 min", "2 hr": a length of time in whole units. */
export function span(seconds) {
  const [unit, one] = seconds < 120 ? ["second", 1] : seconds < 7200 ? ["minute", 60] : ["hour", 3600];
  return Math.round(seconds / one).toLocaleString(locale, { style: "unit", unit, unitDisplay: "short" });
}

/** From ten thousand on in short: "12K", "12 mil". */
export const short = (value) =>
  value < 10_000 ? number(value) : value.toLocaleString(locale, { notation: "compact", maximumFractionDigits: 0 });

export const seconds = (ms) =>
  (ms / 1000).toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Put the words of a language into the document as it stands. */
export function translate(to) {
  current = to;
  locale = navigator.languages.find((tag) => tag.slice(0, 2) === to) ?? to;
  document.documentElement.lang = to;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t(node.dataset.label));
    if (node.matches("button")) node.title = t(node.dataset.label);
  }
  for (const node of document.querySelectorAll("[data-placeholder]")) {
    node.placeholder = t(node.dataset.placeholder);
  }
}

// Times -----------------------------------------------------------------------------------

const MIDNIGHT = { hour: 0, minute: 0, second: 0, millisecond: 0 };

function daysAgo(date) {
  const start = (at) => new Date(at).setHours(...Object.values(MIDNIGHT));
  return Math.round((start(Date.now()) - start(date)) / 86_400_000);
}

export const clock = (iso, seconds = false) =>
  new Date(iso).toLocaleTimeString(locale, {
    hour: halfDays() ? "numeric" : "2-digit", minute: "2-digit", ...(seconds && !halfDays() ? { second: "2-digit" } : {}),
  });

/** Whether a day is told in twice twelve hours where the user lives; seconds have no room beside "PM". */
function halfDays() {
  return new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hour12;
}

/** "Today", "Yesterday", else the weekday; and the date in full. */
export function day(iso) {
  const date = new Date(iso);
  const ago = daysAgo(date);
  const full = date.toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
  return { short: ago === 0 ? t("today") : ago === 1 ? t("yesterday") : "", full };
}

/** "today, 09:12", "3 Nov, 18:20", "3 Nov 2025". */
export function when(iso) {
  const date = new Date(iso);
  const ago = daysAgo(date);
  if (ago === 0) return `${t("today_small")}, ${clock(iso)}`;
  if (ago === 1) return `${t("yesterday_small")}, ${clock(iso)}`;
  const thisYear = date.getFullYear() === new Date().getFullYear();
  const written = date.toLocaleDateString(locale, {
    day: "numeric", month: "short", ...(thisYear ? {} : { year: "numeric" }),
  });
  return thisYear ? `${written}, ${clock(iso)}` : written;
}

export const shortDate = (date, withYear = false) =>
  date.toLocaleDateString(locale, { day: "numeric", month: "short", ...(withYear ? { year: "numeric" } : {}) });

export const weekday = (date) => date.toLocaleDateString(locale, { weekday: "short" });

export const monthName = (year, month) =>
  new Date(year, month - 1, 15).toLocaleDateString(locale, { month: "long", year: "numeric" });
