// Search over notes and journal, each hit in its context, and what of them a call would take along.

import { el, redraw } from "../dom.js";
import { count, number, t } from "../i18n.js";
import { choice, empty, head, problem, tag } from "../parts.js";
import { fetched } from "../server.js";

const TYPING_MS = 250;
const PLACES = ["all", "notes", "journal"];

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** A piece as it reads: without marks of emphasis, lines of tags and empty lines. */
const readable = (text) =>
  text
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/gu, "$2")
    .replace(/^\s*(?:#[\p{L}\p{N}_/-]+\s*)+$/gmu, "")
    .replace(/\n{2,}/g, "\n")
    .trim();

/** The text with the words that were found. A word's beginning is enough: "service" in "services". */
function marked(text, words) {
  const wanted = words.map(fold).filter((word) => word.length > 1);
  return text.split(/([\p{L}\p{N}]+)/u).map((part, i) => {
    const plain = fold(part);
    const hit = i % 2 && wanted.some((word) => plain.startsWith(word) || (plain.length > 3 && word.startsWith(plain)));
    return hit ? el("em", {}, part) : part;
  });
}

export default class Search {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, words: "", where: "all", found: null, chosen: 0, note: null, fault: null, asked: 0 });
  }

  async show(query) {
    if (query.get("words") !== null) this.words = query.get("words");
    this.draw();
    if (this.words) await this.load();
    else this.field.focus();
  }

  async changed(names) {
    if (names.includes("journal") && this.words) await this.load();
  }

  async load() {
    const number = ++this.asked;
    if (!this.found) this.place.replaceChildren(empty(t("looking")));
    try {
      const found = this.words.trim() ? await fetched(`/api/search?${new URLSearchParams({ words: this.words, where: this.where })}`) : null;
      if (number !== this.asked) return; // more was typed meanwhile
      Object.assign(this, { found, chosen: 0, note: null, fault: null });
      if (found?.hits.length) await this.context(0);
    } catch (fault) {
      this.fault = fault;
    }
    this.results();
  }

  async context(at) {
    const hit = this.found.hits[at];
    this.chosen = at;
    try {
      this.note = await fetched(`/api/note?${new URLSearchParams({ file: hit.file, line: hit.lines[0] })}`);
    } catch {
      this.note = null; // the file went since: its hit goes with the next search
    }
  }

  async choose(at) {
    await this.context(at);
    this.results();
  }

  draw() {
    this.field = el("input", {
      class: "field", id: "search-words", type: "search", value: this.words, maxLength: 500, autocomplete: "off", "data-slash": "",
      oninput: (event) => {
        this.words = event.target.value;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.load(), TYPING_MS);
      },
    });
    this.place = el("div", {});
    this.scope = el("div", {}, this.places());
    redraw(
      this.root,
      head(t("search"), t("search_lead")),
      el(
        "form",
        { class: "bar", role: "search", onsubmit: (event) => (event.preventDefault(), this.load()) },
        el("label", { class: "vh", htmlFor: "search-words" }, t("search_label")),
        this.field,
        this.scope,
      ),
      this.place,
    );
    this.results();
  }

  places() {
    return choice(t("where"), PLACES.map((place) => [place, t(`where_${place}`)]), this.where, (place) => {
      this.where = place;
      redraw(this.scope, this.places());
      this.load();
    });
  }

  results() {
    const { found, fault } = this;
    if (fault) return this.place.replaceChildren(problem(fault, ["a_again", () => this.load()]));
    if (!found) return this.place.replaceChildren(empty(t("search_hint")));
    const { hits } = found;
    const along = hits.filter((hit) => hit.along).length;
    redraw(
      this.place,
      el("p", { class: "small dim", role: "status" }, [count(hits.length, "hit", "hits"), t("took", { n: found.took_ms }), hits.length ? (along ? count(along, "goes_along_one", "goes_along_n") : t("none_goes_along")) : t("no_hits")].join(" · ")),
      hits.length ? el("div", { class: "two srch" }, el("div", {}, hits.map((hit, i) => this.hit(hit, i))), this.note ? this.preview() : "") : "",
    );
  }

  hit(hit, i) {
    const [first, last] = hit.lines;
    const lines = first === last ? t("line_one", { first }) : t("line_range", { first, last });
    const bar = el("i", { "aria-hidden": "true" });
    bar.style.setProperty("--v", `${Math.round(100 * hit.share)}%`);
    return el(
      "article",
      { class: `hit${i === this.chosen ? " on" : ""}` },
      el(
        "div",
        { class: "hd" },
        el("button", { type: "button", class: "hit-name", "aria-pressed": String(i === this.chosen), "data-row": "", "data-key": `hit ${i}`, onclick: () => this.choose(i) }, hit.file.split("/").at(-1).replace(/\.md$/, "")),
        hit.kind === "journal" ? tag(t("journal")) : null,
        hit.along ? tag(t("goes_along"), "j") : null,
        el("span", { class: "sc", title: t("share_of_words") }, bar, el("span", { class: "vh" }, t("share_of_words")), number(hit.share, 2)),
      ),
      el("p", { class: "mono place" }, [`${hit.file}, ${lines}`, hit.heading].filter(Boolean).join(" · ")),
      el("p", { class: "text" }, marked(readable(hit.text), hit.matched)),
    );
  }

  preview() {
    const hit = this.found.hits[this.chosen];
    const words = hit.matched;
    return el(
      "section",
      { class: "panel prev", "aria-label": t("hit_in_note") },
      el("header", {}, el("b", { class: "mono" }, this.note.file)),
      el(
        "pre",
        { tabindex: "0", role: "region", "aria-label": this.note.file },
        this.note.lines.map((text, i) => {
          const n = this.note.first + i;
          const on = n >= hit.lines[0] && n <= hit.lines[1];
          return el("span", { class: on ? "on" : null, "data-n": String(n) }, el("i", {}, on ? marked(text || " ", words) : text || " "));
        }),
      ),
    );
  }
}
