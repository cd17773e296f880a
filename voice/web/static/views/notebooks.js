// The two notebooks as they are on disk: what stands there, from which words, and an editor.

import { el, kept, redraw } from "../dom.js";
import { count, percent, t, when } from "../i18n.js";
import { button, conversationName, empty, entryText, head, message, meter, problem, quote, says, tag, time, told } from "../parts.js";
import { fetched } from "../server.js";

const KINDS = { "USER.md": "about_you", "MEMORY.md": "set_up" };
const HUES = { "USER.md": "you", "MEMORY.md": "j" };
const ENTRY_CHARS = 78; // of a usual entry, to say how many more there is room for

/** What is typed and not saved yet survives a closed window. */
const drafts = {
  get: (name) => JSON.parse(kept.get(`draft:${name}`) ?? "null"),
  set: (name, draft) => kept.set(`draft:${name}`, JSON.stringify(draft)),
};

/** One notebook's text in an editor, with compare and swap against the file. */
class Editor {
  constructor(name, { done, say }) {
    Object.assign(this, { name, done, say, crossed: null, fault: null, busy: false });
    this.root = el("div", { class: "editing" });
    this.area = el("textarea", {
      class: "ed", id: `ed-${name}`, spellcheck: false, oninput: () => this.typed(),
      onkeydown: (event) => {
        if ((event.ctrlKey || event.metaKey) && event.key === "s") {
          event.preventDefault();
          this.save();
        } else if (event.key === "Escape" && !this.dirty) this.leave();
      },
    });
  }

  get dirty() {
    return this.area.value !== this.text;
  }

  async open() {
    const book = await fetched(`/api/notebooks/${this.name}/text`);
    this.take(book);
    const draft = drafts.get(this.name);
    if (draft && draft.text !== book.text) {
      this.area.value = draft.text;
      if (draft.seen !== book.digest) this.cross(book, draft.seen);
    }
    this.draw();
    this.area.focus();
  }

  take({ text, digest, unwritable }) {
    Object.assign(this, { text, seen: digest, unwritable: unwritable ?? "" });
    this.area.value = text;
    this.area.readOnly = Boolean(this.unwritable);
  }

  /** The file is another by now: what is typed here stays beside what is there. */
  cross({ text, digest }, seen) {
    if (text === this.area.value) {
      this.take({ text, digest });
      drafts.set(this.name, null);
      return;
    }
    this.crossed = { text, digest };
    this.seen = seen;
  }

  typed() {
    drafts.set(this.name, this.dirty ? { text: this.area.value, seen: this.seen } : null);
    this.status.textContent = t(this.dirty ? "not_saved_yet" : "counts_from_next");
  }

  async changedOutside() {
    const book = await fetched(`/api/notebooks/${this.name}/text`);
    if (book.digest === this.seen || book.digest === this.crossed?.digest) return;
    if (this.dirty) this.cross(book, this.seen);
    else {
      this.take(book);
      this.say(t("changed_outside", { notebook: this.name }));
    }
    this.draw();
  }

  async save(seen = this.crossed?.digest ?? this.seen) {
    if (this.busy || this.unwritable) return;
    this.busy = true;
    try {
      await fetched(`/api/notebooks/${this.name}`, { text: this.area.value, seen });
      drafts.set(this.name, null);
      this.say(t("saved_in_full", { notebook: this.name }));
      this.done(true);
    } catch (fault) {
      if (fault.kind === "changed") this.cross(fault.more, this.seen);
      else this.fault = fault;
      this.draw();
    } finally {
      this.busy = false;
    }
  }

  leave() {
    drafts.set(this.name, null);
    this.done(false);
  }

  theirs() {
    this.take(this.crossed);
    this.crossed = null;
    drafts.set(this.name, null);
    this.draw();
    this.area.focus();
  }

  draw() {
    const { crossed } = this;
    this.status = el("span", { role: "status" }, t(this.dirty ? "not_saved_yet" : "counts_from_next"));
    const field = el("div", {}, el("label", { class: crossed ? "side-label" : "vh", htmlFor: this.area.id }, crossed ? t("yours") : t("the_file", { notebook: this.name })), this.area);
    redraw(
      this.root,
      this.unwritable ? message({ title: t("only_read"), text: this.unwritable, kind: "handled" }) : "",
      crossed ? message({ title: t("crossed", { notebook: this.name }), text: t("crossed_p") }) : "",
      this.fault ? problem(this.fault) : "",
      crossed
        ? el(
            "div",
            { class: "both" },
            field,
            el("div", {}, el("label", { class: "side-label", htmlFor: `theirs-${this.name}` }, t("theirs")), el("textarea", { class: "ed", id: `theirs-${this.name}`, readOnly: true, value: crossed.text })),
          )
        : field,
      el(
        "div",
        { class: "edf" },
        this.status,
        el(
          "span",
          { class: "acts" },
          crossed ? button(t("take_theirs"), () => this.theirs(), { cls: "btn sm" }) : button(t("leave_it"), () => this.leave(), { cls: "btn sm" }),
          this.unwritable ? null : button(t(crossed ? "save_mine" : "save"), () => this.save(), { cls: "btn sm pri", key: t("ctrl_s") }),
        ),
      ),
    );
  }
}

export default class Notebooks {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, data: null, fault: null, editors: new Map(), gone: [], newest: null, asked: 0 });
  }

  async show(query) {
    this.newest = query.get("change");
    await this.load();
    this.root.querySelector(".en.new")?.scrollIntoView({ block: "center" });
    if (query.has("edit")) this.edit();
  }

  async load() {
    const asked = (this.asked += 1);
    try {
      const shown = new Map(this.data?.books.map((book) => [book.name, book.entries.length]));
      const data = await fetched("/api/notebooks");
      for (const book of data.books) {
        while (book.next !== null && book.entries.length < (shown.get(book.name) ?? 0)) await this.longer(book);
      }
      if (asked !== this.asked) return; // what was asked later is newer
      Object.assign(this, { data, fault: null });
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  async changed(names) {
    if (!names.some((name) => ["notebooks", "changes", "reviews"].includes(name))) return;
    if (names.includes("notebooks")) for (const editor of this.editors.values()) await editor.changedOutside();
    await this.load();
  }

  async longer(book) {
    const more = await fetched(`/api/notebooks/${book.name}?from=${book.next}`);
    book.entries.push(...more.entries);
    book.next = more.next;
  }

  async edit(name = "USER.md") {
    if (this.editors.has(name)) {
      this.editors.get(name).area.focus();
      return true;
    }
    const editor = new Editor(name, {
      say: this.say,
      done: async () => {
        this.editors.delete(name);
        await this.load();
        this.root.querySelector(`[data-edit="${name}"]`)?.focus();
      },
    });
    this.editors.set(name, editor);
    try {
      this.draw();
      await editor.open();
    } catch (fault) {
      this.editors.delete(name);
      this.fault = fault;
      this.draw();
    }
    return true;
  }

  draw() {
    const { data, fault } = this;
    redraw(
      this.root,
      head(t("notebooks"), t("notebooks_lead")),
      fault ? problem(fault, ["a_again", () => this.load()]) : "",
      ...(data ? [this.gauge(), ...data.copies.map((text) => message({ title: t("a_copy"), text: says(text), kind: "handled" })), ...data.books.map((book) => this.book(book)), this.waiting()] : []),
    );
  }

  gauge() {
    const { books, limit, merge_at: mergeAt } = this.data;
    const used = books.reduce((sum, book) => sum + book.chars, 0);
    const room = Math.max(0, Math.floor((limit - used) / ENTRY_CHARS));
    const bar = meter(t("how_full"), used, limit);
    for (const book of books) {
      const part = el("i", { class: `bg-${HUES[book.name]}` });
      part.style.width = `${Math.min(100, (100 * book.chars) / limit)}%`;
      bar.append(part);
    }
    const mark = el("span", { class: "lim" });
    mark.style.left = `${100 * mergeAt}%`;
    bar.append(mark);
    return el(
      "section",
      { class: "panel gauge" },
      el("div", { class: "inl" }, el("h2", { class: "num" }, t("chars_of", { n: used, limit })), el("span", { class: "small sub end" }, room ? t("room_for", { n: room }) : t("no_room"))),
      bar,
      el(
        "div",
        { class: "leg" },
        books.map((book) => el("span", {}, el("i", { class: `bg-${HUES[book.name]}` }), book.name)),
        el("span", { class: "end" }, t("merged_from", { n: percent(mergeAt) })),
      ),
    );
  }

  book(book) {
    const editor = this.editors.get(book.name);
    const id = `nb-${book.name}`;
    return el(
      "section",
      { class: "panel nb", "aria-labelledby": id },
      el(
        "header",
        {},
        el("h2", { id }, book.name),
        el("span", { class: "small dim" }, t(KINDS[book.name])),
        el("span", { class: "small dim num" }, `${count(book.count, "entry", "entries")} · ${count(book.chars, "char", "chars")}`),
        editor ? null : el("span", { class: "acts" }, button(t("edit_file"), () => this.edit(book.name), { cls: "btn sm", key: book.name === "USER.md" ? "E" : null, "data-edit": book.name, label: `${t("edit_file")}: ${book.name}` })),
      ),
      book.warnings.map((text) => told(text, { kind: "handled" })),
      editor ? editor.root : this.entries(book),
    );
  }

  entries(book) {
    const rows = book.entries.map((entry) => this.entry(book, entry));
    for (const gone of this.gone.filter((each) => each.book === book.name).sort((a, b) => a.index - b.index)) {
      rows.splice(gone.index, 0, this.goneRow(gone));
    }
    if (!rows.length) return el("div", { class: "pad" }, empty(t("book_empty")));
    return [
      el("ul", { class: "ens" }, rows),
      book.next === null
        ? null
        : el("div", { class: "pad" }, button(t("more_entries", { n: book.count - book.entries.length }), async () => {
            await this.longer(book).catch((fault) => (this.fault = fault));
            this.draw();
          })),
    ];
  }

  entry(book, entry) {
    const { written, quoted } = entry;
    const fromUser = !written || written.source === "user";
    const new_ = this.newest && written?.id === this.newest;
    return el(
      "li",
      { class: `en${new_ ? " new" : ""}`, tabindex: "-1", "data-row": "" },
      el("div", { class: "x" }, el("span", {}, entryText(entry.text))),
      el(
        "div",
        { class: "p" },
        quoted ? el("span", {}, quote(quoted.quote)) : el("span", {}, t(fromUser ? "you_wrote" : `source_${written.source}`)),
        el(
          "span",
          { class: "w" },
          quoted
            ? [time(quoted.said_at ?? quoted.at), quoted.conversation ? ` · ${conversationName(quoted.conversation, quoted.said_at ?? quoted.at)}` : "", written.id === quoted.id ? "" : ` · ${t(`source_${written.source}`)}`]
            : written
              ? [time(written.at), fromUser ? ` · ${t("never_reworded")}` : ""]
              : t("never_reworded"),
        ),
        button(t(fromUser ? "take_out" : "undo"), () => this.takeOut(book, entry), { cls: "btn sm ghost", label: `${t(fromUser ? "take_out" : "undo")}: ${entry.text}` }),
      ),
    );
  }

  goneRow(gone) {
    return el(
      "li",
      { class: "en gone", tabindex: "-1", "data-row": "" },
      el("div", { class: "x" }, el("span", {}, gone.text)),
      el(
        "div",
        { class: "p" },
        el("span", { role: "status" }, gone.fault ? says(gone.fault) : t("taken_back")),
        button(t("put_it_back"), () => this.putBack(gone), { cls: "btn sm", "data-key": gone.change, label: `${t("put_it_back")}: ${gone.text}` }),
      ),
    );
  }

  async takeOut(book, entry) {
    const { written } = entry;
    try {
      const done = !written || written.source === "user" ? (await fetched("/api/forget", { entry: entry.text }))[0] : await fetched("/api/undo", { change: written.id });
      this.gone.push({ book: book.name, index: book.entries.indexOf(entry), text: entry.text, change: done.id });
      this.say(t("taken_back"));
      await this.load();
      this.root.querySelector(`[data-key="${CSS.escape(done.id)}"]`)?.focus();
    } catch (fault) {
      this.fault = fault;
      this.draw();
    }
  }

  async putBack(gone) {
    try {
      await fetched("/api/undo", { change: gone.change });
      this.gone = this.gone.filter((each) => each !== gone);
      this.say(t("put_back"));
      await this.load();
    } catch (fault) {
      gone.fault = fault.detail || t("e_server");
      this.draw();
    }
  }

  waiting() {
    const { reviews, room } = this.data;
    const review = (each) =>
      el(
        "li",
        {},
        tag(t("marked"), "mk"),
        el(
          "span",
          {},
          el("q", {}, each.quote),
          el("br"),
          el(
            "span",
            { class: "small dim" },
            [conversationName(each.conversation), each.next_at ? t("tried_again", { when: when(each.next_at) }) : t("reviewed_soon")].join("; "),
          ),
          each.failed ? says(each.failed, "span", { class: "small dim block" }) : null,
        ),
      );
    return el(
      "div",
      { class: "wait" },
      el("section", {}, el("h2", {}, t("waits_review")), reviews.length ? el("ul", {}, reviews.map(review)) : empty(t("no_review"))),
      el(
        "section",
        {},
        el("h2", {}, t("waits_room")),
        room.length ? el("ul", {}, room.map((text) => el("li", {}, tag(t("waits")), el("span", { class: "mono" }, text)))) : empty(t("nothing_waits")),
      ),
    );
  }
}
