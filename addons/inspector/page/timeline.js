// The timeline under the top: the duration of each tick, its entities, and which states are recorded. A click looks at a
// recorded state; the arrow keys go on from there.
import { state, on, tell, colour, tip, ns, number, h, get } from "./core.js";
import { canvasOf } from "./plot.js";

const canvas = document.getElementById("ticks");
const bar = 3;
const shown = () => state.rows.slice(-Math.max(10, Math.floor(canvas.clientWidth / bar)));
const cost = r => r[1] || r[3];

function kept(tick) {
  const s = state.server;
  return s.kept > 0 && tick >= s.first && tick <= s.last;
}

export function draw() {
  const [c, width, height] = canvasOf(canvas);
  const rows = shown();
  if (!rows.length) return;
  const sorted = rows.map(cost).sort((a, b) => a - b), most = Math.max(1, sorted[Math.floor(sorted.length * 0.98)] * 1.15);
  const least = Math.min(...rows.map(r => r[2])), many = Math.max(...rows.map(r => r[2]), least + 1);
  const base = height - 12, high = base - 8, left = width - rows.length * bar;
  rows.forEach((r, i) => {
    const tall = Math.max(1, Math.min(1, cost(r) / most) * high), x = left + i * bar;
    c.fillStyle = colour(r[0] === state.at ? "violet" : kept(r[0]) ? "accent" : "bar");
    c.globalAlpha = kept(r[0]) || r[0] === state.at ? 0.9 : 0.55;
    c.fillRect(x, base - tall, bar - 1, tall);
    if (kept(r[0])) { c.globalAlpha = 1; c.fillStyle = colour("coral"); c.fillRect(x, base + 2, bar, 2); }
  });
  c.globalAlpha = 1;
  c.strokeStyle = colour("gold");
  c.lineWidth = 1.4;
  c.beginPath();
  rows.forEach((r, i) => {
    const x = left + i * bar + bar / 2, y = base - 3 - (r[2] - least) / (many - least) * (high - 6);
    if (i) c.lineTo(x, y); else c.moveTo(x, y);
  });
  c.stroke();
  c.font = "10.5px ui-monospace, monospace";
  c.textAlign = "left";
  const labels = [["faint", "tick up to " + ns(Math.round(most))], ["gold", "entities " + number(least) + " … " + number(many)]];
  c.fillStyle = colour("panel");
  c.globalAlpha = 0.82;
  c.fillRect(0, 0, 16 + Math.max(...labels.map(l => c.measureText(l[1]).width)), 33);
  c.globalAlpha = 1;
  labels.forEach(([name, text], i) => { c.fillStyle = colour(name); c.fillText(text, 8, 14 + 13 * i); });
  const i = rows.findIndex(r => r[0] === state.at);
  if (i >= 0) {
    c.strokeStyle = colour("violet");
    c.beginPath();
    c.moveTo(left + i * bar + 1, 0);
    c.lineTo(left + i * bar + 1, height);
    c.stroke();
  }
  canvas.setAttribute("aria-valuemin", state.server.first ?? 0);
  canvas.setAttribute("aria-valuemax", state.server.last ?? 0);
  canvas.setAttribute("aria-valuenow", typeof state.at === "number" ? state.at : state.server.last ?? 0);
}

function rowAt(e) {
  const box = canvas.getBoundingClientRect(), rows = shown();
  return rows[Math.floor((e.clientX - box.left - (box.width - rows.length * bar)) / bar)];
}

// The recorded tick before this one.
export function before(tick) {
  return state.rows.map(r => r[0]).findLast(t => t < tick && kept(t)) ?? Math.max(state.server.first ?? 0, tick - 1);
}

export function look(tick) {
  if (tick === state.at) return;
  state.at = tick;
  tell("at", tick);
}

export function lookBy(ticks) {
  const s = state.server;
  if (!s.kept) return;
  const list = state.rows.map(r => r[0]).filter(kept); // of a journal, not every tick is there
  const from = typeof state.at === "number" ? list.findLastIndex(t => t <= state.at) : list.length - 1;
  if (list.length) look(list[Math.max(0, Math.min(list.length - 1, from + ticks))]);
}

let dragging = false;
canvas.addEventListener("pointerdown", e => { dragging = true; canvas.setPointerCapture(e.pointerId); scrub(e); });
canvas.addEventListener("pointermove", e => {
  const r = rowAt(e);
  if (dragging) scrub(e);
  tip(r ? `tick ${r[0]}\n${ns(r[1])} a tick, ${ns(r[3])} in all\n${number(r[2])} entities\n${kept(r[0]) ? "recorded: click to look" : "not recorded"}` : "", e.clientX, e.clientY);
});
canvas.addEventListener("pointerup", () => { dragging = false; });
canvas.addEventListener("pointerleave", () => tip(""));
function scrub(e) {
  const r = rowAt(e);
  if (r && kept(r[0])) look(r[0]);
}

// ---- what is looked at ----

const viewing = document.getElementById("viewing");
function show() {
  viewing.replaceChildren();
  if (state.at === null) return;
  const s = state.server;
  const text = state.at === "step" ? `after ${s.step_system} (${s.step_number} of ${s.step_count})` : "looking at tick " + state.at;
  const hash = h("span.faint.mono");
  viewing.append(hash, h("span.pill", text));
  if (typeof state.at === "number" && state.overview?.writes)
    viewing.append(h("button", { title: "Set the program back to this state", onclick: () => tell("restore", state.at) }, "Go on from here"));
  viewing.append(h("button", { title: "Look at the newest state (Escape)", onclick: () => look(null) }, "Now"));
  if (typeof state.at === "number")
    get("hash", { at: state.at }).then(j => { hash.textContent = "#" + j.hash; }).catch(() => {});
}
on("at", () => { show(); draw(); });
on("server", () => { if (state.at === "step") show(); });
on("ticks", draw);
addEventListener("resize", draw);
