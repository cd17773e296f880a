// Every line written, changed or taken out, and every one that the rules turned away.

import { el, redraw } from "../dom.js";
import { day, has, t } from "../i18n.js";
import { button, byDay, choice, conversationName, empty, entryText, head, hourOf, problem, quote, says, tag } from "../parts.js";
import { fetched } from "../server.js";

const KINDS = ["all", "added", "updated", "removed", "merged", "undone", "by hand", "refused"];
const HUES = { added: "you", updated: "you", merged: "j", refused: "st0" };
const TYPING_MS = 250;

const wordOf = (kind) => t(`kind_${kind.replace(" ", "_")}`);

export default class Changes {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, kind: "all", words: "", rows: [], data: null, asked: 0, fault: null, failed: new Map() });
  }

  async show(query) {
    if (KINDS.includes(query.get("kind"))) this.kind = query.get("kind");
    await this.load();
  }

  async changed(names) {
    if (names.some((name) => ["changes", "notebooks", "events"].includes(name))) await this.load();
  }

  at(first) {
    return `/api/changes?${new URLSearchParams({ kind: this.kind, words: this.words, from: first })}`;
  }

  async load() {
    const asked = (this.asked += 1);
    try {
      const wanted = this.data ? this.rows.length : 0;
      const data = await fetched(this.at(0));
      const rows = [...data.rows];
      while (data.next !== null && rows.length < wanted) {
        const more = await fetched(this.at(data.next));
        rows.push(...more.rows);
        data.next = more.next;
      }
      if (asked !== this.asked) return; // what was asked later is newer
      Object.assign(this, { data, rows, fault: null });
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  draw() {
    redraw(
      this.root,
      head(t("changes"), t("changes_lead")),
      this.bar(),
      this.fault ? problem(this.fault, ["a_again", () => this.load()]) : "",
      ...(this.data ? this.list() : []),
    );
  }

  bar() {
    const counts = this.data?.counts ?? {};
    const shown = KINDS.filter((kind) => kind === "all" || kind === this.kind || kind === "refused" || counts[kind]);
    return el(
      "div",
      { class: "bar" },
      choice(t("which_changes"), shown.map((kind) => [kind, wordOf(kind), counts[kind]]), this.kind, (kind) => {
        this.kind = kind;
        this.rows = [];
        this.load();
      }),
      el("label", { class: "vh", htmlFor: "changes-words" }, t("filter_words")),
      el("input", {
        class: "field", id: "changes-words", placeholder: t("filter_words"), value: this.words, maxLength: 200, autocomplete: "off", "data-slash": "",
        oninput: (event) => {
          this.words = event.target.value;
          clearTimeout(this.timer);
          this.timer = setTimeout(() => this.load(), TYPING_MS);
        },
      }),
    );
  }

  list() {
    if (!this.rows.length) return [empty(t(this.words || this.kind !== "all" ? "no_such_change" : "no_change"))];
    return [
      ...byDay(this.rows, (row) => row.at).flatMap((rows) => {
        const { short, full } = day(rows[0].at);
        return [
          el("h2", { class: "day" }, short, short ? " " : "", el("span", { class: short ? "dim" : "" }, full)),
          el("ul", { class: "panel" }, rows.map((row) => this.row(row))),
        ];
      }),
      this.data.next === null
        ? ""
        : el("div", { class: "more-row" }, button(t("older_changes"), () => this.older())),
    ];
  }

  async older() {
    try {
      const more = await fetched(this.at(this.data.next));
      this.rows.push(...more.rows);
      this.data.next = more.next;
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  row(row) {
    const refused = row.kind === "refused";
    const failed = this.failed.get(row.id);
    const text = refused
      ? el("p", { class: "tx" }, row.old ? [el("span", { class: "sub" }, entryText(row.old)), row.new ? this.arrow() : null] : null, row.new ? el("span", { class: "sub" }, entryText(row.new)) : null, row.old || row.new ? null : el("span", { class: "sub" }, t("words_left_out")))
      : el("p", { class: "tx" }, row.old ? el("del", {}, entryText(row.old)) : null, row.old && row.new ? this.arrow() : null, row.new ? entryText(row.new) : null);
    return el(
      "li",
      { class: "ch", tabindex: "-1", "data-row": "" },
      hourOf(row.at),
      el("span", {}, tag(wordOf(row.kind), HUES[row.kind] ?? "")),
      el(
        "div",
        { class: "body" },
        text,
        refused ? this.why(row) : this.how(row),
        row.quote ? el("p", { class: "q" }, t("you_said"), " ", quote(row.quote)) : null,
        el("p", { class: "file" }, row.notebook, row.conversation ? el("span", { class: "from" }, ` · ${conversationName(row.conversation, row.at)}`) : null),
        failed ? says(failed, "p", { class: "fault", role: "alert" }) : null,
      ),
      el("span", { class: "do" }, row.undoable ? button(t(row.kind === "undone" ? "put_it_back" : "undo"), () => this.undo(row), { cls: row.kind === "undone" ? "btn sm ghost" : "btn sm", label: `${t(row.kind === "undone" ? "put_it_back" : "undo")}: ${row.new ?? row.old}` }) : null),
    );
  }

  arrow() {
    return [" ", el("span", { class: "dim", role: "img", "aria-label": t("became") }, "→"), " "];
  }

  /** Which rule, and what it found. */
  why(row) {
    const key = `rule_${row.rule}`;
    return el("p", { class: "why" }, says(row.reason), " ", el("span", { class: "rule-no", title: has(key) ? t(key) : null }, t("rule_no", { rule: row.rule })));
  }

  how(row) {
    if (["added", "updated"].includes(row.kind) && row.source !== "remember") return null;
    const key = `how_${row.source}`;
    return has(key) ? el("p", { class: "why" }, t(key)) : null;
  }

  async undo(row) {
    try {
      await fetched("/api/undo", { change: row.id });
      this.failed.delete(row.id);
      this.say(t(row.kind === "undone" ? "put_back" : "taken_back"));
      await this.load();
    } catch (fault) {
      this.failed.set(row.id, fault.detail || t("e_server"));
      this.draw();
    }
  }
}
