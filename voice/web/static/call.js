// One call: the microphone, the peer connection, the data channel.

import { kept } from "./dom.js";
import { ask, Failed } from "./server.js";

const GATHER_MS = 2000;
const CONNECT_MS = 15000;
const QUIET_MS = 5000; // no word from the server for so long: the line is down
const GOODBYE_MS = 8000;
const PLAYED_EVERY_MS = 90; // no multiple of a packet's 20 ms: each report meets another part of one
const MICROPHONE = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

export async function openMicrophone() {
  if (!navigator.mediaDevices?.getUserMedia) throw new Failed(isSecureContext ? "old" : "insecure");
  if (typeof RTCPeerConnection === "undefined") throw new Failed("old");
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { ...MICROPHONE, ...chosen() } });
  } catch (fault) {
    const kinds = {
      NotAllowedError: "refused",
      SecurityError: "refused",
      NotFoundError: "none",
      NotReadableError: "busy",
      AbortError: "busy",
    };
    throw new Failed(kinds[fault.name] ?? "mic", fault.message || fault.name);
  }
}

/** The microphone that the user chose; the browser's own choice where it is not there. */
function chosen() {
  const id = kept.get("microphone");
  return id ? { deviceId: { ideal: id } } : {};
}

/** How loud both sides are, 0 to 1, measured where they are heard. */
class Levels {
  constructor() {
    this.context = new AudioContext();
    this.meters = new Map();
    this.told = { user: 0, assistant: 0 }; // from the server, while the browser measures none
  }

  listen(side, stream) {
    this.meters.get(side)?.source.disconnect();
    const source = this.context.createMediaStreamSource(stream);
    const meter = this.context.createAnalyser();
    meter.fftSize = 512;
    source.connect(meter);
    this.meters.set(side, { source, meter, samples: new Float32Array(meter.fftSize) });
  }

  of(side) {
    const found = this.meters.get(side);
    if (!found || this.context.state !== "running") return this.told[side];
    found.meter.getFloatTimeDomainData(found.samples);
    let power = 0;
    for (const sample of found.samples) power += sample * sample;
    const decibels = 10 * Math.log10(power / found.samples.length + 1e-10);
    return Math.min(1, Math.max(0, (decibels + 55) / 42));
  }

  close() {
    this.context.close();
  }
}

export class Call {
  /**
   * `tell` gets the server's events; `line(up)` when the line breaks or comes back;
   * `over(kind)` once, when the call is gone without our doing.
   */
  constructor({ audio, tell, line, over, soundHeld }) {
    Object.assign(this, { audio, tell, line, over, soundHeld });
    this.muted = false;
    this.done = false;
    this.began = false;
    this.up = true;
    this.outbox = [];
    this.timers = [];
    this.levels = new Levels();
    this.ended = new Promise((resolve) => (this.settle = resolve));
    this.leave = () => this.close();
    addEventListener("pagehide", this.leave);
  }

  useMicrophone(stream) {
    this.microphone = stream;
    const [track] = stream.getAudioTracks();
    track.enabled = !this.muted;
    track.onended = () => this.replaceMicrophone();
    this.levels.listen("user", stream);
    return track;
  }

  async replaceMicrophone() {
    if (this.done || this.hangingUp) return;
    try {
      const track = this.useMicrophone(await openMicrophone());
      await this.sender.replaceTrack(track);
    } catch {
      this.finish("mic_lost");
    }
  }

  /** `goesOn`: when the call began that this one goes on from; null for none. */
  async connect(stream, takeOver, goesOn) {
    const peer = (this.peer = new RTCPeerConnection({ iceServers: [] }));
    const track = this.useMicrophone(stream);
    const line = peer.addTransceiver(track, { direction: "sendrecv", streams: [stream] });
    this.sender = line.sender;
    this.receiver = line.receiver;
    this.channel = peer.createDataChannel("events", { ordered: true });
    const opened = this.openChannel();
    opened.catch(() => {}); // awaited below, unless something else fails first
    peer.ontrack = ({ track: voice }) => this.play(new MediaStream([voice]));
    peer.onconnectionstatechange = () => this.lineChanged();
    await peer.setLocalDescription();
    await gathered(peer);
    const { sdp, type } = peer.localDescription;
    if (!/^a=candidate/m.test(sdp)) throw new Failed("offline");
    const response = await ask("/api/offer", { sdp, type, take_over: takeOver, goes_on: goesOn });
    if (this.done) {
      ask("/api/hang-up", {}, { keepalive: true }).catch(() => {}); // it began behind our hanging up
      return;
    }
    await peer.setRemoteDescription(await response.json());
    await opened;
  }

  openChannel() {
    const { channel } = this;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Failed("lost")), CONNECT_MS);
      this.timers.push(timer);
      channel.onopen = () => {
        clearTimeout(timer);
        this.heard = performance.now();
        for (const message of this.outbox.splice(0)) channel.send(message);
        this.timers.push(setInterval(() => this.reportPlayed(), PLAYED_EVERY_MS), setInterval(() => this.ping(), 1500));
        resolve();
      };
      channel.onmessage = ({ data }) => this.receive(JSON.parse(data));
      channel.onclose = () => {
        clearTimeout(timer);
        reject(new Failed("lost"));
        this.finish("lost");
      };
    });
  }

  receive(event) {
    this.heard = performance.now();
    this.lineChanged();
    if (event.type === "pong" || event.type === "signalling") return;
    if (event.type === "voice") {
      this.audio.volume = event.gain; // softer or silent at once, also what is buffered here
      return;
    }
    if (event.type === "level") {
      Object.assign(this.levels.told, { user: event.user, assistant: event.assistant });
      return;
    }
    if (event.type === "state") this.began = true;
    this.tell(event);
    if (event.type === "ended") this.close();
  }

  async play(stream) {
    this.audio.srcObject = stream;
    this.levels.listen("assistant", stream);
    try {
      await this.audio.play();
    } catch (fault) {
      if (fault.name === "NotAllowedError") this.soundHeld();
    }
  }

  /** Say something over the data channel; what is said too early waits until it is open. */
  send(message) {
    const text = JSON.stringify(message);
    if (this.channel?.readyState === "open") this.channel.send(text);
    else this.outbox.push(text);
  }

  /** What plays now, on the line's own clock: the server cuts an answer where it was heard. */
  reportPlayed() {
    const [source] = this.receiver?.getSynchronizationSources() ?? [];
    const { outputLatency, baseLatency } = this.levels.context;
    const latency = 1000 * (outputLatency || baseLatency || 0);
    const [track] = this.microphone?.getAudioTracks() ?? [];
    this.send({
      type: "played",
      ms: Math.round(this.audio.currentTime * 1000),
      cancels: Boolean(track?.getSettings().echoCancellation),
      ...(source && { rtp: source.rtpTimestamp, at_ms: performance.now(), latency_ms: latency }),
    });
  }

  ping() {
    this.send({ type: "ping" });
    this.lineChanged();
  }

  lineChanged() {
    if (this.done || !this.peer) return;
    const { connectionState } = this.peer;
    if (connectionState === "failed" || connectionState === "closed") {
      this.finish("lost");
      return;
    }
    const quiet = this.heard !== undefined && performance.now() - this.heard > QUIET_MS;
    const up = connectionState !== "disconnected" && !quiet;
    if (up !== this.up) {
      this.up = up;
      this.line(up);
    }
  }

  mute(on) {
    this.muted = on;
    for (const track of this.microphone?.getAudioTracks() ?? []) track.enabled = !on;
    this.send({ type: "mute", on });
  }

  /** The microphone closes at once; the line stays until the server has said its last. */
  async hangUp() {
    this.hangingUp = true;
    this.audio.muted = true;
    this.stopMicrophone();
    if (this.began && this.channel?.readyState === "open") {
      this.send({ type: "hang_up" });
      await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS))]);
    } else if (this.peer) {
      // While models load nobody reads the channel yet.
      await ask("/api/hang-up", {}, { keepalive: true }).catch(() => {}); // nobody there: hung up as well
    }
    this.close();
  }

  stopMicrophone() {
    for (const track of this.microphone?.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
  }

  finish(kind) {
    if (this.done) return;
    const unexpected = !this.hangingUp;
    this.close();
    if (unexpected) this.over(kind);
  }

  close() {
    if (this.done) return;
    this.done = true;
    removeEventListener("pagehide", this.leave);
    this.timers.forEach((timer) => clearTimeout(timer));
    this.stopMicrophone();
    this.peer?.close();
    this.levels.close();
    this.audio.srcObject = null;
    this.audio.muted = false;
    this.audio.volume = 1;
    this.settle();
  }
}

/** All candidates are in the offer: one request, no trickle. */
function gathered(peer) {
  return new Promise((resolve) => {
    const look = () => peer.iceGatheringState === "complete" && resolve();
    peer.addEventListener("icegatheringstatechange", look);
    setTimeout(resolve, GATHER_MS);
    look();
  });
}
