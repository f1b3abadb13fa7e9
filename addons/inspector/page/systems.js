// Systems: the schedule as a picture, who waits for whom and why, how long each takes, threads over time.
import { h, svg, get, post, save, state, number, ns, tip, colour, trying, series } from "./core.js";
import { canvasOf } from "./plot.js";

const wide = 158, tall = 40, gapX = 46, gapY = 12;
let root, picture, about, table, threads, traceButton, observers, explainBox, list = [], chosen = null, timer, sort = "order";

const classOf = kind => ["writes", "sums"].includes(kind) ? "writes" : kind === "reads" ? "reads" : ["sends", "receives"].includes(kind) ? "events" : "commands";
const average = s => s.runs ? s.time_ns / s.runs : 0;

// Why a later system waits for an earlier one: what both touch, and one of them writes.
function reasons(a, b) {
  const uses = s => new Map(s.touches.filter(t => ["reads", "writes", "sums", "sends", "receives"].includes(t[0])).map(t => [t[1] + (t[0][0] === "s" && t[0] !== "sums" || t[0] === "receives" ? "!" : ""), t[0]]));
  const x = uses(a), y = uses(b), out = [];
  for (const [type, how] of x) if (y.has(type) && !(how === "reads" && y.get(type) === "reads")) out.push(`${a.name} ${how} ${type.replace("!", "")}, ${b.name} ${y.get(type)} it`);
  return out;
}

// Columns by how long the chain of waiting is; within a phase, arrows that follow from others are left out.
function layout() {
  const depth = [];
  list.forEach((s, i) => { depth[i] = s.waits.length ? 1 + Math.max(...s.waits.map(w => depth[w])) : 0; });
  const before = list.map(() => new Set());
  list.forEach((s, i) => { for (const w of s.waits) { before[i].add(w); for (const x of before[w]) before[i].add(x); } });
  const direct = list.map(s => s.waits.filter(w => !s.waits.some(o => o !== w && before[o].has(w))));
  return { depth, direct };
}

function draw() {
  const { depth, direct } = layout(), place = [];
  const phases = [...new Set(list.map(s => s.phase))];
  const longest = Math.max(1, ...list.map(average));
  let y = 6;
  const nodes = [], lines = [], labels = [];
  for (const phase of phases) {
    const inside = list.map((s, i) => i).filter(i => list[i].phase === phase), filled = new Map();
    labels.push(svg("text", { x: 4, y: y + 12, class: "time" }, phase));
    y += 20;
    for (const i of inside) {
      const row = filled.get(depth[i]) || 0;
      filled.set(depth[i], row + 1);
      place[i] = [6 + depth[i] * (wide + gapX), y + row * (tall + gapY)];
    }
    y += Math.max(...filled.values()) * (tall + gapY) + 10;
  }
  list.forEach((s, i) => {
    for (const w of direct[i]) {
      const [x0, y0] = place[w], [x1, y1] = place[i], a = x0 + wide, b = y0 + tall / 2, c = x1, d = y1 + tall / 2, m = Math.max(22, (c - a) / 2);
      const kind = chosen === i ? "waits" : chosen === w ? "holds" : "";
      lines.push(svg("path", { d: `M${a},${b} C${a + m},${b} ${c - m},${d} ${c},${d}`, class: kind }));
    }
    const [x, top] = place[i], label = s.name.length > 20 ? s.name.slice(0, 19) + "…" : s.name;
    nodes.push(svg("g", { class: "node" + (s.on ? "" : " off") + (chosen === i ? " chosen" : ""), onclick: () => { chosen = chosen === i ? null : i; draw(); tell(); },
      onmousemove: e => tip(`${s.name}\n${s.runs ? ns(Math.round(average(s))) + " a run, longest " + ns(s.longest_ns) : "not measured"}\n${s.split ? "split into jobs" : "one job"}${s.main_thread ? ", main thread" : ""}`, e.clientX, e.clientY), onmouseleave: () => tip("") },
      svg("rect", { class: "system", x, y: top, width: wide, height: tall, rx: 7 }),
      svg("rect", { class: "bar-of", x: x + 8, y: top + tall - 7, width: Math.max(0, (wide - 16) * average(s) / longest), height: 3, rx: 1.5 }),
      svg("text", { x: x + 9, y: top + 16 }, label), svg("text", { x: x + 9, y: top + 29, class: "time" }, s.on ? s.runs ? ns(Math.round(average(s))) : "" : "off")));
  });
  const width = 20 + Math.max(1, ...place.map(p => p[0] + wide));
  picture.replaceChildren(svg("svg", { width, height: y, viewBox: `0 0 ${width} ${y}`, role: "img", "aria-label": "The schedule" }, lines, labels, nodes));
}

function tell() {
  if (chosen === null || !list[chosen]) return about.replaceChildren(h("p.faint", "A system stands to the right of those that it waits for. Choose one to see what it touches, and why it waits."));
  const s = list[chosen];
  about.replaceChildren(h("div.row", h("b", s.name), h("span.faint", `phase ${s.phase}${s.module ? ", module " + s.module : ""}${s.split ? ", split into jobs" : ", one job"}${s.main_thread ? ", main thread" : ""}${s.on ? "" : ", off"}${s.interval_ns ? ", every " + ns(s.interval_ns) : ""}`)),
    h("p", s.touches.map(([kind, type]) => h("span.chip." + classOf(kind), kind + (type ? " " + type : ""))), s.touches.length ? null : h("span.faint", "It declares nothing.")),
    s.waits.map(w => h("div", "waits for ", h("b", list[w].name), h("span.faint", ": " + (reasons(list[w], s).join("; ") || "their declarations conflict")))));
}

function drawTable() {
  const all = list.reduce((a, s) => a + s.time_ns, 0) || 1;
  const order = { order: () => 0, name: (a, b) => a.name.localeCompare(b.name), time: (a, b) => average(b) - average(a), rows: (a, b) => b.rows / (b.runs || 1) - a.rows / (a.runs || 1) }[sort];
  const head = (name, key, cls) => h("th.sorts" + (cls || ""), { onclick: () => { sort = key; drawTable(); } }, name + (sort === key && key !== "order" ? " ↓" : ""));
  table.replaceChildren(h("table", h("thead", h("tr", head("System", "name"), head("Phase", "order"), head("A run", "time", ".number"), h("th.number", "Longest"), head("Rows", "rows", ".number"), h("th.number", "Blocks"), h("th", "Share"))),
    h("tbody", list.map((s, i) => [s, i]).sort((a, b) => order(a[0], b[0])).map(([s, i]) => {
      const bar = h("i");
      bar.style.width = 100 * s.time_ns / all + "%";
      return h("tr" + (i === chosen ? ".chosen" : ""), { onclick: () => { chosen = i; draw(); tell(); drawTable(); } }, h("td", s.name), h("td.faint", s.phase), h("td.number", ns(Math.round(average(s)))), h("td.number", ns(s.longest_ns)),
        h("td.number", s.runs ? number(Math.round(s.rows / s.runs)) : "–"), h("td.number", s.runs ? number(Math.round(s.blocks / s.runs)) : "–"), h("td", h("div.bar", { title: (100 * s.time_ns / all).toFixed(1) + "%" }, bar)));
    }))));
}

// ---- threads over time ----

async function drawThreads() {
  const j = await trying(get("spans", { after: 0 }));
  if (!root || !j) return;
  traceButton.textContent = j.on ? "Stop recording spans" : "Record spans";
  traceButton.classList.toggle("on", j.on);
  threads.hidden = !j.spans.length;
  if (!j.spans.length) return;
  const lastTick = j.spans[j.spans.length - 1][2], ticks = [...new Set(j.spans.map(s => s[2]))].filter(t => t < lastTick || state.server.paused).slice(-3);
  const spans = j.spans.filter(s => ticks.includes(s[2]));
  if (!spans.length) return;
  const workers = Math.max(...spans.map(s => s[1])) + 1, begin = Math.min(...spans.map(s => s[3])), end = Math.max(...spans.map(s => s[4]), begin + 1);
  threads.style.height = workers * 26 + 26 + "px";
  const [c, width] = canvasOf(threads), names = list.map(s => s.name), left = 62;
  const X = t => left + (t - begin) / (end - begin) * (width - left - 6);
  c.font = "11px ui-monospace, monospace";
  c.fillStyle = colour("faint");
  for (let w = 0; w < workers; w++) c.fillText("thread " + w, 4, w * 26 + 17);
  const boxes = spans.map(([name, worker, tick, from, to]) => {
    const x = X(from), box = [x, worker * 26 + 3, Math.max(1, X(to) - x), 20, name, tick, to - from];
    c.fillStyle = colour(series[Math.max(0, names.indexOf(name)) % series.length]);
    c.globalAlpha = name === list[chosen]?.name ? 1 : 0.72;
    c.fillRect(...box.slice(0, 4));
    c.globalAlpha = 1;
    c.fillStyle = colour("on-accent");
    if (c.measureText(name).width < box[2] - 6) c.fillText(name, x + 3, worker * 26 + 17);
    return box;
  });
  c.fillStyle = colour("faint");
  c.fillText(`ticks ${ticks[0]} … ${ticks[ticks.length - 1]}, ${ns(end - begin)}`, left, workers * 26 + 18);
  threads.onmousemove = e => {
    const box = threads.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    const hit = boxes.find(b => x >= b[0] && x <= b[0] + b[2] + 1 && y >= b[1] && y <= b[1] + b[3]);
    tip(hit ? `${hit[4]}\n${ns(hit[6])}, tick ${hit[5]}` : "", e.clientX, e.clientY);
  };
  threads.onmouseleave = () => tip("");
}

async function fetchAll() {
  const j = await trying(get("systems"));
  if (!j || !root) return;
  const same = j.systems.length === list.length && j.systems.every((s, i) => s.name === list[i].name);
  list = j.systems;
  if (!same) chosen = null;
  draw();
  if (!same) tell();
  drawTable();
  explainBox.textContent = j.explain || "";
  observers.replaceChildren(j.observers.length ? h("table", h("thead", h("tr", h("th", "Observer"), h("th", "is told of"), h("th", "Type"), h("th", ""))), h("tbody", j.observers.map(o => h("tr", h("td", o.name), h("td", o.events.join(", ")), h("td", o.type || "–"), h("td.faint", o.collected ? "collected" : "at once"))))) : h("p.faint", "There are none."));
}

export const systems = {
  name: "Systems",
  open(view) {
    root = view;
    picture = h("div.schedule");
    about = h("div");
    table = h("div");
    observers = h("div");
    explainBox = h("pre");
    threads = h("canvas.plot", { hidden: true });
    traceButton = h("button", { onclick: async e => { await trying(post("record", { trace: !e.target.classList.contains("on") })); setTimeout(drawThreads, 300); } }, "Record spans");
    view.append(h("h2", "Schedule"), h("div.panel", picture), h("div.panel", { className: "panel" }, about), h("h3", "Measured"), h("div.panel.scroll", table), h("h3", "Threads over time"),
      h("div.panel", h("div.row", traceButton, h("button", { onclick: () => trying(save("trace", "reef-trace.json")), title: "Open it with ui.perfetto.dev or chrome://tracing" }, "Save as a trace"), h("span.faint", "of the last ticks; for Perfetto and chrome://tracing")), threads),
      h("h3", "Observers"), h("div.panel", observers), h("h3", "The schedule explained"), explainBox);
    tell();
    fetchAll().then(drawThreads);
    timer = setInterval(() => { if (!document.hidden) { fetchAll(); if (traceButton.classList.contains("on")) drawThreads(); } }, 1500);
  },
  refresh() {},
  close() { root = null; list = []; clearInterval(timer); },
};
