// The transcript: finished turns in a log, the turns that still go on below it.

import { $, el, icon, redraw } from "./dom.js";
import { clock, count, has, language, seconds, t } from "./i18n.js";
import { button, entryText, says } from "./parts.js";

const SHOWN = 300;
const PX_PER_S = 110;
const BAR_PX = 330; // of an answer that took longer the bar is squeezed
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

function latencyBar(latency) {
  const parts = stages(latency);
  const bar = el("span", { class: "lat", "aria-hidden": "true" });
  const pxPerMs = Math.min(PX_PER_S / 1000, BAR_PX / latency.total_ms);
  for (const { hue, ms } of parts.filter((part) => part.ms > 0)) {
    const part = el("i", { class: hue });
    part.style.width = `${ms * pxPerMs}px`;
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

/** What of the notes an answer rests on. */
function extractsElement(extracts) {
  const lines = ({ first_line: first, last_line: last }) =>
    first === last ? t("line_one", { first }) : t("line_range", { first, last });
  return el(
    "details",
    { class: "m" },
    el("summary", {}, icon("book"), count(extracts.length, "rests_on_one", "rests_on")),
    extracts.map((extract) =>
      el(
        "div",
        { class: "ext" },
        el("span", { class: "mono" }, [`${extract.file}, ${lines(extract)}`, extract.heading].filter(Boolean).join(" · ")),
        extract.text,
      ),
    ),
  );
}

function turnElement({ turn, latency, extracts }) {
  const user = turn.speaker === "user";
  const said = el("p", { class: "said", lang: turn.language && turn.language !== language() ? turn.language : null }, turn.text);
  if (turn.interrupted) said.append(" ", el("span", { class: "cut", lang: language() }, t("cut")));
  const how = ["typed", "pasted"].includes(turn.origin) ? el("small", {}, t(turn.origin)) : null;
  const item = el(
    "li",
    { class: `turn ${user ? "u" : "j"}` },
    el("div", { class: "who" }, user ? t("you") : "Jarvis", el("time", { dateTime: turn.began_at }, clock(turn.began_at, true)), how),
    el(
      "div",
      {},
      said,
      latency || extracts
        ? el("div", { class: "meta" }, extracts ? extractsElement(extracts) : null, latency ? latencyBar(latency) : null)
        : null,
    ),
  );
  item.dataset.index = turn.index;
  return item;
}

/**
 * What became of "remember that" or "forget that": saved or taken out, with undo beside it; kept for
 * later; or refused, and why.
 */
class Card {
  constructor(event, acts) {
    this.event = event;
    this.acts = acts;
    this.change = event.change;
    this.forgot = event.type === "forgotten";
    this.undone = false;
    this.fault = "";
    this.box = el("div", { role: "group" });
    this.item = el("li", { class: "card" }, this.box);
    this.draw();
  }

  draw() {
    const { event } = this;
    const title = this.title();
    const acts = this.wrote && this.change
      ? [
          button(t(this.undone ? (this.forgot ? "take_out" : "put_it_back") : "undo"), () => this.acts.undo(this), { cls: "btn sm", key: this.undone ? null : "U", "data-key": "undo" }),
          this.stands ? button(t("show"), () => this.acts.show(this), { cls: "btn sm ghost" }) : null,
        ]
      : [];
    const kind = this.wrote || event.waits ? "ok" : "no";
    this.box.className = `note ${kind}${this.wrote && !this.stands ? " gone" : ""}`;
    this.box.setAttribute("aria-label", title);
    redraw(
      this.box,
      el("div", { class: "t" }, icon(kind === "ok" ? "mark" : "no"), title, el("span", { class: "acts" }, acts)),
      event.entry ? el("p", { class: "entry" }, el("span", { class: "tx" }, "- ", entryText(event.entry))) : "",
      this.wrote ? "" : this.why(),
      this.fault ? says(this.fault, "p", { class: "fault", role: "alert" }) : "",
    );
  }

  /** Whether a line was written or taken out, and can be had back. */
  get wrote() {
    return this.forgot || this.event.saved;
  }

  /** Whether the line is in the notebook now. */
  get stands() {
    return this.wrote && this.forgot === this.undone;
  }

  title() {
    const { event } = this;
    if (!this.wrote) return t(event.waits ? "saved_later" : "not_saved");
    const key = this.forgot ? (this.undone ? "stands_again" : "forgotten_from") : this.undone ? "taken_out" : "saved_in";
    return t(key, { notebook: event.notebook });
  }

  /** In our words where we have some, else in the rule's own. */
  why() {
    const key = `why_${(this.event.why ?? "").replace(" ", "_")}`;
    return has(key) ? el("p", {}, t(key)) : says(this.event.reason ?? "", "p");
  }

  became(change) {
    this.change = change;
    this.undone = !this.undone;
    this.fault = "";
    this.draw();
  }

  failed(fault) {
    this.fault = fault;
    this.draw();
  }
}

export class Transcript {
  /** `undo` and `show` get the card of something saved. */
  constructor({ changed, undo, show }) {
    this.changed = changed;
    this.acts = { undo, show };
    this.scroller = $("scroll");
    this.shown = []; // {turn, latency, item}, as they stand in the log
    this.waiting = new Map(); // latencies that came before their turn
    this.latencies = [];
    this.counted = null; // the last answer's tokens, where the engine tells them
    this.live = new Map(); // speaker → element
    this.early = []; // cards told before the turn that they belong to
    this.cards = []; // all that are shown
    this.rests = new Map(); // extracts by the index of the answer that rests on them
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
    this.rests.clear();
    this.settle();
  }

  receive(event) {
    if (event.type === "turn") this.add(event.turn);
    else if (event.type === "partial") this.partial(event.speaker, event.text);
    else if (event.type === "nothing") this.drop("user");
    else if (event.type === "latency") this.measured(event);
    else if (event.type === "tokens") this.count(event);
    else if (event.type === "remembered" || event.type === "forgotten") this.written(event);
    else if (event.type === "extracts") this.restsOn(event);
    else return;
    this.follow();
    this.changed();
  }

  add(turn) {
    this.drop(turn.speaker);
    const latency = this.waiting.get(turn.index);
    this.waiting.delete(turn.index);
    const entry = { turn, latency, extracts: turn.speaker === "assistant" ? this.rests.get(turn.index) : undefined };
    this.rests.delete(turn.index);
    entry.item = turnElement(entry);
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
      for (const card of this.early.splice(0).reverse()) entry.item.after(card.item);
    }
    while (this.shown.length > SHOWN) {
      const { item } = this.shown.shift();
      while (item.nextElementSibling?.matches(".card")) item.nextElementSibling.remove();
      item.remove();
      this.cards = this.cards.filter((card) => card.item.isConnected || this.early.includes(card));
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
  written(event) {
    const card = new Card(event, this.acts);
    this.cards.push(card);
    if (this.live.has("user")) this.early.push(card);
    else $("turns").append(card.item);
  }

  /** The newest card whose change can be undone. */
  lastWritten() {
    return this.cards.findLast((card) => card.wrote && card.change && !card.undone);
  }

  /** Told before the answer is heard, or while it is. */
  restsOn({ index, extracts }) {
    if (!extracts.length) return;
    const entry = this.shown.findLast(({ turn }) => turn.speaker === "assistant");
    if (entry?.turn.index === index) {
      entry.extracts = extracts;
      this.redraw(entry);
    } else {
      this.rests.set(index, extracts);
    }
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
    const item = turnElement(entry);
    entry.item.replaceWith(item);
    entry.item = item;
  }

  translate() {
    this.shown.forEach((entry) => this.redraw(entry));
    this.cards.forEach((card) => card.draw());
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
