// The journal by day, insights, and what is being watched.

import { el, icon, redraw, rendered } from "../dom.js";
import { clock, count, day as dayWords, number, shortDate, span, t, weekday, when } from "../i18n.js";
import { button, empty, head, pairs, problem, says, stars } from "../parts.js";
import { fetched } from "../server.js";

const DOTS = 4;

const noon = (day) => `${day}T12:00`;

export default class Journal {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, days: [], more: false, day: null, found: null, aside: null, fault: null, thought: "", busy: false });
  }

  async show(query) {
    if (query.get("day")) this.day = query.get("day");
    await this.load();
  }

  async changed(names) {
    if (names.includes("journal")) await this.load();
  }

  async load() {
    try {
      const [{ days, more }, aside] = await Promise.all([fetched("/api/journal"), fetched("/api/watching")]);
      const older = this.days.filter(({ day }) => days.length && day < days.at(-1).day);
      Object.assign(this, { days: [...days, ...older], more: older.length ? this.more : more, aside, fault: null });
      this.day ??= days[0]?.day ?? null;
      this.found = this.day ? await fetched(`/api/journal/${this.day}`) : null;
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  async older() {
    try {
      const { days, more } = await fetched(`/api/journal?before=${this.days.at(-1).day}`);
      this.days.push(...days);
      this.more = more;
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  async open(day) {
    this.day = day;
    try {
      this.found = await fetched(`/api/journal/${day}`);
      this.fault = null;
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  async think() {
    if (this.busy) return;
    this.busy = true;
    this.draw();
    try {
      const { said } = await fetched("/api/think", {});
      this.thought = said || t("thought");
      this.fault = null;
    } catch (fault) {
      this.fault = fault;
    }
    this.busy = false;
    await this.load();
    this.say(this.thought);
  }

  draw() {
    const { found } = this;
    redraw(
      this.root,
      head(t("journal"), found ? el("span", { class: "mono" }, found.file) : t("journal_lead"), button(t(this.busy ? "thinking_now" : "think_now"), () => this.think(), { "aria-disabled": String(this.busy), "data-key": "think" })),
      this.fault ? problem(this.fault, ["a_again", () => this.load()]) : "",
      this.thought ? says(this.thought, "p", { class: "small sub said-now", role: "status" }) : "",
      this.days.length ? this.strip() : "",
      el("div", { class: "two" }, this.entries(), this.aside ? this.beside() : ""),
    );
    const strip = this.root.querySelector(".strip");
    const chosen = strip?.querySelector('[aria-pressed="true"]');
    if (chosen) strip.scrollLeft = chosen.offsetLeft - strip.clientWidth + chosen.clientWidth + 8;
  }

  strip() {
    const shown = [...this.days].reverse();
    return el(
      "div",
      { class: "strip", role: "group", "aria-label": t("days") },
      this.more ? button(t("older_days"), () => this.older(), { cls: "older-days" }) : null,
      shown.map(({ day, entries }) => {
        const date = new Date(noon(day));
        return el(
          "button",
          { type: "button", "aria-pressed": String(day === this.day), "data-key": day, "aria-label": `${dayWords(noon(day)).full}, ${count(entries, "entry", "entries")}`, onclick: () => this.open(day) },
          weekday(date),
          el("b", {}, number(date.getDate())),
          el("span", { class: "dots" }, Array.from({ length: Math.min(DOTS, entries) }, () => el("i"))),
        );
      }),
    );
  }

  entries() {
    const { found } = this;
    if (!found) return el("section", {}, empty(t("no_journal")));
    const { short, full } = dayWords(noon(found.day));
    return el(
      "section",
      { "aria-label": t("entries_of_day") },
      el("h2", {}, short ? `${short}, ${full}` : full),
      found.warning ? says(found.warning, "p", { class: "small fault" }) : null,
      found.entries.length ? found.entries.map((entry) => this.entry(entry)) : empty(t("no_entries")),
      found.count > found.entries.length ? el("p", { class: "small dim" }, t("rest_in_file", { n: found.count - found.entries.length })) : null,
    );
  }

  entry(entry, withDay = false) {
    const insight = entry.kind === "insight";
    const title = entry.title || (insight ? t("insight") : "");
    return el(
      "article",
      { class: insight ? "je ins" : "je", tabindex: "-1", "data-row": "" },
      el("time", { dateTime: entry.time ? `${entry.day}T${entry.time}` : entry.day }, withDay ? dayWords(noon(entry.day)).short || shortDate(new Date(noon(entry.day))) : entry.time ? clock(`${entry.day}T${entry.time}`) : ""),
      el(
        "div",
        {},
        el("h3", {}, title, title ? " " : "", stars(entry.stars)),
        rendered(entry.html),
        insight || entry.kind === "note" ? null : el("p", { class: "small dim" }, t(`from_${entry.kind}`)),
        entry.tags.length ? el("p", { class: "small dim" }, entry.tags.map((tag) => `#${tag}`).join(" ")) : null,
      ),
    );
  }

  beside() {
    const { watch, wanted, thinking, insights } = this.aside;
    return el(
      "aside",
      { class: "beside", "aria-label": t("watched_and_thought") },
      el("section", {}, el("h2", {}, t("insights")), insights.length ? insights.map((each) => this.entry(each, true)) : empty(t("no_insights"))),
      el("section", {}, el("h2", {}, t("being_watched")), this.watched(watch, wanted)),
      el(
        "section",
        {},
        el("h2", {}, t("thinking_by_itself")),
        thinking.on
          ? pairs([
              [t("looks_every"), t("seconds_if_new", { every: span(thinking.every_s) })],
              [t("calls_today"), t("n_of_m", { n: thinking.calls, m: thinking.calls_a_day })],
              [t("tokens_today"), t("n_of_m", { n: thinking.tokens, m: thinking.tokens_a_day })],
              [t("last_thought"), thinking.at ? when(thinking.at) : ""],
            ])
          : empty(t("thinking_off")),
      ),
    );
  }

  watched(watch, wanted) {
    if (!watch || !watch.folders.length) {
      return wanted.length ? el("ul", { class: "panel doc" }, wanted.map((path) => el("li", {}, el("span", { class: "w" }, icon("warn")), el("b", { class: "mono" }, path), el("p", {}, t("not_watched_now"))))) : el("div", {}, empty(t("nothing_watched")), el("code", {}, "jarvis watch ~/Projects"));
    }
    const seen = (folder) => watch.last_seen && watch.last_seen.path.startsWith(folder.path);
    return [
      watch.running ? null : el("p", { class: "small fault" }, t("watch_stopped")),
      el(
        "ul",
        { class: "panel doc" },
        watch.folders.map((folder) => {
          const gone = folder.state === "gone";
          return el(
            "li",
            {},
            el("span", { class: gone || !watch.running ? "w" : "g" }, icon(gone || !watch.running ? "warn" : "ok"), el("span", { class: "vh" }, t(gone ? "is_gone" : "is_watched"))),
            el("b", { class: "mono" }, folder.path),
            el(
              "p",
              {},
              gone
                ? t("folder_gone")
                : [count(folder.files, "file", "files"), seen(folder) ? `; ${t("last_seen", { when: when(watch.last_seen.at), file: watch.last_seen.path.split("/").at(-1) })}` : ""],
            ),
          );
        }),
      ),
      watch.last_told ? el("p", { class: "small dim" }, t("last_told", { when: when(watch.last_told.at) }), " ", watch.last_told.title) : null,
      watch.faults.map((fault) => says(fault, "p", { class: "small fault" })),
    ];
  }
}
