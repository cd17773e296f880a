// Beside the conversation: the first minute, this call, what answers, how fast, the keys;
// and the three columns of the first visit.

import { drawn } from "./charts.js";
import { el, prose } from "./dom.js";
import { clock, count, houseWords, percent, seconds, t } from "./i18n.js";
import { pairs } from "./parts.js";
import { stages } from "./transcript.js";

const section = (title, ...children) => el("section", {}, el("h2", {}, title), ...children);

export const KEYS = [
  ["k_start", "space"],
  ["k_mute", "M"],
  ["k_stop", "Esc"],
  ["k_hang", "ctrl Enter"],
  ["k_undo", "U"],
  ["k_type", "/"],
  ["k_rows", "J, K"],
  ["k_edit", "E"],
  ["k_all", "?"],
];

/** A key as it is written on a keyboard of the page's language. */
export const keyName = (key) => key.split(" ").map((each) => (["space", "ctrl"].includes(each) ? t(each) : each)).join(" ");

export const keys = () =>
  el(
    "dl",
    { class: "kv" },
    KEYS.filter(([name]) => !["k_rows", "k_edit"].includes(name)).map(([name, key]) => [el("dt", {}, t(name)), el("dd", {}, el("kbd", {}, keyName(key)))]),
  );

function steps(done) {
  const next = done.indexOf(false);
  return section(
    t("first_minute"),
    el(
      "ol",
      { class: "steps" },
      done.map((ticked, i) =>
        el("li", { class: ticked ? "done" : null, "aria-current": i === next ? "step" : null }, el("span", {}, t(`step${i + 1}`))),
      ),
    ),
  );
}

const OF_ENGINE = [["hears", "hears"], ["thinks", "thinks"], ["speaks", "speaks"], ["costs", "costs"], ["words_go", "words_go_to"]];

function engine({ engine: it }) {
  const rows = OF_ENGINE.map(([key, field]) => {
    const { text, lang } = houseWords(it[field]);
    return [t(key), text, lang];
  });
  return section(t("engine"), pairs([[t("name"), houseWords(it.name).text], ...rows]));
}

function call({ beganAt, turns, given, running, saved, refused }) {
  const minutes = Math.floor((Date.now() - beganAt) / 60000);
  const at = clock(beganAt);
  return section(
    t(running ? "this_call" : "last_call"),
    pairs([
      [t("began"), `${at}, ${minutes ? t("ago", { n: minutes }) : t("just_now")}`],
      [t("turns"), String(turns)],
      [t("saved_count"), saved ? String(saved) : ""],
      [t("refused_count"), refused ? String(refused) : ""],
      [t("given"), given ? t("given_turns", { n: given }) : ""],
    ]),
  );
}

function fast(latencies) {
  const last = latencies.slice(-6);
  const totals = latencies.map((latency) => latency.total_ms).sort((a, b) => a - b);
  const top = Math.max(1500, ...last.map((latency) => latency.total_ms));
  const height = (ms) => (ms / top) * 60;
  const chart = drawn("svg", {
    class: "spark",
    viewBox: "0 0 244 60",
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": t("fast_label", { n: last.length }),
  });
  const second = 60 - height(1000);
  chart.append(drawn("line", { x1: 0, x2: 244, y1: second, y2: second }));
  last.forEach((latency, i) => {
    let y = 60;
    for (const { hue, ms } of stages(latency)) {
      y -= height(ms);
      chart.append(drawn("rect", { class: hue, x: i * 37, y, width: 26, height: Math.max(0, height(ms) - 0.7) }));
    }
  });
  const label = drawn("text", { x: 244, y: Math.max(10, second - 4), "text-anchor": "end" }, "1 s");
  chart.append(label);
  return section(
    t("fast"),
    chart,
    el("p", { class: "small sub" }, t("fast_line", { half: seconds(totals[Math.floor(totals.length / 2)]), slow: seconds(totals.at(-1)) })),
  );
}

const amount = (book) => (!book ? t("not_there") : count(book.entries, "entry", "entries"));

function along({ notebooks }, counted) {
  const share = counted ? percent(counted.cached_tokens / counted.prompt_tokens) : "";
  return section(
    t("along"),
    pairs([["USER.md", amount(notebooks["USER.md"])], ["MEMORY.md", amount(notebooks["MEMORY.md"])], [t("cached"), share]]),
  );
}

/** The sections that fit the moment. */
export function sections({ status, minute, about, latencies, counted }) {
  return [
    minute ? steps(minute) : null,
    about ? call(about) : null,
    status?.engine && (about || !minute) ? engine(status) : null,
    latencies.length ? fast(latencies) : null,
    status && (about || !minute) ? along(status, counted) : null,
    about ? null : section(t("keys"), keys()),
  ].filter(Boolean);
}

const sentence = (text) => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
};

/** A paragraph of the house's own words. */
function said(words, properties = {}, form = (text) => text) {
  const { text, lang } = houseWords(words);
  return el("p", { lang, ...properties }, prose(form(text)));
}

/** The first visit's three columns: what answers, where words go, where the files are. */
export function facts({ engine: it, vault }) {
  return {
    engine: it === null ? [el("p", { class: "dim" }, t("looking"))] : [
      said(it.thinks, {}, (thinks) => sentence(`${houseWords(it.name).text}: ${thinks}`)),
      it.warning ? said(it.warning, { class: "warning" }) : null,
      it.better ? said(it.better, { class: "better" }) : null,
    ].filter(Boolean),
    words: it === null ? [el("p", { class: "dim" }, t("looking"))] : [
      said(it.words_go_to, {}, sentence),
      it.costs ? el("p", {}, t("costs_line", { costs: houseWords(it.costs).text.replace(/\.$/, "") })) : null,
    ].filter(Boolean),
    files: [
      el("p", { class: "mono" }, `${vault.replace(/\/+$/, "")}/society/jarvis/`),
      el("p", {}, t("files_line")),
    ],
  };
}
