// Pictures as SVG. Colours come from classes of the stylesheet, words from whoever asks.

const SVG = "http://www.w3.org/2000/svg";

export function drawn(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** A picture of this size in its own units, told in one sentence to whoever can't see it. */
export const picture = (width, height, label, ...children) =>
  drawn("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);

export const words = (x, y, text, { cls = null, anchor = null } = {}) =>
  drawn("text", { x, y, class: cls, "text-anchor": anchor }, text);

export const rule = (x1, y1, x2, y2, cls = "rule") => drawn("line", { x1, y1, x2, y2, class: cls });

export const box = (x, y, width, height, cls, rx = null) =>
  drawn("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), class: cls, rx });

/** A line through points [[x, y], …]. */
export const line = (points, cls) =>
  drawn("path", { class: cls, d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") });

export const dot = (x, y, r, cls) => drawn("circle", { cx: x, cy: y, r, class: cls });

/** Round steps up to `most`, at most `n` of them: 0, 300, 600, 900. */
export function steps(most, n = 4) {
  if (most <= 0) return [0];
  const raw = most / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}
