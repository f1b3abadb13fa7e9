// The overview: what the world contains, how long ticks take, memory, watched queries, pinned fields.
import { h, get, state, on, at, number, ns, bytes, time, keep, series, short, choose, tell, colour } from "./core.js";
import { curves } from "./plot.js";
import { look } from "./timeline.js";
import { recorded } from "./recording.js";

const memoryParts = [["rows", "rows", "accent"], ["stores", "other homes", "violet"], ["index", "index", "gold"], ["tables", "tables", "coral"], ["events", "events", "bar"], ["bits", "bits", "bar"], ["names", "names", "bar"], ["hashes", "hashes", "bar"], ["tracks", "stamps", "bar"], ["spare", "spare", "line"]];
const counted = new Map(); // query -> [[tick, count], ...]
let root, cards, memory, recording, duration, many, watches, pins, error, timer;

function card(name, big, small) {
  return h("div.card", h("div.name", name), h("div.big", big), h("div.small", small || "\u00a0"));
}

function draw() {
  const o = state.overview;
  if (!root || !o) return;
  const rows = state.rows.slice(-60), elapsed = rows.reduce((a, r) => a + r[3], 0) / 1e9;
  const last = state.rows[state.rows.length - 1];
  const average = o.measured.ticks ? o.measured.time_ns / o.measured.ticks : 0;
  cards.replaceChildren(
    card("Tick", number(o.tick), time(o.time_ns) + " of its time"),
    card("A tick takes", ns(Math.round(average)), `longest ${ns(o.measured.longest_ns)}`),
    card("Ticks a second", o.paused ? "paused" : elapsed ? short(+(rows.length / elapsed).toPrecision(3)) : "–", `${o.threads} thread${o.threads === 1 ? "" : "s"}`),
    card("Entities", number(last ? last[2] : o.entities), `${number(o.spawned)} made, ${number(o.destroyed)} destroyed`),
    card("Tables", number(o.tables), `${number(o.blocks)} blocks, ${number(o.moved)} moves`),
    card("Types", number(o.types), `${number(o.names)} names, ${number(o.events)} events wait`));
  error.replaceChildren(o.error ? h("p.error", o.error) : "");
  const all = Math.max(1, o.memory.total);
  memory.replaceChildren(h("div.row", h("b", bytes(o.memory.total)), h("span.faint", state.server.kept ? `with ${number(state.server.kept)} recorded states` : "allocated by this family of worlds")),
    h("div.stack", memoryParts.map(([key, , c]) => { const i = h("i"); i.style.width = 100 * o.memory[key] / all + "%"; i.style.background = colour(c); return i; })),
    h("div.legend", memoryParts.filter(([key]) => o.memory[key]).map(([key, name, c]) => { const i = h("i"); i.style.background = colour(c); return h("span", i, name + " " + bytes(o.memory[key])); })));
  recorded(recording);
  plots();
}

function plots() {
  if (!root) return;
  const rows = state.rows.slice(-400), mark = typeof state.at === "number" ? state.at : undefined;
  curves(duration, [{ name: "tick", colour: "accent", points: rows.map(r => [r[0], r[1] || r[3]]) }], { zero: true, format: y => ns(Math.round(y)), mark });
  curves(many, [{ name: "entities", colour: "gold", points: rows.map(r => [r[0], r[2]]) }], { format: y => number(Math.round(y)), mark });
}

// ---- watches: queries that are counted once a second ----

async function count() {
  for (const q of state.watches) {
    try {
      if (state.server.kept > 1) { counted.set(q, (await get("curve", { q })).points); continue; } // of each recorded state
      const j = await get("explain", { q, at: at() });
      const points = (counted.get(q) || []).filter(p => p[0] < j.tick);
      if (j.good && state.at === null) points.push([j.tick, j.count]);
      counted.set(q, points.slice(-400));
    } catch { return; }
  }
}

function drawWatches() {
  const boxes = state.watches.map((q, n) => {
    const points = counted.get(q) || [], plot = h("canvas.plot.low");
    const box = h("div.panel", h("div.row", h("a.grow.mono", { onclick: () => tell("query", q) }, q), h("b", points.length ? number(points[points.length - 1][1]) : "…"),
      h("button.plain", { title: "Watch it no longer", onclick: () => { state.watches = state.watches.filter(x => x !== q); keep("watches", state.watches); drawWatches(); } }, "✕")), plot);
    requestAnimationFrame(() => curves(plot, [{ name: q, colour: series[n % series.length], points }], { pick: t => look(t), mark: typeof state.at === "number" ? state.at : undefined }));
    return box;
  });
  watches.replaceChildren(...boxes);
  if (!boxes.length) watches.append(h("p.faint", "No query is watched. Type one under Entities and press Watch: it is counted in each recorded state, or once a second."));
}

// "When did it become less than 10?"
function whenRow(p) {
  p.bound ??= {};
  const side = h("select", { "aria-label": "Above or below", onchange: e => { p.bound.side = e.target.value; } }, h("option", { value: "below", selected: p.bound.side !== "above" }, "below"), h("option", { value: "above", selected: p.bound.side === "above" }, "above"));
  const value = h("input.mono", { size: 8, value: p.bound.value ?? "", placeholder: "a number", inputMode: "decimal", "aria-label": "Bound of " + p.field, oninput: e => { p.bound.value = e.target.value; } });
  const ask = () => { if (value.value.trim() !== "") tell("when", { id: p.id, component: p.component, field: p.field, [side.value]: value.value.trim() }); };
  value.addEventListener("keydown", e => { if (e.key === "Enter") ask(); });
  return h("div.row.when", h("span.faint", "when did it become"), side, value, h("button", { title: "Looks at the tick in which it did, last", onclick: ask }, "When?"));
}

async function drawPins() {
  if (pins?.contains(document.activeElement) && document.activeElement.matches("input, select")) return; // a bound is being typed
  if (!state.pins.length) return pins.replaceChildren(h("p.faint", "No field is pinned. Record, choose an entity, and press pin beside a field: its curve over the recorded ticks stands here."));
  const boxes = [];
  for (const [n, p] of state.pins.entries()) {
    let j;
    try { j = await get("curve", { id: p.id, component: p.component, field: p.field, from: Math.max(0, (state.server.last || 0) - 400) }); } catch (e) { j = { points: [], error: e.message }; }
    const plot = h("canvas.plot"), last = j.points.filter(x => x[1] !== null).pop();
    boxes.push(h("div.panel", h("div.row", h("span.grow", h("a.mono", { onclick: () => choose(p.id) }, p.name || p.id), " ", h("b", `${p.component}.${p.field}`), h("span.faint", j.unit ? " in " + j.unit : "")), h("b.mono", last ? short(last[1]) : "–"),
      h("button.plain", { title: "Take the pin away", onclick: () => { state.pins = state.pins.filter(x => x !== p); keep("pins", state.pins); drawPins(); } }, "✕")),
    j.points.length ? whenRow(p) : null, j.points.length ? plot : h("p.faint", j.error || "Nothing is recorded: press Record.")));
    if (j.points.length) requestAnimationFrame(() => curves(plot, [{ name: p.field, colour: series[n % series.length], points: j.points }], { pick: t => look(t), mark: typeof state.at === "number" ? state.at : undefined }));
  }
  pins.replaceChildren(...boxes);
}

export const overview = {
  name: "Overview",
  open(view) {
    root = view;
    cards = h("div.cards");
    memory = h("div");
    recording = h("div", { id: "recorded" });
    duration = h("canvas.plot");
    many = h("canvas.plot");
    watches = h("div.two");
    pins = h("div.two");
    error = h("div");
    view.append(cards, error, h("h3", "Time and entities"), h("div.two", h("div.panel", h("b", "How long a tick takes"), duration), h("div.panel", h("b", "Entities"), many)),
      h("h3", "Memory"), h("div.panel", memory, recording), h("h3", "Pinned fields"), pins, h("h3", "Watched queries"), watches);
    draw();
    count().then(drawWatches);
    drawPins();
    drawWatches();
    timer = setInterval(() => { if (!document.hidden) { count().then(drawWatches); if (state.server.records || state.at !== null) drawPins(); } }, 1000);
  },
  refresh() { draw(); },
  close() { root = null; clearInterval(timer); },
};
on("overview", draw);
on("ticks", plots);
on("at", () => { if (root) { plots(); drawPins(); } });
