// Lessons, how they fade, what was forgotten, and the passes over them.

import { box, dot, drawn, line, picture, rule, words } from "../charts.js";
import * as dialog from "../dialog.js";
import { el, icon, redraw } from "../dom.js";
import { count, houseWords, number, shortDate, t } from "../i18n.js";
import { button, choice, empty, head, pairs, problem, says, tag } from "../parts.js";
import { fetched } from "../server.js";

const DAY = 86_400_000;
const at = (iso) => new Date(iso).getTime();
const kindOf = (kind) => tag(t(`lesson_${kind}`));

/** The score at a time, from the points of the curve. */
function scoreAt(curve, time) {
  const after = curve.findIndex((point) => at(point.at) >= time);
  if (after < 0) return curve.at(-1)?.score ?? 0;
  if (after === 0) return curve[0].score;
  const [a, b] = [curve[after - 1], curve[after]];
  const share = (time - at(a.at)) / Math.max(1, at(b.at) - at(a.at));
  return a.score * (b.score / a.score) ** share || 0;
}

/** 60 days back, 30 ahead. */
function spark(lesson, now, floor) {
  const [from, to] = [now - 60 * DAY, now + 30 * DAY];
  const top = Math.max(1, ...lesson.curve.map((point) => point.score));
  const x = (time) => ((time - from) / (to - from)) * 92;
  const y = (score) => 26 - (score / top) * 24;
  const begin = Math.max(from, at(lesson.made_at));
  const points = (a, b) => {
    const n = 24;
    return Array.from({ length: n + 1 }, (_, i) => a + ((b - a) * i) / n).map((time) => [x(time), y(scoreAt(lesson.curve, time))]);
  };
  const end = Math.min(to, at(lesson.curve.at(-1).at));
  return drawn(
    "svg",
    { class: "chart", viewBox: "0 0 92 28", "aria-hidden": "true" },
    rule(0, y(floor), 92, y(floor), "rule dashed"),
    begin < now ? line(points(begin, now), "you-line") : null,
    end > now ? line(points(Math.max(begin, now), end), "you-line ahead") : null,
    dot(x(now), y(lesson.score), 2.5, "bg-you"),
  );
}

function curve(lesson, now, floor) {
  const [W, H, L, R, T, B] = [384, 210, 34, 372, 14, 178];
  const points = lesson.curve.map((point) => [at(point.at), point.score]);
  const span = points.at(-1)[0] - points[0][0];
  const from = points[0][0] - Math.max(DAY, span * 0.03);
  const to = points.at(-1)[0] + Math.max(DAY, span * 0.05);
  const top = Math.max(1, ...points.map(([, score]) => score));
  const x = (time) => L + ((time - from) / (to - from)) * (R - L);
  const y = (score) => B - (score / top) * (B - T);
  const past = points.filter(([time]) => time <= now);
  const ahead = points.filter(([time]) => time >= now);
  const gone = lesson.forgotten;
  const year = new Date(now).getFullYear();
  const date = (time) => shortDate(new Date(time), new Date(time).getFullYear() !== year);
  const score = number(lesson.score, 2);
  const label = gone
    ? t("curve_gone", { score, days: lesson.half_life_days })
    : t("curve_live", { score, days: lesson.half_life_days, when: date(at(lesson.fades_at)) });
  const protectedUntil = lesson.protected_until ? at(lesson.protected_until) : null;
  const began = at(lesson.restored_at ?? lesson.made_at);
  const nowX = x(Math.min(now, to));
  return picture(
    W, H, label,
    [0, top / 2, top].map((value) => [rule(L, y(value), R, y(value)), words(L - 6, y(value) + 4, number(value, 1), { anchor: "end" })]),
    protectedUntil ? box(x(began), T, x(protectedUntil) - x(began), B - T, "shade") : null,
    rule(L, y(floor), R, y(floor), "rule stop"),
    words(L + 4, y(floor) - 5, t("fades_below", { n: number(floor, 2) }), { cls: "stop-text" }),
    line(past.map(([time, value]) => [x(time), y(value)]), "you-line big"),
    gone ? null : line(ahead.map(([time, value]) => [x(time), y(value)]), "you-line ahead big"),
    [lesson.made_at, ...lesson.corroborations.map((each) => each.at)].map((iso) => dot(x(at(iso)), y(scoreAt(lesson.curve, at(iso))), 4, "ring")),
    gone ? null : [rule(nowX, T, nowX, B, "rule now"), dot(nowX, y(lesson.score), 4.5, "bg-you"), words(nowX > 270 ? nowX - 8 : nowX + 8, Math.max(T + 10, y(lesson.score) - 8), t("score_today", { score }), { cls: "v", anchor: nowX > 270 ? "end" : "start" })],
    words(Math.max(L, x(points[0][0])), B + 18, date(points[0][0]), { anchor: x(points[0][0]) < 60 ? "start" : "middle" }),
    words(Math.min(R, x(points.at(-1)[0])), B + 18, date(points.at(-1)[0]), { anchor: "end" }),
  );
}

export default class Lessons {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, data: null, asked: 0, tab: "live", chosen: null, fault: null, busy: false, told: "" });
  }

  async show(query) {
    if (query.get("tab") === "forgotten") this.tab = "forgotten";
    await this.load();
  }

  async changed(names) {
    if (names.includes("events") && !dialog.isOpen()) await this.load();
  }

  async load() {
    const asked = (this.asked += 1);
    try {
      const data = await fetched("/api/lessons");
      if (asked !== this.asked) return; // what was asked later is newer
      Object.assign(this, { data, fault: null });
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  draw() {
    const { data } = this;
    redraw(
      this.root,
      head(
        t("lessons"),
        t("lessons_lead"),
        button(t(this.busy ? "reflecting" : "reflect_now"), () => this.reflect(), { "aria-disabled": String(this.busy), "data-key": "reflect" }),
        button(t("tidy_up"), () => this.tidy()),
      ),
      this.fault ? problem(this.fault, ["a_again", () => this.load()]) : "",
      this.told ? el("p", { class: "small sub said-now", role: "status" }, this.told) : "",
      ...(data
        ? [
            el(
              "div",
              { class: "bar" },
              choice(t("lessons"), [["live", t("live"), data.lessons.length], ["forgotten", t("forgotten"), data.forgotten.length]], this.tab, (tab) => {
                this.tab = tab;
                this.draw();
              }),
              el("span", { class: "small dim" }, data.learning ? "" : t("learning_off")),
            ),
            this.tab === "live" ? this.live() : this.forgotten(),
          ]
        : []),
    );
  }

  live() {
    const { lessons, floor } = this.data;
    if (!lessons.length) return empty(t("no_lessons"));
    const now = at(this.data.at);
    const chosen = lessons.find((each) => each.id === this.chosen) ?? lessons[0];
    return el(
      "div",
      { class: "ls" },
      el(
        "div",
        { class: "panel list" },
        el("div", { class: "lh", "aria-hidden": "true" }, ["kind", "lesson", "sixty_days", "score"].map((key) => el("span", {}, t(`lh_${key}`)))),
        el(
          "ul",
          {},
          lessons.map((each) =>
            el(
              "li",
              {},
              el(
                "button",
                {
                  type: "button", class: "li", "aria-pressed": String(each === chosen), "data-row": "", "data-key": each.id,
                  onclick: () => {
                    this.chosen = each.id;
                    this.draw();
                  },
                },
                kindOf(each.kind),
                el("span", { class: "tx" }, each.text),
                spark(each, now, floor),
                el("span", { class: "s" }, el("span", { class: "vh" }, t("lh_score"), " "), number(each.score, 2)),
              ),
              each === chosen ? el("div", { class: "inside" }, this.detail(each)) : null,
            ),
          ),
        ),
      ),
      el("section", { class: "panel pad det", "aria-label": t("lesson_detail") }, this.detail(chosen)),
    );
  }

  detail(lesson) {
    const now = at(this.data.at);
    const seen = lesson.corroborations.length;
    return [
      el("h2", {}, lesson.text),
      el("p", { class: "small dim" }, kindOf(lesson.kind), " ", t("halves_every", { days: lesson.half_life_days })),
      curve(lesson, now, this.data.floor),
      pairs([
        [t("first_noted"), shortDate(new Date(lesson.made_at), true)],
        [t("seen_again"), seen ? t("seen_times", { n: seen, when: shortDate(new Date(lesson.corroborations.at(-1).at)) }) : t("not_yet")],
        [t("used"), lesson.used_days ? count(lesson.used_days, "used_day", "used_days") : t("not_yet")],
        [t("protected"), lesson.protected_until ? t("until", { when: shortDate(new Date(lesson.protected_until)) }) : ""],
        [t("fades"), lesson.fades_at ? t("fades_on", { when: shortDate(new Date(lesson.fades_at), true) }) : ""],
        [t("rests_on_events"), lesson.events.length ? this.grounds(lesson) : ""],
        [t("goes_with_questions"), lesson.in_prompts ? t("yes") : t("no")],
      ]),
      el("div", { class: "inl acts" }, button(t("forget_this"), () => this.act("drop", lesson, "forgotten_now"), { cls: "btn sm" })),
    ];
  }

  /** How many events, and in lines what they were, asked for when somebody looks. */
  grounds(lesson) {
    const lines = el("ul", { class: "small grounds" });
    return el(
      "details",
      {
        ontoggle: async () => {
          const told = await fetched(`/api/lessons/grounds?${new URLSearchParams({ lesson: lesson.id })}`)
            .then((found) => found.lines)
            .catch((fault) => [fault.detail || t("e_server")]);
          lines.replaceChildren(...(told.length ? told.map((line) => says(line, "li")) : [el("li", {}, t("grounds_gone"))]));
        },
      },
      el("summary", {}, count(lesson.events.length, "event", "events_n")),
      lines,
    );
  }

  forgotten() {
    const { forgotten } = this.data;
    if (!forgotten.length) return empty(t("no_forgotten"));
    return [
      el(
        "ul",
        { class: "panel" },
        forgotten.map((each) =>
          el(
            "li",
            { class: "fg", tabindex: "-1", "data-row": "", "data-key": each.id },
            el(
              "div",
              {},
              el("p", {}, each.text),
              el("p", { class: "small dim" }, kindOf(each.kind), " ", t(`gone_${each.forgotten.why.replace(" ", "_")}`), ", ", shortDate(new Date(each.forgotten.at)), ": ", says(each.forgotten.reason)),
            ),
            button(t("restore"), () => this.act("restore", each, "restored"), { cls: "btn sm", label: `${t("restore")}: ${each.text}` }),
          ),
        ),
      ),
      el("p", { class: "small dim under" }, t("restored_hint")),
    ].reduce((all, part) => (all.append(part), all), el("div", {}));
  }

  async act(what, lesson, said) {
    try {
      await fetched(`/api/lessons/${what}`, { lesson: lesson.id });
      this.told = t(said, { text: lesson.text });
      this.say(this.told);
      this.fault = null;
    } catch (fault) {
      this.fault = fault;
    }
    await this.load();
  }

  async reflect() {
    if (this.busy) return;
    this.busy = true;
    this.told = "";
    this.draw();
    try {
      const report = await fetched("/api/lessons/reflect", {});
      const key = `reflect_${report.outcome.replaceAll(" ", "_")}`;
      this.told = [report.outcome === "made" ? count(report.made.length, "reflect_made_one", "reflect_made") : t(key), ...report.faults.map((each) => houseWords(each).text)].join(" ");
      this.fault = null;
    } catch (fault) {
      this.fault = fault;
    }
    this.busy = false;
    await this.load();
  }

  /** What would go is shown first; the focus begins on the harmless button. */
  async tidy() {
    let plan;
    try {
      plan = await fetched("/api/lessons/tidy", { dry_run: true });
    } catch (fault) {
      this.fault = fault;
      this.draw();
      return;
    }
    const row = (each) =>
      el(
        "li",
        {},
        el("span", { class: each.into ? "j" : "w" }, icon(each.into ? "changes" : "lessons")),
        el("span", {}, each.text, el("span", { class: "small dim block" }, t(`gone_${each.why.replace(" ", "_")}`), ": ", says(each.reason))),
        kindOf(each.kind),
      );
    if (!plan.gone.length) {
      dialog.open({ title: t("tidy_nothing"), lead: t("tidy_nothing_p", { n: plan.live }) });
      return;
    }
    dialog.open({
      title: count(plan.gone.length, "tidy_would_one", "tidy_would"),
      lead: t("tidy_stays", { n: plan.live }),
      body: el("ul", { class: "wl" }, plan.gone.map(row)),
      foot: [
        button(t("leave_as_is"), dialog.close, { "data-first": "" }),
        button(t("tidy_up_now"), async () => {
          dialog.close();
          try {
            const done = await fetched("/api/lessons/tidy", { dry_run: false });
            this.told = count(done.gone.length, "tidied_one", "tidied");
          } catch (fault) {
            this.fault = fault;
          }
          await this.load();
        }, { cls: "btn pri" }),
      ],
    });
  }
}
