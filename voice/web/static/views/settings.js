// What a person changes, what is missing with its remedy, and the wipe.

import * as dialog from "../dialog.js";
import { el, icon, kept, redraw } from "../dom.js";
import { count, houseWords, LANGUAGES, language, number, t } from "../i18n.js";
import { button, choice, command, head, message, onOff, problem, says, told } from "../parts.js";
import { fetched } from "../server.js";

const NAMES = { en: "English", de: "Deutsch", es: "Español" };
const SWITCHES = ["learning", "reflect", "think", "record"];
const TICK_MS = 50;

/** The level of a microphone, as long as it is looked at. */
class Level {
  constructor(bar, told) {
    Object.assign(this, { bar, told, stream: null });
  }

  async begin() {
    const id = kept.get("microphone");
    this.stream = await navigator.mediaDevices.getUserMedia({ audio: id ? { deviceId: { ideal: id } } : true });
    this.context = new AudioContext();
    const meter = this.context.createAnalyser();
    meter.fftSize = 512;
    this.context.createMediaStreamSource(this.stream).connect(meter);
    const samples = new Float32Array(meter.fftSize);
    this.timer = setInterval(() => {
      meter.getFloatTimeDomainData(samples);
      const power = samples.reduce((all, value) => all + value * value, 0) / samples.length;
      const level = Math.min(100, Math.max(0, ((10 * Math.log10(power + 1e-10) + 55) / 42) * 100));
      this.bar.firstChild.style.width = `${level}%`;
      this.bar.setAttribute("aria-valuenow", String(Math.round(level)));
    }, TICK_MS);
  }

  end() {
    clearInterval(this.timer);
    this.stream?.getTracks().forEach((track) => track.stop());
    this.context?.close();
    this.stream = null;
  }
}

export default class Settings {
  constructor(root, { go, say }) {
    Object.assign(this, { root, go, say, data: null, findings: null, checking: false, fault: null, failed: {}, devices: [], level: null, saved: "" });
    addEventListener("hashchange", () => this.level?.end());
  }

  async show(query) {
    await this.load();
    if (!this.findings) this.check();
    if (query.has("wipe")) this.wipe();
  }

  async changed(names) {
    if (names.includes("settings") && !this.root.contains(document.activeElement)) await this.load();
  }

  async load() {
    try {
      this.data = await fetched("/api/settings");
      this.devices = (await navigator.mediaDevices?.enumerateDevices())?.filter((each) => each.kind === "audioinput") ?? [];
      this.fault = null;
    } catch (fault) {
      this.fault = fault;
    }
    this.draw();
  }

  async set(name, value, field = null) {
    try {
      this.data = await fetched("/api/settings", { [name]: value });
      this.failed = {};
      this.saved = name;
      this.say(t("setting_saved"));
    } catch (fault) {
      this.failed = { [name]: fault.detail || t("e_server") };
      this.saved = "";
    }
    this.draw();
    if (field && this.failed[name]) this.root.querySelector(`#${CSS.escape(field.id)}`)?.focus();
  }

  async check() {
    if (this.checking) return;
    this.checking = true;
    this.drawDoctor();
    try {
      this.findings = await fetched("/api/doctor", {});
      this.doctorFault = null;
    } catch (fault) {
      this.doctorFault = fault;
    }
    this.checking = false;
    this.drawDoctor();
  }

  draw() {
    const { data } = this;
    this.level?.end();
    this.doctor = el("section", { "aria-labelledby": "doctor" });
    this.drawDoctor();
    redraw(
      this.root,
      head(t("settings"), data ? [t("settings_lead"), " ", el("span", { class: "mono" }, data.file)] : ""),
      this.fault ? problem(this.fault, ["a_again", () => this.load()]) : "",
      data
        ? el(
            "div",
            { class: "set" },
            el(
              "div",
              { class: "column" },
              data.waits.length ? message({ title: t("counts_at_start"), text: t("counts_at_start_p", { names: data.waits.map((name) => t(`set_${name}`)).join(", ") }), kind: "handled" }) : null,
              el("section", { class: "panel", "aria-label": t("settings") }, this.rows()),
              el("section", { class: "panel pad" }, el("h2", {}, t("wipe")), el("p", { class: "small sub wipe-lead" }, t("wipe_lead")), button(t("wipe_show"), () => this.wipe(), { cls: "btn bad" })),
            ),
            this.doctor,
          )
        : "",
    );
  }

  row(name, label, ...children) {
    const { data, failed, saved } = this;
    return el(
      "div",
      { class: "rowf" },
      label,
      el(
        "div",
        {},
        children,
        data.fixed.includes(name) ? el("p", { class: "hint" }, t("fixed_by_environment", { name: `JARVIS_${name.toUpperCase()}` })) : null,
        failed[name] ? says(failed[name], "p", { class: "fault", role: "alert" }) : null,
        saved === name ? el("p", { class: "hint ok", role: "status" }, t("setting_saved")) : null,
      ),
    );
  }

  labelled(name, control, hint = null) {
    return this.row(name, el("label", { htmlFor: `set-${name}` }, t(`set_${name}`)), control, hint ? el("p", { class: "hint", id: `hint-${name}` }, hint) : null);
  }

  select(name, options) {
    const { data } = this;
    return el(
      "select",
      { class: "field", id: `set-${name}`, disabled: data.fixed.includes(name), onchange: (event) => this.set(name, event.target.value, event.target) },
      options.map(([value, text]) => el("option", { value, selected: value === (data.values[name] ?? "auto") }, text)),
    );
  }

  written(name, { secret = false } = {}) {
    const { data } = this;
    const field = el("input", {
      class: "field mono", id: `set-${name}`, disabled: data.fixed.includes(name), autocomplete: "off", spellcheck: false,
      type: secret ? "password" : "text", placeholder: secret && data.values[name] ? t("key_is_set") : "", value: secret ? "" : data.values[name] ?? "",
      "aria-describedby": `hint-${name}`,
    });
    const save = () => field.value !== (secret ? "" : data.values[name] ?? "") && this.set(name, field.value, field);
    return el("form", { class: "inl one-line", onsubmit: (event) => (event.preventDefault(), save()) }, field, el("button", { class: "btn", "aria-label": `${t("save")}: ${t(`set_${name}`)}` }, t("save")));
  }

  rows() {
    const { values, choices } = this.data;
    const remote = values.engine !== "local";
    return [
      this.engines(),
      remote && values.engine !== "gemini" ? this.labelled("openai_key", this.written("openai_key", { secret: true }), t("hint_openai_key")) : null,
      remote && values.engine !== "openai" ? this.labelled("gemini_key", this.written("gemini_key", { secret: true }), t("hint_gemini_key")) : null,
      ["openai", "gemini"].includes(values.engine) ? null : [
        this.labelled("llm_url", this.written("llm_url"), t("hint_llm_url")),
        values.llm_url ? this.labelled("llm_model", this.written("llm_model"), t("hint_llm_model")) : null,
      ],
      this.languages(),
      this.labelled("language", this.select("language", [["auto", t("as_computer")], ...values.languages.map((each) => [each, NAMES[each]])])),
      ["openai", "gemini"].includes(values.engine) ? this.labelled(`${values.engine}_voice`, this.written(`${values.engine}_voice`), t(`hint_${values.engine}_voice`)) : ["voice_de", "voice_es"].filter((name) => choices[name]).map((name) => this.labelled(name, this.select(name, choices[name].map((each) => [each, each === "auto" ? t("best_here") : each])))),
      this.microphone(),
      this.labelled("vault", this.written("vault"), t("hint_vault")),
      SWITCHES.filter((name) => name in values).map((name) =>
        this.labelled(name, onOff(`set-${name}`, Boolean(values[name]), (on, field) => this.set(name, on, field), `hint-${name}`), t(`hint_${name}`, { folder: this.data.recordings })),
      ),
      this.here(),
    ];
  }

  engines() {
    const { values, choices, fixed } = this.data;
    return this.row(
      "engine",
      el("span", { class: "lb", id: "set-engine-label" }, t("set_engine")),
      el(
        "div",
        { role: "radiogroup", "aria-labelledby": "set-engine-label" },
        choices.engine.map((each) =>
          el(
            "label",
            { class: "rad" },
            el("input", { type: "radio", name: "engine", id: `set-engine-${each}`, value: each, checked: values.engine === each, disabled: fixed.includes("engine"), onchange: (event) => this.set("engine", each, event.target) }),
            el("span", {}, el("b", {}, t(`engine_${each}`)), el("span", {}, t(`engine_${each}_p`))),
          ),
        ),
      ),
    );
  }

  languages() {
    const { values, languages, fixed } = this.data;
    return this.row(
      "languages",
      el("span", { class: "lb", id: "set-languages-label" }, t("set_languages")),
      el(
        "div",
        { class: "inl", role: "group", "aria-labelledby": "set-languages-label" },
        languages.map((each) =>
          el(
            "label",
            { class: "rad" },
            el("input", {
              type: "checkbox", id: `set-languages-${each}`, checked: values.languages.includes(each), disabled: fixed.includes("languages"),
              onchange: (event) => this.set("languages", languages.filter((one) => (one === each ? event.target.checked : values.languages.includes(one))), event.target),
            }),
            el("span", { lang: each }, NAMES[each]),
          ),
        ),
      ),
    );
  }

  microphone() {
    const bar = el("div", { class: "gbar level", role: "meter", "aria-label": t("level"), "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0" }, el("i", { class: "bg-you" }));
    const select = el(
      "select",
      {
        class: "field", id: "set-microphone",
        onchange: (event) => {
          kept.set("microphone", event.target.value);
          if (this.level?.stream) this.listen(bar);
        },
      },
      this.microphones(),
    );
    return this.row(
      "microphone",
      el("label", { htmlFor: "set-microphone" }, t("set_microphone")),
      el("div", { class: "inl one-line" }, select, button(t("try_it"), () => this.listen(bar))),
      bar,
      el("p", { class: "hint" }, t("hint_microphone")),
    );
  }

  /** The browser names them once it may use one. */
  microphones() {
    const named = this.devices.filter((each) => each.label && each.deviceId !== "default");
    return [
      el("option", { value: "" }, t("browsers_choice")),
      ...named.map((each) => el("option", { value: each.deviceId, selected: each.deviceId === kept.get("microphone") }, each.label)),
    ];
  }

  async listen(bar) {
    this.level?.end();
    this.level = new Level(bar);
    try {
      await this.level.begin();
      this.devices = (await navigator.mediaDevices.enumerateDevices()).filter((each) => each.kind === "audioinput");
      this.root.querySelector("#set-microphone").replaceChildren(...this.microphones());
    } catch {
      bar.after(el("p", { class: "fault", role: "alert" }, t("e_refused")));
    }
  }

  /** What only this browser keeps. */
  here() {
    const dark = document.documentElement.dataset.theme === "dark";
    return el(
      "div",
      { class: "rowf" },
      el("span", { class: "lb" }, t("look")),
      el(
        "div",
        { class: "inl" },
        choice(t("theme"), [["light", t("light")], ["dark", t("dark")]], dark ? "dark" : "light", (to) => {
          dispatchEvent(new CustomEvent("jarvis:theme", { detail: to }));
          this.draw();
        }),
        choice(t("language"), LANGUAGES.map((each) => [each, NAMES[each]]), language(), (to) => dispatchEvent(new CustomEvent("jarvis:language", { detail: to }))),
      ),
    );
  }

  drawDoctor() {
    if (!this.doctor) return;
    const { findings, checking, doctorFault } = this;
    const todo = findings?.filter((each) => each.level !== "works").length ?? 0;
    redraw(
      this.doctor,
      el(
        "div",
        { class: "inl doctor-head" },
        el("h2", { id: "doctor" }, t("doctor")),
        el("span", { class: "small dim", role: "status" }, checking ? t("checking") : findings ? (todo ? count(todo, "todo_one", "todo") : t("all_well")) : ""),
        button(t("check_again"), () => this.check(), { cls: "btn sm end", "aria-disabled": String(checking) }),
      ),
      doctorFault ? problem(doctorFault) : "",
      findings ? el("ul", { class: "panel doc" }, [...findings].sort((a, b) => (a.level === "works") - (b.level === "works")).map((each) => this.finding(each))) : "",
      el("p", { class: "small dim under" }, t("doctor_more"), " ", el("code", {}, "jarvis doctor")),
    );
  }

  finding({ subject, level, text, remedy }) {
    const well = level === "works";
    const commands = [...remedy.matchAll(/`([^`]+)`/g)].map((found) => found[1]);
    const bare = /^jarvis [^.]*$/.test(remedy) ? [remedy] : commands;
    return el(
      "li",
      {},
      el("span", { class: well ? "g" : "w" }, icon(well ? "ok" : "warn"), el("span", { class: "vh" }, t(well ? "works" : "to_do"))),
      el("b", {}, houseWords(subject).text),
      says(text, "p"),
      remedy && !bare.includes(remedy) ? says(remedy, "p") : null,
      bare.map((each) => command(each)),
    );
  }

  // The wipe ------------------------------------------------------------------------------------

  async wipe() {
    let plan;
    try {
      plan = await fetched("/api/wipe");
    } catch (fault) {
      this.fault = fault;
      this.draw();
      return;
    }
    if (!plan.items.length) {
      dialog.open({ title: t("wipe_nothing"), lead: t("wipe_nothing_p") });
      return;
    }
    const fault = el("div", {});
    const go = button(t("wipe_go", { n: plan.items.length }), async () => {
      go.disabled = true;
      try {
        this.gone(await fetched("/api/wipe", { word: "wipe" }));
      } catch (failed) {
        fault.replaceChildren(problem(failed));
        go.disabled = false;
      }
    }, { cls: "btn bad full", disabled: true });
    const word = el("input", {
      class: "field word", id: "wipe-word", autocomplete: "off", spellcheck: false,
      oninput: (event) => (go.disabled = event.target.value.trim().toLowerCase() !== t("wipe_word")),
    });
    const [before, after] = t("wipe_type").split("*");
    dialog.open({
      title: t("wipe_what"),
      lead: t("wipe_final"),
      body: [fault, this.items(plan.items, false), this.stays(plan.stays)],
      foot: [
        el("label", { htmlFor: "wipe-word", class: "small type-word" }, el("span", {}, before, el("b", {}, t("wipe_word")), after), word),
        button(t("keep_everything"), dialog.close, { "data-first": "" }),
        go,
      ],
    });
  }

  items(items, done) {
    return el(
      "ul",
      { class: "wl" },
      items.map((each) =>
        el(
          "li",
          {},
          el("span", { class: done ? "g" : "w" }, icon(done ? "ok" : "no")),
          el("span", {}, t(`wipe_${each.what.replaceAll(" ", "_")}`)),
          el("span", { class: "n" }, `${count(each.files, "file", "files")}, ${size(each.bytes)}`),
          el("span", { class: "mono" }, each.places.length > 3 ? [...each.places.slice(0, 3), "…"].join(", ") : each.places.join(", ")),
        ),
      ),
    );
  }

  stays(sentences) {
    return sentences.length ? el("div", { class: "small dim" }, sentences.map((each) => says(each, "p"))) : null;
  }

  gone(report) {
    kept.set("draft:USER.md", "null");
    kept.set("draft:MEMORY.md", "null");
    dialog.open({
      title: t(report.failed.length ? "wiped_in_part" : "wiped"),
      lead: t(report.failed.length ? "wiped_in_part_p" : "wiped_p"),
      body: [report.failed.map((each) => told(each)), this.items(report.cleared, true), this.stays(report.stays)],
      after: () => this.load(),
    });
  }
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${number(bytes / 1000 ** step, step && bytes / 1000 ** step < 10 ? 1 : 0)} ${units[step]}`;
}
