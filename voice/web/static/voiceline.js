// The voice line: 3 px bars on a 6 px pitch, a different gait for each state. Drawn 30
// times a second, and not at all while nobody can see it.

const FRAME_MS = 1000 / 30;
const PITCH = 6;

/** Half height, opacity and presence of bar `i` of `n` (`u` is its place, 0 to 1). */
const GAITS = {
  idle: () => [1.5, 0.45],
  preparing: (u, t) => pulse(u, t * 0.6),
  connecting: (u, t) => pulse(u, t),
  listening: (u, t) => [2 + 1.6 * arch(u) * (1 + Math.sin(t * 1.6 + u * 5)), 1],
  hearing: (u, t, i, half, level) => [
    2 + half * 0.86 * Math.pow(arch(u), 0.6) * (0.06 + level * (0.3 + 0.7 * noise(i, t))),
    1,
  ],
  thinking: (u, t) => {
    const swell = Math.max(0, Math.sin(t * 2.4 - u * 9));
    return [1.5 + 4 * swell, 0.5 + 0.5 * swell];
  },
  speaking: (u, t, i, half, level) => [
    2 +
      half * 0.84 * arch(u) * (0.08 + level) *
        (0.35 + 0.65 * Math.abs(Math.sin(u * 14 - t * 5) * Math.sin(u * 5 + t * 2))),
    1,
  ],
  reconnecting: (u, t, i) => (Math.abs(u - 0.5) < 0.07 ? [0, 0] : [1.5, i % 3 ? 1 : 0.2]),
  muted: () => [1.5, 0.5],
};

const arch = (u) => Math.sin(Math.PI * u);
const noise = (i, t) => (((Math.sin(i * 12.9 + Math.floor(t * 11) * 7.3) * 43758.5) % 1) + 1) % 1;
const pulse = (u, t) => [1.5, 0.25 + Math.max(0, 1 - Math.abs(u - ((t * 0.6) % 1.2)) * 6)];

/** With reduced motion the line stands still and its length shows the level. */
function still(state, u, level) {
  if (state !== "hearing" && state !== "speaking") return [1.5, 0.6];
  return [4, Math.abs(u - 0.5) * 2 <= Math.max(0.05, level) ? 1 : 0.15];
}

export class VoiceLine {
  /** `levels` gives {user, assistant}, 0 to 1, at the moment of drawing. */
  constructor(canvas, levels) {
    this.canvas = canvas;
    this.levels = levels;
    this.state = "idle";
    this.level = 0;
    this.last = 0;
    this.visible = false;
    this.frame = 0;
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    new IntersectionObserver((entries) => {
      this.visible = entries.at(-1).isIntersecting;
      this.wake();
    }).observe(canvas);
    document.addEventListener("visibilitychange", () => this.wake());
    new ResizeObserver(() => this.wake()).observe(canvas);
  }

  show(state) {
    this.state = state;
    this.canvas.className = state;
    this.wake();
  }

  wake() {
    if (this.frame || !this.visible || document.hidden) return;
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.frame = 0;
    if (now - this.last >= FRAME_MS - 4) {
      this.last = now;
      this.draw(now / 1000);
    }
    // What stands still needs no second frame.
    const moves = !["idle", "muted", "reconnecting"].includes(this.state);
    if (moves && !(this.reduced.matches && !["hearing", "speaking"].includes(this.state))) this.wake();
    else if (now !== this.last) this.wake();
  }

  draw(t) {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const style = getComputedStyle(canvas);
    const brush = canvas.getContext("2d");
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.fillStyle = style.color;
    const bars = Math.floor(width / PITCH);
    const half = height / 2;
    const heard = this.levels();
    const target = this.state === "speaking" ? heard.assistant : heard.user;
    this.level += (target - this.level) * (target > this.level ? 0.6 : 0.25);
    for (let i = 0; i < bars; i++) {
      const u = bars > 1 ? i / (bars - 1) : 0.5;
      const [reach, alpha] = this.reduced.matches
        ? still(this.state, u, this.level)
        : GAITS[this.state](u, t, i, half, this.level);
      if (!reach) continue;
      const bar = Math.min(half, reach);
      brush.globalAlpha = Math.min(1, alpha);
      brush.beginPath();
      brush.roundRect(i * PITCH + 1, half - bar, 3, bar * 2, 1.5);
      brush.fill();
    }
    brush.globalAlpha = 1;
    if (this.state === "muted") {
      brush.strokeStyle = style.outlineColor; // rust, from the stylesheet
      brush.lineWidth = 2;
      brush.beginPath();
      brush.moveTo(width / 2 - 9, half + 11);
      brush.lineTo(width / 2 + 9, half - 11);
      brush.stroke();
    }
  }
}
