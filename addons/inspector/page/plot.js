// Plots on canvas: lines over ticks, and bars.
import { colour, tip, short } from "./core.js";

// Sizes a canvas to its place on the screen. Returns its context and size in CSS pixels.
export function canvasOf(canvas) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return [c, width, height];
}

export function niceStep(range, parts) {
  const raw = range / Math.max(1, parts), power = 10 ** Math.floor(Math.log10(raw || 1));
  return [1, 2, 5, 10].map(k => k * power).find(s => s >= raw) || power;
}

// Curves: [{name, colour, dashed, points: [[x, y], ...]}]; y may be null. `options.mark`: an x to be marked.
export function curves(canvas, list, options = {}) {
  const [c, width, height] = canvasOf(canvas);
  const all = list.flatMap(l => l.points).filter(p => p[1] !== null && Number.isFinite(p[1]));
  if (!all.length || width < 20) return;
  const format = options.format || short;
  let [x0, x1] = [Math.min(...all.map(p => p[0])), Math.max(...all.map(p => p[0]))];
  let [y0, y1] = [Math.min(...all.map(p => p[1])), Math.max(...all.map(p => p[1]))];
  if (options.zero) y0 = Math.min(0, y0);
  if (y0 === y1) { y0 -= Math.abs(y0) * 0.1 || 1; y1 += Math.abs(y1) * 0.1 || 1; }
  if (x0 === x1) x1 = x0 + 1;
  c.font = "11px ui-monospace, monospace";
  const step = niceStep(y1 - y0, height > 100 ? 4 : 2), labels = [];
  for (let y = Math.ceil(y0 / step) * step; y <= y1 + step * 1e-9; y += step) labels.push([y, format(+y.toPrecision(12))]);
  const left = Math.max(...labels.map(l => c.measureText(l[1]).width), 10) + 8, right = 8, top = 7, bottom = 18;
  const X = x => left + (x - x0) / (x1 - x0) * (width - left - right);
  const Y = y => height - bottom - (y - y0) / (y1 - y0) * (height - top - bottom);
  c.fillStyle = colour("faint");
  c.strokeStyle = colour("line");
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const [y, text] of labels) {
    c.beginPath();
    c.moveTo(left, Math.round(Y(y)) + 0.5);
    c.lineTo(width - right, Math.round(Y(y)) + 0.5);
    c.stroke();
    c.fillText(text, left - 5, Y(y));
  }
  c.textBaseline = "alphabetic";
  c.textAlign = "left";
  c.fillText(String(x0), left, height - 4);
  c.textAlign = "right";
  c.fillText(String(x1), width - right, height - 4);
  for (const line of list) {
    c.strokeStyle = colour(line.colour || "accent");
    c.lineWidth = 1.7;
    c.lineJoin = "round";
    c.setLineDash(line.dashed ? [5, 4] : []);
    c.beginPath();
    let open = false;
    for (const [x, y] of line.points) {
      if (y === null || !Number.isFinite(y)) { open = false; continue; }
      if (open) c.lineTo(X(x), Y(y)); else c.moveTo(X(x), Y(y));
      open = true;
    }
    c.stroke();
    if (line.points.length === 1 && all.length) { c.beginPath(); c.arc(X(line.points[0][0]), Y(line.points[0][1]), 2.5, 0, 7); c.fillStyle = c.strokeStyle; c.fill(); }
  }
  c.setLineDash([]);
  if (options.mark !== undefined && options.mark >= x0 && options.mark <= x1) {
    c.strokeStyle = colour("violet");
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(X(options.mark), top);
    c.lineTo(X(options.mark), height - bottom);
    c.stroke();
  }
  canvas.onmousemove = e => {
    const box = canvas.getBoundingClientRect();
    const x = Math.round(x0 + (e.clientX - box.left - left) / (width - left - right) * (x1 - x0));
    const near = l => l.points.reduce((a, p) => a && Math.abs(a[0] - x) <= Math.abs(p[0] - x) ? a : p, null);
    const lines = list.map(l => [l.name, near(l)]).filter(l => l[1]);
    if (lines.length) tip(["tick " + lines[0][1][0], ...lines.map(([n, p]) => n + "  " + (p[1] === null ? "–" : format(p[1])))].join("\n"), e.clientX, e.clientY);
  };
  canvas.onmouseleave = () => tip("");
  canvas.onclick = options.pick ? e => {
    const box = canvas.getBoundingClientRect();
    options.pick(Math.round(x0 + (e.clientX - box.left - left) / (width - left - right) * (x1 - x0)));
  } : null;
}
