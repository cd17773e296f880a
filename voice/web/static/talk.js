// The transcript: finished turns in a log, the turns that still go on below it.

import { $, el } from "./dom.js";
import { language, seconds, t } from "./i18n.js";

const SHOWN = 300;
const PX_PER_S = 110;
const NEAR_PX = 80;
const STAGES = [
  ["pause", "s1"],
  ["transcript", "s2"],
  ["notes", "s3"],
  ["first_word", "s4"],
  ["first_sound", "s5"],
];

export function stages(latency) {
  return STAGES.filter(([name]) => name in latency.stages_ms).map(([name, hue]) => ({
    name: t(`s_${name}`),
    hue,
    ms: latency.stages_ms[name],
  }));
}

const clock = (iso) => new Date(iso).toLocaleTimeString(language(), { hour12: false });

function latencyBar(latency) {
  const parts = stages(latency);
  const bar = el("span", { class: "lat", "aria-hidden": "true" });
  for (const { hue, ms } of parts.filter((part) => part.ms > 0)) {
    const part = el("i", { class: hue });
    part.style.width = `${(ms / 1000) * PX_PER_S}px`;
    bar.append(part);
  }
  return el(
    "details",
    { class: "m" },
    el("summary", {}, bar, el("span", { class: "num" }, `${seconds(latency.total_ms)} s`, el("span", { class: "vh" }, ` ${t("latency")}`))),
    el(
      "dl",
      { class: "lat-t" },
      parts.map(({ name, hue, ms }) =>
        el("div", {}, el("dt", {}, el("i", { class: hue }), name), el("dd", {}, `${seconds(ms)} s`)),
      ),
    ),
  );
}

function turnElement(turn, latency) {
  const user = turn.speaker === "user";
  const said = el("p", { class: "said", lang: turn.language && turn.language !== language() ? turn.language : null }, turn.text);
  if (turn.interrupted) said.append(" ", el("span", { class: "cut", lang: language() }, t("cut")));
  const how = ["typed", "pasted"].includes(turn.origin) ? el("small", {}, t(turn.origin)) : null;
  const item = el(
    "li",
    { class: `turn ${user ? "u" : "j"}` },
    el("div", { class: "who" }, user ? t("you") : "Jarvis", el("time", { dateTime: turn.began_at }, clock(turn.began_at)), how),
    el("div", {}, said, latency ? el("div", { class: "meta" }, latencyBar(latency)) : null),
  );
  item.dataset.index = turn.index;
  return item;
}

/** What became of "remember that". The event's reason is the house's own, in English. */
function savedElement(event) {
  const word = event.saved ? t("saved_in", { notebook: event.notebook }) : event.entry ? t("saved_later") : t("not_saved");
  return el(
    "li",
    { class: `saved${event.saved ? "" : " no"}` },
    el("b", {}, word),
    " ",
    event.entry ? el("q", {}, event.entry) : null,
    event.saved ? null : el("span", { lang: "en" }, ` ${event.reason}`),
  );
}

export class Transcript {
  constructor(changed) {
    this.changed = changed;
    this.scroller = $("scroll");
    this.shown = []; // {turn, latency, item}, as they stand in the log
    this.waiting = new Map(); // latencies that came before their turn
    this.latencies = [];
    this.counted = null; // the last answer's tokens, where the engine tells them
    this.live = new Map(); // speaker → element
    this.saved = []; // told before the turn that it belongs to
    this.following = true;
    this.scroller.addEventListener("scroll", () => this.scrolled());
    new ResizeObserver(() => this.follow()).observe(this.scroller);
    $("newest").addEventListener("click", () => {
      this.following = true;
      this.follow();
    });
  }

  get empty() {
    return this.shown.length === 0 && this.live.size === 0;
  }

  /** A new call or chat: indexes begin anew, what is shown stays. */
  begin() {
    this.waiting.clear();
    this.settle();
  }

  receive(event) {
    if (event.type === "turn") this.add(event.turn);
    else if (event.type === "partial") this.partial(event.speaker, event.text);
    else if (event.type === "nothing") this.drop("user");
    else if (event.type === "latency") this.measured(event);
    else if (event.type === "tokens") this.count(event);
    else if (event.type === "remembered") this.remembered(event);
    else return;
    this.follow();
    this.changed();
  }

  add(turn) {
    this.drop(turn.speaker);
    const latency = this.waiting.get(turn.index);
    this.waiting.delete(turn.index);
    const entry = { turn, latency, item: turnElement(turn, latency) };
    // A turn can be finished after one that began later; the log is in the order of speech.
    let place = this.shown.length;
    while (
      place > 0 &&
      this.shown[place - 1].turn.conversation === turn.conversation &&
      this.shown[place - 1].turn.index > turn.index
    ) {
      place -= 1;
    }
    $("turns").insertBefore(entry.item, this.shown[place]?.item ?? null);
    this.shown.splice(place, 0, entry);
    if (turn.speaker === "user") {
      for (const event of this.saved.splice(0)) entry.item.after(savedElement(event));
    }
    while (this.shown.length > SHOWN) {
      this.shown.shift().item.remove();
      $("older").hidden = false;
    }
  }

  partial(speaker, text) {
    if (!text.trim()) return;
    let item = this.live.get(speaker);
    if (!item) {
      const user = speaker === "user";
      item = el(
        "li",
        { class: `turn live ${user ? "u" : "j"}` },
        el("div", { class: "who" }, user ? t("you") : "Jarvis", el("time", {}, t("now"))),
        el("div", {}, el("p", { class: "said" })),
      );
      this.live.set(speaker, item);
      $("now").append(item);
    }
    item.querySelector(".said").textContent = text;
  }

  /** In a call it is told in front of the turn, in a chat behind it. */
  remembered(event) {
    if (this.live.has("user")) this.saved.push(event);
    else $("turns").append(savedElement(event));
  }

  drop(speaker) {
    this.live.get(speaker)?.remove();
    this.live.delete(speaker);
  }

  /** The call is over: nothing goes on any more. */
  settle() {
    for (const speaker of [...this.live.keys()]) this.drop(speaker);
  }

  count(tokens) {
    if (tokens.prompt_tokens && tokens.cached_tokens !== null) this.counted = tokens;
  }

  measured(latency) {
    this.latencies.push(latency);
    if (this.latencies.length > 200) this.latencies.shift();
    const entry = this.shown.findLast(({ turn }) => turn.index === latency.index && turn.speaker === "assistant");
    if (entry && !entry.latency && entry === this.shown.findLast(({ turn }) => turn.speaker === "assistant")) {
      entry.latency = latency;
      this.redraw(entry);
    } else {
      this.waiting.set(latency.index, latency);
    }
  }

  redraw(entry) {
    const item = turnElement(entry.turn, entry.latency);
    entry.item.replaceWith(item);
    entry.item = item;
  }

  translate() {
    this.shown.forEach((entry) => this.redraw(entry));
    for (const [speaker, item] of this.live) {
      item.querySelector("time").textContent = t("now");
      if (speaker === "user") item.querySelector(".who").firstChild.textContent = t("you");
    }
  }

  scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    this.following = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    $("newest").hidden = this.following || this.empty;
  }

  follow() {
    if (this.empty) return;
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    else $("newest").hidden = false;
  }
}
