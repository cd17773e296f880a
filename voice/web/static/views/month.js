// A month: what was said, what was kept of it, what it cost and how fast it was. A sentence first;
// the pictures below it prove it.

import { box, line, picture, rule, steps, words } from "../charts.js";
import { el, redraw } from "../dom.js";
import { count, dollars, monthName, number, seconds, short, t } from "../i18n.js";
import { button, empty, head, problem } from "../parts.js";
import { fetched } from "../server.js";

const STAGE_HUES = { pause: "s1", transcript: "s2", notes: "s3", first_word: "s4", first_sound: "s5" };
const narrow = matchMedia("(max-width: 760px)");

const sum = (values) => values.reduce((all, value) => all + value, 0);
const running = (values) => values.map((total => (value) => (total += value))(0));

function neighbour(month, by) {
  const [year, number] = month.split("-").map(Number);
  const date = new Date(year, number - 1 + by, 1);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}`;
}

export default class Month {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, month: null, data: null, fault: null });
    narrow.addEventListener("change", () => this.draw());
  }

  async show(query) {
    if (query.get("month")) this.month = query.get("month");
    await this.load();
  }

  /** A running call writes an event with each answer: the figures come with the next visit. */
  changed() {}

  async load() {
    try {
      this.data = await fetched(this.month ? `/api/month?month=${encodeURIComponent(this.month)}` : "/api/month");
      this.fault = null;
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  to(month) {
    this.month = month;
    this.load();
  }

  draw() {
    const { data } = this;
    if (!data) {
      redraw(this.root, head(t("month"), ""), this.fault ? problem(this.fault, ["a_again", () => this.load()]) : "");
      return;
    }
    const [year, month] = data.month.split("-").map(Number);
    const turn = (by, label, disabled) => {
      const to = neighbour(data.month, by);
      return button(by < 0 ? `← ${monthName(...to.split("-").map(Number))}` : `${monthName(...to.split("-").map(Number))} →`, () => disabled || this.to(to), { label: t(label), "aria-disabled": String(disabled) });
    };
    redraw(
      this.root,
      head(monthName(year, month), "", turn(-1, "month_before", !data.oldest || data.month <= data.oldest), turn(1, "month_after", data.month >= data.newest)),
      this.fault ? problem(this.fault, ["a_again", () => this.load()]) : "",
      ...(data.calls || data.user_turns || data.latency ? [this.sentence(), this.pictures()] : [empty(t("empty_month"))]),
    );
  }

  sentence() {
    const { data } = this;
    const spent = data.now.tokens_in + data.now.tokens_out;
    const before = data.first.tokens_in + data.first.tokens_out;
    const bold = (text) => text.split("*").map((part, i) => (i % 2 ? el("b", {}, part) : part));
    return el(
      "p",
      { class: "sum" },
      bold(
        [
          t("m_talked", { calls: count(data.calls, "m_time", "m_times"), said: number(data.user_turns) }),
          t("m_about_you", { marked: data.marked, reviews: count(data.now.reviews, "m_review", "m_reviews"), kept: count(data.accepted, "m_line", "m_lines") }),
          data.remembered ? t("m_remembered", { n: data.remembered }) : "",
          spent ? t(before > spent ? "m_tokens_times" : "m_tokens", { n: spent, times: Math.round(before / Math.max(1, spent)) }) : before ? t("m_free", { n: short(before) }) : "",
        ]
          .filter(Boolean)
          .join(" "),
      ),
    );
  }

  pictures() {
    const panel = (span, title, ...children) => el("section", { class: `panel span-${span}` }, el("h2", {}, title), ...children);
    return el(
      "div",
      { class: "mg" },
      panel(5, t("m_funnel"), this.funnel(), el("p", { class: "small sub under" }, t("m_quiet", { n: this.data.quiet_calls, calls: this.data.calls })), el("h3", {}, t("m_calls_by_day")), this.calls()),
      panel(7, t("m_tokens_title"), this.tokens(), el("h3", {}, t("m_reviews_by_day")), this.reviews()),
      panel(7, t("m_latency"), this.data.latency ? this.latency() : empty(t("m_no_latency"))),
      panel(5, t("m_side_by_side"), this.table()),
    );
  }

  funnel() {
    const { data } = this;
    const most = Math.max(1, data.user_turns);
    const rows = [
      ["m_said", data.user_turns, "bg-you"],
      ["m_marked", data.marked, "bg-mark"],
      ["m_proposed", data.proposed, "bg-you"],
      ["m_kept", data.accepted, "bg-you"],
      ["m_refused", data.refused, "bg-stop"],
    ];
    return el(
      "dl",
      { class: "fun" },
      rows.map(([key, value, hue]) => {
        const bar = el("i", { class: hue, "aria-hidden": "true" });
        bar.style.width = `${Math.min(100, (100 * value) / most)}%`;
        return [el("dt", {}, t(key)), el("dd", { class: "bar-of" }, bar), el("dd", { class: "n" }, number(value))];
      }),
    );
  }

  dayAxis(days, x, y) {
    return [1, 10, 20, days].map((day) => words(x(day - 1), y, number(day), { anchor: day === 1 ? "start" : day === days ? "end" : "middle" }));
  }

  calls() {
    const { calls, marked } = this.data.by_day;
    const most = Math.max(3, ...calls);
    const [W, B, pitch] = [372, 47, 372 / calls.length];
    const height = Math.min(13, 44 / most);
    return picture(
      W, 62, t("m_calls_label", { n: sum(calls), marked: sum(marked) }),
      calls.flatMap((n, i) => Array.from({ length: n }, (_, k) => box(i * pitch, B - 2 - (k + 1) * height, pitch - 2.4, Math.max(1.5, height - 2), k < marked[i] ? "bg-mark" : "bg-you", 1.5))),
      rule(0, B + 0.5, W, B + 0.5, "rule strong"),
      this.dayAxis(calls.length, (i) => (i + (i ? 1 : 0)) * pitch, 61),
    );
  }

  tokens() {
    const { by_day: byDay, now, first } = this.data;
    const [a, b] = [running(byDay.tokens), running(byDay.first_tokens)];
    const most = Math.max(1, a.at(-1), b.at(-1));
    const [W, H, L, R, T, B] = narrow.matches ? [330, 214, 48, 244, 14, 184] : [520, 214, 52, 420, 14, 184];
    const x = (i) => L + (i / (a.length - 1)) * (R - L);
    const y = (value) => B - (value / most) * (B - T);
    const points = (values) => values.map((value, i) => [x(i), y(value)]);
    // Two labels that would lie on each other are drawn apart.
    const apart = Math.min(y(a.at(-1)) - 5, B - 16);
    const above = Math.min(y(b.at(-1)) + 4, apart - 30);
    return picture(
      W, H, t("m_tokens_label", { now: short(a.at(-1)), first: short(b.at(-1)) }),
      steps(most).map((value) => [rule(L, y(value), R, y(value)), words(L - 8, y(value) + 4, short(value), { anchor: "end" })]),
      line(points(b), "ink-line"),
      line(points(a), "you-line big"),
      words(R + 8, above, short(first.tokens_in + first.tokens_out), { cls: "v" }),
      words(R + 8, above + 15, t("m_first")),
      words(R + 8, apart, short(a.at(-1)), { cls: "v you-text" }),
      words(R + 8, apart + 15, t("m_now")),
      this.dayAxis(a.length, x, B + 18),
    );
  }

  reviews() {
    const { reviews, first_reviews: first } = this.data.by_day;
    const [W, L] = narrow.matches ? [330, 84] : [520, 108];
    const pitch = (W - L - 30) / reviews.length;
    const row = (values, base, hue) => {
      const most = Math.max(1, ...values);
      return values.map((n, i) => (n ? box(L + i * pitch, base - (n / most) * 20, pitch - 2, (n / most) * 20, hue) : null));
    };
    return picture(
      W, 62, t("m_reviews_label", { now: sum(reviews), first: sum(first) }),
      words(0, 20, t("m_now"), { cls: "you-text" }),
      words(0, 56, t("m_first")),
      row(reviews, 24, "bg-you"),
      row(first, 60, "bg-ink3"),
      words(W, 20, number(sum(reviews)), { cls: "v", anchor: "end" }),
      words(W, 56, number(sum(first)), { cls: "v", anchor: "end" }),
    );
  }

  latency() {
    const { latency } = this.data;
    const last = latency.steps.findLastIndex((n) => n > 0) + 1;
    const shown = latency.steps.slice(0, Math.max(8, last));
    const most = Math.max(1, ...shown);
    const [W, L, R] = narrow.matches ? [330, 14, 316] : [520, 30, 500];
    const pitch = (R - L) / shown.length;
    const x = (ms) => L + (ms / latency.step_ms) * pitch;
    const mark = (ms, key, y, left) => {
      const at = Math.min(x(ms), R);
      return [rule(at, 14, at, 150, "rule mark"), words(left ? at - 6 : at + 6, y, t(key, { s: seconds(ms) }), { cls: "v", anchor: left ? "end" : "start" })];
    };
    const stages = latency.stages.filter(({ half_ms: ms }) => ms > 0);
    const total = Math.max(1, sum(stages.map(({ half_ms: ms }) => ms)));
    const bar = el("div", { class: "lat whole", "aria-hidden": "true" }, stages.map(({ name, half_ms: ms }) => {
      const part = el("i", { class: STAGE_HUES[name] });
      part.style.width = `${(100 * ms) / total}%`;
      return part;
    }));
    const axis = Array.from({ length: Math.floor((shown.length * latency.step_ms) / 500) + 1 }, (_, i) => i * 500);
    return el(
      "div",
      {},
      picture(
        W, 176, t("m_latency_label", { n: latency.count, half: seconds(latency.half_ms), most: seconds(latency.most_ms) }),
        shown.map((n, i) => box(L + i * pitch + 1.5, 150 - (n / most) * 122, pitch - 3, (n / most) * 122, i * latency.step_ms < latency.most_ms ? "s4" : "s4 pale", 1)),
        rule(L, 150.5, R, 150.5, "rule strong"),
        axis.map((ms) => words(x(ms), 168, `${number(ms / 1000, ms % 1000 ? 1 : 0)} s`, { anchor: "middle" })),
        mark(latency.half_ms, "m_half", 24, x(latency.half_ms) > W * 0.3),
        mark(latency.most_ms, "m_most", 24, x(latency.most_ms) > W * 0.62),
      ),
      bar,
      el("div", { class: "leg" }, stages.map(({ name, half_ms: ms }) => el("span", {}, el("i", { class: STAGE_HUES[name] }), `${t(`s_${name}`)} ${seconds(ms)} s`))),
    );
  }

  table() {
    const { now, first, billings, price_of: model } = this.data;
    const rows = [
      ["m_t_reviews", number(now.reviews), number(first.reviews)],
      ["m_t_in", number(now.tokens_in), number(first.tokens_in)],
      ["m_t_out", number(now.tokens_out), number(first.tokens_out)],
      ["m_t_cost", dollars(now.dollars), dollars(first.dollars)],
      ["m_t_other", now.other_tokens ? `${number(now.other_tokens)}, ${dollars(now.other_dollars)}` : "–", "–"],
    ];
    const paid = billings.includes("key") ? "m_paid_key" : billings.length ? "m_paid_nothing" : "m_paid_none";
    return [
      el(
        "table",
        { class: "t" },
        el("thead", {}, el("tr", {}, el("td", {}), el("th", { scope: "col" }, t("m_now")), el("th", { scope: "col" }, t("m_first")))),
        el("tbody", {}, rows.map(([key, a, b]) => el("tr", {}, el("th", { scope: "row" }, t(key)), el("td", {}, el("b", {}, a)), el("td", { class: "sub" }, b)))),
      ),
      el("p", { class: "small dim under" }, t("m_price", { model }), " ", t(paid)),
      el("p", { class: "small dim under" }, t("m_first_is")),
    ].reduce((all, part) => (all.append(part), all), el("div", {}));
  }
}
