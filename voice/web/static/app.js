// The page: what it shows at which moment, and what keys and buttons do.

import { ask, Call, Failed, openMicrophone } from "./call.js";
import { $, el, glyph, icon, kept, prose } from "./dom.js";
import { language, LANGUAGES, preferred, t, translate } from "./i18n.js";
import * as side from "./side.js";
import { Transcript } from "./talk.js";
import { VoiceLine } from "./voiceline.js";

const WORD_MS = 250; // the state word changes no more often
const STATUS_MS = 700;
const THINKING_MS = 1500;
const MOVED_MS = 1000;
const NOTICES = 3;

const page = {
  status: null,
  state: "idle", // what is shown
  told: "listening", // what the server said last
  call: null,
  leaving: null, // a call that still says goodbye
  starting: false,
  muted: false,
  lineUp: true,
  about: null,
  handedOver: 0,
  steps: kept.get("first-minute") === "done" ? null : [false, false, false, false, false],
  message: null,
  stopped: false, // a notice has said already why the call ends
  chat: null,
  chats: Promise.resolve(),
};

const transcript = new Transcript(() => render());
const line = new VoiceLine($("line"), () => ({
  user: page.call?.levels.of("user") ?? 0,
  assistant: page.call?.levels.of("assistant") ?? 0,
}));
const active = () => page.call !== null || page.starting;
const singleKeys = () => kept.get("single-keys") !== "off";

// The state -------------------------------------------------------------------------------

let wordTimer = 0;
let wordAt = 0;
let thinkingTimer = 0;
let saidState = "idle";

function show(state) {
  const before = page.state;
  page.state = state;
  line.show(state);
  document.body.dataset.state = state;
  $("stop").disabled = state !== "speaking" && !(state === "thinking" && (page.call || page.chat));
  clearTimeout(wordTimer);
  wordTimer = setTimeout(word, Math.max(0, WORD_MS - (performance.now() - wordAt)));
  if (state !== before) announce(state);
}

function word() {
  wordAt = performance.now();
  const { state } = page;
  $("glyph").replaceChildren(glyph(state));
  $("word").textContent = t(state);
  $("hint").textContent = hint(state);
  document.title = active() ? `${t(state)} · Jarvis` : `${t("talk")} · Jarvis`;
}

/** The line below the state's word; keys are named only where there are some. */
function hint(state) {
  if (state === "preparing" && page.status?.loading) return page.status.loading;
  if (state === "connecting" && page.call?.microphone) return t("h_joining");
  const touch = !singleKeys() || matchMedia("(hover: none), (max-width: 760px)").matches;
  return t(touch && ["idle", "muted"].includes(state) ? `h_${state}_touch` : `h_${state}`);
}

/** What can't be heard is said to a screen reader, and nothing else. */
function announce(state) {
  clearTimeout(thinkingTimer);
  if (state === "reconnecting") $("shout").textContent = `${t(state)}. ${t("h_reconnecting")}`;
  else if (state === "thinking") thinkingTimer = setTimeout(() => ($("say").textContent = t("thinking")), THINKING_MS);
  else if (["connecting", "preparing", "muted"].includes(state)) $("say").textContent = t(state);
  else if (state === "listening" && saidState !== "hearing") $("say").textContent = t(state);
  saidState = state;
}

function refreshState() {
  if (!active()) show(page.chat ? "thinking" : "idle");
  else if (page.call && !page.lineUp) show("reconnecting");
  else if (page.starting) return;
  else if (page.muted && !["thinking", "speaking"].includes(page.told)) show("muted");
  else show(page.told);
}

// Messages --------------------------------------------------------------------------------

function sayMessage({ title, text, kind = "stop", actions = [], lang = null }) {
  return el(
    "div",
    { class: kind === "stop" ? "err" : "err info", role: kind === "stop" ? "alert" : "status", lang },
    icon(kind === "stop" ? "warn" : "info"),
    el("b", {}, prose(title)),
    text ? el("p", {}, prose(text)) : null,
    actions.length
      ? el("div", { class: "acts" }, actions.map(([label, act], i) => el("button", { class: i ? "btn" : "btn pri", type: "button", onclick: act }, t(label))))
      : null,
  );
}

const AGAIN = ["a_again", () => start()];
const TYPE = ["a_type", () => $("text").focus()];
const MESSAGES = {
  refused: { actions: [AGAIN, TYPE] },
  none: { actions: [AGAIN, TYPE] },
  busy: { actions: [AGAIN, TYPE] },
  insecure: { actions: [TYPE] },
  old: { actions: [TYPE] },
  offline: { actions: [AGAIN, TYPE] },
  mic: { actions: [AGAIN, TYPE] },
  mic_lost: { actions: [AGAIN] },
  server: { actions: [["a_again", () => retryServer()]] },
  elsewhere: { kind: "handled", actions: [["a_here", () => start(true)]] },
  moved: { kind: "handled", actions: [["a_here", () => start(true)]] },
  engine: { actions: [AGAIN] },
  lost: { actions: [AGAIN] },
  offer: { actions: [AGAIN] },
  silence: { kind: "handled" },
  ended: { actions: [AGAIN] },
  sound: { kind: "handled", actions: [["a_sound", () => playSound()]] },
  typed: { actions: [] },
};
const OWN_WORDS = ["engine", "offer", "typed"]; // the server's sentence says more than ours

function message(kind, detail = "") {
  page.message = kind ? { kind, detail } : null;
  renderMessage();
}

function renderMessage() {
  const shown = page.message;
  for (const place of [$("messages"), $("after")]) place.querySelector(".main")?.remove();
  if (!shown) return;
  const { kind, detail } = shown;
  const own = OWN_WORDS.includes(kind) && detail;
  const text = own ? detail : t(`e_${kind}_p`, { detail });
  const box = sayMessage({ title: t(`e_${kind}`), text, ...MESSAGES[kind] });
  box.classList.add("main");
  (transcript.empty ? $("messages") : $("after")).append(box);
  transcript.follow();
}

function notice({ kind, text }, place) {
  const [first, ...rest] = text.split(/(?<=[.!?])\s+(?=\p{Lu})/u);
  const box = sayMessage({ title: first, text: rest.join(" "), kind });
  box.classList.add("notice");
  const shown = place.querySelectorAll(".notice");
  if (shown.length >= NOTICES) shown[0].remove();
  place.append(box);
  transcript.follow();
}

function clearMessages() {
  message(null);
  document.querySelectorAll("#after .notice").forEach((box) => box.remove());
}

// What the server tells ---------------------------------------------------------------------

let shownStatus = "";

async function loadStatus() {
  const status = await (await ask("/api/status")).json();
  page.status = status;
  if (page.message?.kind === "server") message(null);
  const text = JSON.stringify([status, language()]);
  if (text !== shownStatus) {
    shownStatus = text;
    renderStatus();
  }
  return status;
}

function renderStatus() {
  const { status } = page;
  if (!status) return;
  const { engine, words, files } = side.facts(status);
  $("fact-engine").replaceChildren(...engine);
  $("fact-words").replaceChildren(...words);
  $("fact-files").replaceChildren(...files);
  const button = document.querySelector(".engine");
  button.hidden = status.engine === null;
  button.textContent = status.engine?.name ?? "";
  button.title = `${t("engine")}: ${button.textContent}`;
  $("hints").replaceChildren(...status.hints.map((tip) => el("li", { lang: "en" }, prose(tip))));
  $("hints").hidden = status.hints.length === 0;
  $("ask").textContent = status.ready ? t("asks_once") : `${t("preparing")}: ${status.loading}`;
  $("messages").querySelectorAll(".notice").forEach((box) => box.remove());
  status.notices.forEach((told) => notice(told, $("messages")));
  if (page.state === "preparing") word();
  render();
}

/** While something loads, or nobody answers, look again and again. */
async function keepStatus() {
  for (;;) {
    try {
      const status = await loadStatus();
      if (status.ready) return;
    } catch (fault) {
      if (!(fault instanceof Failed)) throw fault;
      message("server");
    }
    await new Promise((resolve) => setTimeout(resolve, STATUS_MS));
  }
}

/** Wait until all is loaded. Where loading failed the call itself tries again, and says why not. */
async function loaded(call) {
  watchStatus();
  const failed = () => page.status?.notices.some(({ kind }) => kind === "stop");
  while (!call.done && !page.status?.ready && !failed()) {
    await new Promise((resolve) => setTimeout(resolve, STATUS_MS / 4));
  }
}

let watching = null;
const watchStatus = () => (watching ??= keepStatus().finally(() => (watching = null)));

async function retryServer() {
  message(null);
  await watchStatus();
}

function receive(event) {
  if (event.type === "state") {
    page.told = event.state === "ended" ? "idle" : event.state;
    if (page.told !== "connecting") page.starting = false;
    refreshState();
    render();
  } else if (event.type === "notice") {
    if (event.kind === "stop") page.stopped = true;
    notice(event, transcript.empty && !active() ? $("messages") : $("after"));
  } else if (event.type === "handed_over") {
    page.handedOver += event.last_index - event.first_index + 1;
    render();
  } else if (event.type === "ended") {
    ended(event.reason);
  } else {
    if (event.type === "turn") tick(event.turn);
    transcript.receive(event);
  }
}

/** The first minute's steps tick themselves off. */
function tick(turn) {
  if (!page.steps || turn.speaker !== "assistant" || !page.call) return;
  page.steps[2] = true;
  if (turn.interrupted) page.steps[3] = true;
}

// The call ----------------------------------------------------------------------------------

async function start(takeOver = false) {
  if (active()) return;
  page.starting = true;
  page.told = "connecting";
  page.muted = false;
  page.lineUp = true;
  page.stopped = false;
  page.chat?.abort();
  clearMessages();
  if (page.steps) page.steps[0] = true;
  show("connecting");
  render();
  const call = new Call({
    audio: $("voice"),
    tell: (event) => page.call === call || page.leaving === call ? receive(event) : undefined,
    line: (up) => {
      if (page.call !== call) return;
      page.lineUp = up;
      refreshState();
    },
    over: (kind) => page.call === call && lost(kind),
    soundHeld: () => message("sound"),
  });
  page.call = call;
  try {
    const microphone = await openMicrophone();
    if (call.done) {
      microphone.getTracks().forEach((track) => track.stop());
      return;
    }
    call.useMicrophone(microphone);
    if (page.steps) page.steps[1] = true;
    show("connecting");
    if (!page.status?.ready) {
      show("preparing");
      render();
      await loaded(call);
      if (call.done) return;
      show("connecting");
    }
    const own = page.leaving;
    if (own) await own.ended;
    if (call.done) return;
    transcript.begin();
    page.about = null;
    page.handedOver = 0;
    await call.connect(microphone, takeOver || own !== null);
    if (call.done) return;
    page.about = { beganAt: Date.now(), first: transcript.shown.length };
    if (page.told !== "connecting") page.starting = false;
    refreshState();
    render();
  } catch (fault) {
    const hungUp = call.done && page.call !== call;
    call.close();
    if (hungUp) return;
    idle();
    if (!(fault instanceof Failed)) {
      message("offer", String(fault.message ?? fault));
      throw fault;
    }
    if (fault.kind === "lost") await lost("lost");
    else message(fault.kind, fault.detail);
    if (fault.kind === "server") watchStatus();
  }
}

function idle() {
  page.call = null;
  page.starting = false;
  page.muted = false;
  transcript.settle();
  refreshState();
  render();
}

async function hangUp() {
  const { call } = page;
  if (!call) return;
  if (page.steps?.[2]) {
    kept.set("first-minute", "done");
    page.steps = null;
  }
  page.leaving = call;
  idle();
  await call.hangUp();
  if (page.leaving === call) page.leaving = null;
  transcript.settle();
  $("say").textContent = t("idle");
  loadStatus().catch(() => {});
}

function ended(reason) {
  if (page.leaving) return;
  idle();
  const kinds = { silence: "silence", "page gone": "moved", "engine failed": "engine", error: "ended" };
  if (reason in kinds && !(page.stopped && reason !== "silence")) message(kinds[reason]);
  if (reason === "hang-up") setTimeout(whoHungUp, MOVED_MS);
  loadStatus().catch(() => {});
}

/** Nobody hung up here: a goodbye that was heard, or another window that took the call over. */
async function whoHungUp() {
  const status = await loadStatus().catch(() => null);
  if (status?.call && !active()) message("moved");
}

/** The line went without a goodbye: find out why. */
async function lost(kind) {
  idle();
  if (kind === "lost") {
    try {
      const status = await loadStatus();
      if (status.call) message("moved");
      else if (!page.stopped) message("lost");
    } catch {
      message("server");
      watchStatus();
    }
  } else message(kind);
}

function mute() {
  if (!page.call) return;
  page.muted = !page.muted;
  page.call.mute(page.muted);
  refreshState();
  render();
}

function stopVoice() {
  if (page.call) page.call.send({ type: "stop" });
  else page.chat?.abort();
}

function playSound() {
  $("voice").play();
  message(null);
}

// Typing ------------------------------------------------------------------------------------

let pasted = false;

function typed() {
  const field = $("text");
  const text = field.value.trim();
  if (!text) return;
  const wasPasted = pasted;
  field.value = "";
  pasted = false;
  transcript.following = true;
  if (page.call) page.call.send({ type: "typed", text, pasted: wasPasted });
  else page.chats = page.chats.then(() => chat(text, wasPasted));
}

async function chat(text, wasPasted) {
  clearMessages();
  const stopper = (page.chat = new AbortController());
  let answered = false;
  refreshState();
  render();
  try {
    const response = await ask("/api/chat", { text, pasted: wasPasted }, { signal: stopper.signal });
    for await (const event of lines(response.body)) {
      answered = true;
      if (event.type === "state") continue; // without a call there is only "thinking"
      receive(event);
      render();
    }
  } catch (fault) {
    if (fault.name === "AbortError") return;
    if (!$("text").value && !answered) {
      $("text").value = text; // nothing typed is lost
      pasted = wasPasted;
    }
    if (fault instanceof Failed && fault.kind !== "offer" && fault.kind !== "engine") message(fault.kind, fault.detail);
    else message("typed", fault.detail || (fault instanceof TypeError ? t("e_server_p") : fault.message));
    if (fault.kind === "server") watchStatus();
  } finally {
    page.chat = null;
    transcript.settle();
    refreshState();
    render();
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part.trim()) yield JSON.parse(part);
  }
  if (rest.trim()) yield JSON.parse(rest);
}

// What is shown ---------------------------------------------------------------------------

let queued = false;

function render() {
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    draw();
  });
}

function moment() {
  const turns = page.about ? transcript.shown.length - page.about.first : 0;
  return {
    status: page.status,
    minute: page.steps,
    about: page.about ? { ...page.about, turns, given: page.handedOver, running: page.call !== null } : null,
    latencies: transcript.latencies,
    counted: transcript.counted,
  };
}

function draw() {
  const live = active();
  const fresh = transcript.empty && !live && !page.chat;
  $("first").hidden = !fresh;
  $("scroll").classList.toggle("empty", fresh);
  $("dk1").hidden = fresh;
  $("again").hidden = live;
  $("stop").hidden = !live && !page.chat;
  $("mute").hidden = $("hang").hidden = !live;
  $("mute").disabled = page.call === null;
  $("mute").setAttribute("aria-pressed", String(page.muted));
  $("mute").setAttribute("aria-label", t(page.muted ? "unmute" : "mute"));
  $("mute-word").textContent = t(page.muted ? "unmute" : "mute");
  $("mute").querySelector("svg").replaceWith(icon(page.muted ? "talk" : "mute"));
  document.querySelectorAll(".single").forEach((hint) => (hint.hidden = !singleKeys()));
  $("side").replaceChildren(...side.sections(moment()));
  line.wake();
}

function speak(to) {
  translate(to);
  document.querySelector(".lang").value = to;
  $("older").textContent = t("older");
  transcript.translate();
  word();
  renderMessage();
  renderStatus();
  render();
}

// Dialogs -----------------------------------------------------------------------------------

function open(title, hidden, ...body) {
  const dialog = $("dialog");
  dialog.replaceChildren(
    el("div", { class: "hd" }, el("h2", { id: "dialog-title", class: hidden ? "vh" : null }, title)),
    el("div", { class: `bd${hidden ? " about" : ""}` }, ...body),
    el("div", { class: "ft" }, el("button", { class: "btn pri", type: "button", autofocus: true, onclick: () => dialog.close() }, t("close"))),
  );
  if (!dialog.open) dialog.showModal();
}

function showKeys() {
  const single = el("input", {
    type: "checkbox",
    class: "sw",
    id: "single-keys",
    role: "switch",
    checked: singleKeys(),
    "aria-describedby": "single-hint",
    onchange: (event) => {
      kept.set("single-keys", event.target.checked ? "on" : "off");
      render();
    },
  });
  const words = el("div", {}, el("label", { htmlFor: "single-keys" }, t("single_keys")), el("p", { id: "single-hint" }, t("single_hint")));
  open(t("keys"), false, side.keys(), el("div", { class: "rowf" }, words, single));
}

function theme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  kept.set("theme", next);
  document.documentElement.dataset.theme = next;
  line.wake();
}

// Buttons and keys ----------------------------------------------------------------------------

const ACTS = {
  start: () => start(),
  hang: hangUp,
  mute,
  stop: stopVoice,
  theme,
  keys: showKeys,
  about: () => open(t("about"), true, ...side.sections(moment())),
};

document.addEventListener("click", (event) => {
  const act = event.target.closest("[data-act]")?.dataset.act;
  if (act) ACTS[act]();
});

document.addEventListener("keydown", (event) => {
  if ($("dialog").open) return;
  if (event.key === "Escape") {
    if (page.call || page.chat) stopVoice();
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && page.call) {
    event.preventDefault();
    hangUp();
    return;
  }
  // The browser takes the focus out of a dialog a moment after it closed.
  const target = $("dialog").contains(event.target) ? document.body : event.target;
  const typing = target.closest("input, select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !singleKeys()) return;
  const onControl = target.closest("button, a, summary");
  const keys = {
    " ": () => !onControl && !active() && start(),
    m: () => page.call && mute(),
    "/": () => $("text").focus(),
    "?": showKeys,
  };
  const act = keys[event.key.toLowerCase()];
  if (!act || (event.key === " " && (onControl || active()))) return;
  event.preventDefault();
  act();
});

$("type").addEventListener("submit", (event) => {
  event.preventDefault();
  typed();
});

$("text").addEventListener("input", (event) => {
  if (["insertFromPaste", "insertFromDrop", "insertFromYank"].includes(event.inputType)) pasted = true;
  if (!event.target.value) pasted = false;
});

document.querySelector(".lang").addEventListener("change", (event) => {
  kept.set("language", event.target.value);
  speak(event.target.value);
});

setInterval(() => page.about && !document.hidden && render(), 30000);

for (const node of document.querySelectorAll("[data-icon]")) node.prepend(icon(node.dataset.icon));
show("idle");
speak(preferred(LANGUAGES.includes(kept.get("language")) ? kept.get("language") : null));
watchStatus();
