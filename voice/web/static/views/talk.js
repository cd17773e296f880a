// The view of the call: what it shows at which moment. The call goes on while other views are open.

import { Call, openMicrophone } from "../call.js";
import * as dialog from "../dialog.js";
import { $, el, glyph, icon, kept, prose } from "../dom.js";
import { houseWords, language, t } from "../i18n.js";
import { Messages } from "../messages.js";
import { ask, eventsOf, Failed, fetched } from "../server.js";
import * as side from "../side.js";
import { Transcript } from "../transcript.js";
import { VoiceLine } from "../voiceline.js";

const WORD_MS = 250; // the state word changes no more often
const STATUS_MS = 700;
const FRESH_MS = 1500;
const THINKING_MS = 1500;
const MOVED_MS = 1000;
const GO_ON_MS = 60000; // so long a line that broke is tried again

const page = {
  status: null,
  viewName: "",
  state: "idle", // what is shown
  told: "listening", // what the server said last
  call: null,
  leaving: null, // a call that still says goodbye
  starting: false,
  muted: false,
  lineUp: true,
  line: null, // when the call began, as the server has it
  back: null, // the notice that the line is back
  goingOn: null, // the same, of a call whose line broke, while it is tried again
  about: null,
  handedOver: 0,
  saved: 0,
  refused: 0,
  engine: null, // another one than the status names, where it changed in mid-call
  steps: kept.get("first-minute") === "done" ? null : [false, false, false, false, false],
  stopped: false, // a notice has said already why the call ends
  chat: null,
  chats: Promise.resolve(),
};

let frame = { go: () => {}, say: () => {} }; // the shell, once it is there
const transcript = new Transcript({
  changed: () => render(),
  undo: (card) => takeBack(card),
  show: (card) => frame.go("notebooks", { change: card.change }),
});
const messages = new Messages(transcript, {
  again: () => start(),
  type: () => $("text").focus(),
  look: () => retryServer(),
  here: () => start(true),
  leave: () => leaveIt(),
  sound: () => playSound(),
});
const levels = () => ({
  user: page.call?.levels.of("user") ?? 0,
  assistant: page.call?.levels.of("assistant") ?? 0,
});
const lines = [new VoiceLine($("line"), levels), new VoiceLine($("line2"), levels)];
export const active = () => page.call !== null || page.starting;
export const inCall = () => page.call !== null;
const singleKeys = () => kept.get("single-keys") !== "off";

// The state -------------------------------------------------------------------------------

let wordTimer = 0;
let wordAt = 0;
let thinkingTimer = 0;
let saidState = "idle";

function showState(state) {
  const before = page.state;
  page.state = state;
  for (const line of lines) line.show(state);
  document.body.dataset.state = state;
  $("stop").disabled = state !== "speaking" && !(state === "thinking" && (page.call || page.chat));
  clearTimeout(wordTimer);
  wordTimer = setTimeout(word, Math.max(0, WORD_MS - (performance.now() - wordAt)));
  if (state !== before) announce(state);
}

function word() {
  wordAt = performance.now();
  const { state } = page;
  for (const place of document.querySelectorAll(".glyph")) place.replaceChildren(glyph(state));
  for (const place of document.querySelectorAll(".word")) place.textContent = t(state);
  $("hint").textContent = hint(state);
  document.title = `${active() ? t(state) : page.viewName} · Jarvis`;
}

/** The line below the state's word; keys are named only where there are some. */
function hint(state) {
  if (state === "preparing" && page.status?.loading) return `${houseWords(page.status.loading).text}. ${t("h_preparing")}`;
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
  if (page.goingOn) showState("reconnecting");
  else if (!active()) showState(page.chat ? "thinking" : "idle");
  else if (page.call && !page.lineUp) showState("reconnecting");
  else if (page.starting) showState(page.call.microphone && page.status?.ready === false ? "preparing" : "connecting");
  else if (page.muted && !["thinking", "speaking"].includes(page.told)) showState("muted");
  else showState(page.told);
}

// What the server tells ---------------------------------------------------------------------

let shownStatus = "";

async function loadStatus() {
  const status = await fetched("/api/status");
  page.status = status;
  if (messages.shown?.kind === "server") messages.hide();
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
  const answering = page.engine ?? status.engine;
  const name = answering ? houseWords(answering.name).text : "";
  for (const button of document.querySelectorAll(".engine")) {
    button.hidden = answering === null;
    button.textContent = name;
    button.setAttribute("aria-label", `${t("engine")}: ${name}`);
  }
  $("hints").replaceChildren(...status.hints.map((tip) => {
    const { text, lang } = houseWords(tip);
    return el("li", { lang }, prose(text));
  }));
  $("hints").hidden = status.hints.length === 0;
  const failed = status.notices.some(({ kind }) => kind === "stop");
  const step = houseWords(status.loading).text;
  $("ask").textContent = status.ready || failed ? t("asks_once") : step ? `${t("preparing")}: ${step}` : t("preparing");
  $("messages").querySelectorAll(".notice").forEach((told) => told.remove());
  status.notices.forEach((told) => messages.notice(told, $("messages")));
  if (page.starting) refreshState();
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
      messages.show("server");
    }
    await new Promise((resolve) => setTimeout(resolve, STATUS_MS));
  }
}

let watching = null;
const watchStatus = () => (watching ??= keepStatus().finally(() => (watching = null)));

async function retryServer() {
  messages.hide();
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
    messages.notice(event, transcript.empty && !active() ? $("messages") : $("after"));
  } else if (event.type === "engine") {
    page.engine = event.engine;
    engineChanged(event);
    renderStatus();
  } else if (event.type === "handed_over") {
    page.handedOver += event.last_index - event.first_index + 1;
    render();
  } else if (event.type === "ended") {
    ended(event.reason);
  } else {
    if (event.type === "turn") {
      tick(event.turn);
      page.back?.remove(); // it was read by now
    }
    if (event.type === "remembered") count(event);
    transcript.receive(event);
  }
}

function engineChanged({ engine, reason }) {
  const { text, lang } = houseWords(`${reason} ${engine.warning}`);
  messages.tell({ title: t("engine_changed", { name: houseWords(engine.name).text }), text: el("span", { lang }, prose(text)) });
}

/** The first minute's steps tick themselves off. */
function tick(turn) {
  if (page.steps && turn.speaker === "assistant" && page.call) page.steps[2] = true;
}

function count(event) {
  page.saved += event.saved ? 1 : 0;
  page.refused += event.saved || event.waits ? 0 : 1;
  if (event.saved && page.steps) page.steps[3] = true;
}

// The call ----------------------------------------------------------------------------------

/** Whether a call began. `goesOn` is the one whose line broke. */
export async function start(takeOver = false, goesOn = page.goingOn) {
  if (active()) return false;
  page.starting = true;
  page.line = null;
  page.told = "connecting";
  page.muted = false;
  page.lineUp = true;
  page.stopped = false;
  page.chat?.abort();
  if (!goesOn) messages.clear();
  if (page.steps) page.steps[0] = true;
  showState("connecting");
  render();
  const call = new Call({
    audio: $("voice"),
    tell: (event) => page.call === call || page.leaving === call ? receive(event) : undefined,
    line: (up) => {
      if (page.call !== call) return;
      page.lineUp = up;
      refreshState();
      if (!up) ifNobodyIsThere(call);
    },
    over: (kind) => page.call === call && lost(kind),
    soundHeld: () => messages.show("sound"),
  });
  page.call = call;
  try {
    const microphone = await openMicrophone();
    if (call.done) {
      microphone.getTracks().forEach((track) => track.stop());
      return false;
    }
    call.useMicrophone(microphone);
    if (page.steps) page.steps[1] = true;
    watchStatus();
    refreshState();
    const own = page.leaving;
    if (own) await own.ended;
    if (call.done) return false;
    transcript.begin();
    page.about = null;
    page.handedOver = page.saved = page.refused = 0;
    page.engine = null;
    await call.connect(microphone, takeOver || own !== null, goesOn);
    if (call.done) return false;
    page.goingOn = null;
    if (goesOn) wentOn();
    page.about = { beganAt: Date.now(), first: transcript.shown.length };
    loadStatus().then((status) => named(call, status)).catch(() => {}); // also whether it is being recorded
    if (page.told !== "connecting") page.starting = false;
    refreshState();
    render();
    return true;
  } catch (fault) {
    const hungUp = call.done && page.call !== call;
    call.close();
    if (hungUp) return false;
    idle();
    if (goesOn && fault instanceof Failed) return false; // it is tried again
    if (!(fault instanceof Failed)) {
      messages.show("offer", String(fault.message ?? fault));
      throw fault;
    }
    if (fault.kind === "lost") await lost("lost");
    else messages.show(fault.kind, fault.detail);
    if (fault.kind === "server") watchStatus();
    return false;
  }
}

function named(call, status) {
  if (page.call === call) page.line = status.call?.began_at ?? null;
}

/** The line broke, and may come back: then a new call goes on from what was said. */
async function goOn(beganAt) {
  page.goingOn = beganAt;
  refreshState();
  const until = performance.now() + GO_ON_MS;
  let status = null;
  while (performance.now() < until) {
    status = await loadStatus().catch(() => null);
    if (page.goingOn !== beganAt || active()) return;
    const other = status?.call && status.call.began_at !== beganAt;
    if (other) return stopGoingOn("moved");
    const kind = status ? "goes_on" : "server";
    if (messages.shown?.kind !== kind) messages.show(kind);
    if (status && (await start(false, beganAt))) return;
    if (page.goingOn !== beganAt) return;
    await new Promise((resolve) => setTimeout(resolve, FRESH_MS));
  }
  stopGoingOn(status ? "lost" : "server");
  if (!status) watchStatus();
}

function stopGoingOn(kind) {
  page.goingOn = null;
  refreshState();
  if (kind) messages.show(kind);
  else messages.hide();
}

function leaveIt() {
  stopGoingOn(null);
  if (page.call) hangUp();
}

function wentOn() {
  messages.clear();
  page.back = messages.tell({ title: t("went_on"), text: t("went_on_p") });
}

function idle() {
  page.call = null;
  page.starting = false;
  page.muted = false;
  transcript.settle();
  refreshState();
  render();
}

function minuteOver() {
  if (!page.steps?.[3]) return;
  kept.set("first-minute", "done");
  page.steps = null;
}

export async function hangUp() {
  const { call } = page;
  if (!call) return;
  minuteOver();
  page.leaving = call;
  idle();
  await call.hangUp();
  if (page.leaving === call) page.leaving = null;
  transcript.settle();
  frame.say(t("idle"));
  loadStatus().catch(() => {});
}

function ended(reason) {
  if (page.leaving) return;
  minuteOver();
  idle();
  const kinds = { silence: "silence", "engine failed": "engine", error: "ended" };
  if (reason in kinds && !(page.stopped && reason !== "silence")) messages.show(kinds[reason]);
  if (["hang-up", "page gone"].includes(reason)) setTimeout(() => whoHungUp(reason), MOVED_MS);
  loadStatus().catch(() => {});
}

/** Nobody hung up here: a goodbye that was heard, another window that took the call over, or a microphone
    that gave no sound. */
async function whoHungUp(reason) {
  const status = await loadStatus().catch(() => null);
  if (active()) return;
  if (status?.call) messages.show("moved");
  else if (reason === "page gone") messages.show("mic_lost");
}

/** The line went without a goodbye: find out why. */
async function lost(kind) {
  const beganAt = page.line;
  idle();
  if (kind === "lost" && beganAt && !page.stopped) {
    await goOn(beganAt);
    return;
  }
  if (kind === "lost") {
    try {
      const status = await loadStatus();
      if (status.call) messages.show("moved");
      else if (!page.stopped) messages.show("lost");
    } catch {
      messages.show("server");
      watchStatus();
    }
  } else messages.show(kind);
}

/** A line that is down may come back; not where the server is gone, or knows of no call. */
async function ifNobodyIsThere(call) {
  while (page.call === call && !page.lineUp) {
    const status = await loadStatus().catch(() => null);
    if (page.call === call && !page.lineUp && !status?.call) call.finish("lost");
    await new Promise((resolve) => setTimeout(resolve, FRESH_MS));
  }
}

export function mute() {
  if (!page.call) return;
  page.muted = !page.muted;
  page.call.mute(page.muted);
  refreshState();
  render();
}

export function stopVoice() {
  if (page.call) page.call.send({ type: "stop" });
  else page.chat?.abort();
}

function playSound() {
  $("voice").play();
  messages.hide();
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

$("type").addEventListener("submit", (event) => {
  event.preventDefault();
  typed();
});

$("text").addEventListener("input", (event) => {
  if (["insertFromPaste", "insertFromDrop", "insertFromYank"].includes(event.inputType)) pasted = true;
  if (!event.target.value) pasted = false;
});

async function chat(text, wasPasted) {
  messages.clear();
  const stopper = (page.chat = new AbortController());
  let answered = false;
  refreshState();
  render();
  try {
    const response = await ask("/api/chat", { text, pasted: wasPasted }, { signal: stopper.signal });
    for await (const event of eventsOf(response)) {
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
    if (fault instanceof Failed && fault.kind !== "offer" && fault.kind !== "engine") messages.show(fault.kind, fault.detail);
    else messages.show("typed", fault.detail || (fault instanceof TypeError ? t("e_server_p") : fault.message));
    if (fault.kind === "server") watchStatus();
  } finally {
    page.chat = null;
    transcript.settle();
    refreshState();
    render();
  }
}

// What is shown ---------------------------------------------------------------------------

let queued = false;

function render() {
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    layOut();
  });
}

function moment() {
  const turns = page.about ? transcript.shown.length - page.about.first : 0;
  return {
    status: page.status && page.engine ? { ...page.status, engine: page.engine } : page.status,
    minute: page.steps,
    about: page.about ? { ...page.about, turns, given: page.handedOver, running: page.call !== null, saved: page.saved, refused: page.refused } : null,
    latencies: transcript.latencies,
    counted: transcript.counted,
  };
}

/** A control that had the focus and is hidden now gives it on: to the conversation while one runs, else to
    what begins one. */
function handOn(at) {
  if (!at.closest("#view-talk, #strip") || at.checkVisibility()) return;
  const to = active() ? [$("scroll")] : [$("again"), document.querySelector(".big"), $("main")];
  to.find((each) => each.checkVisibility()).focus({ preventScroll: true });
}

function layOut() {
  const at = document.activeElement;
  const live = active();
  const fresh = transcript.empty && !live && !page.chat;
  $("first").hidden = !fresh;
  $("scroll").classList.toggle("fresh", fresh);
  $("dk1").hidden = fresh;
  $("again").hidden = live;
  $("stop").hidden = !live && !page.chat;
  $("mute").hidden = $("hang").hidden = !live;
  $("strip").hidden = $("top-call").hidden = !live;
  for (const sign of document.querySelectorAll(".rec")) sign.hidden = !live || !page.status?.call?.recorded;
  $("strip-mute").textContent = t(page.muted ? "unmute" : "mute");
  $("mute").disabled = $("strip-mute").disabled = page.call === null;
  $("mute").setAttribute("aria-pressed", String(page.muted));
  $("mute").setAttribute("aria-label", t(page.muted ? "unmute" : "mute"));
  $("mute-word").textContent = t(page.muted ? "unmute" : "mute");
  $("mute").querySelector("svg").replaceWith(icon(page.muted ? "talk" : "mute"));
  document.querySelectorAll(".single").forEach((hint) => (hint.hidden = !singleKeys()));
  $("side").replaceChildren(...side.sections(moment()));
  handOn(at);
  for (const line of lines) line.wake();
}

// Taking back ---------------------------------------------------------------------------------

/** Undo what was written, or the undo. The card says what became of it. */
async function takeBack(card) {
  try {
    const done = await fetched("/api/undo", { change: card.change });
    card.became(done.id);
    frame.say(t(card.stands ? "put_back" : "taken_back"));
  } catch (fault) {
    card.failed(fault.kind === "server" ? t("e_server") : fault.detail);
  }
}

/** The newest line that was saved, or taken out. */
export function undoLast() {
  const card = transcript.lastWritten();
  if (card) takeBack(card);
  return Boolean(card);
}

// The shell's door ------------------------------------------------------------------------------

export function begin(shell) {
  frame = shell;
  showState("idle");
  watchStatus();
  setInterval(() => {
    if (document.hidden || !page.about) return;
    const s = Math.floor((Date.now() - page.about.beganAt) / 1000);
    $("strip-time").textContent = active() ? `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}` : "";
    if (s % 30 === 0) render();
  }, 1000);
}

export function draw() {
  transcript.translate();
  word();
  messages.draw();
  renderStatus();
  render();
}

export function repaint() {
  for (const line of lines) line.wake();
}

let stale = 0;

export function changed(names) {
  if (!names.includes("notebooks") || !page.status?.ready || stale) return;
  stale = setTimeout(() => {
    stale = 0;
    loadStatus().catch(() => {});
  }, FRESH_MS);
}

/** The view comes into sight: nothing is to be fetched, the call's own line tells what is new. */
export function show() {
  repaint();
  transcript.follow();
}

/** Another view is looked at: the last step of the first minute. */
export function left(to) {
  if (to === "notebooks" && page.steps?.[3]) page.steps[4] = true;
}

/** What the window is called while nobody talks. */
export function name(viewName) {
  page.viewName = viewName;
  word();
}

export const showAbout = () =>
  dialog.open({ title: t("about"), hidden: true, about: true, body: side.sections(moment()) });
