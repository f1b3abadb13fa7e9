// The page as a whole: the stream of events, time, tabs, keys.
import { h, get, post, listen, state, on, tell, number, bytes, time, load, keep, trying, toast, choose, loadTypes } from "./core.js";
import { draw as drawTimeline, look, lookBy } from "./timeline.js";
import { overview } from "./overview.js";
import { entities, ask } from "./entities.js";
import { systems } from "./systems.js";
import { changes, askAll, askWho } from "./changes.js";
import { tables, types, tree } from "./lists.js";
import { whatif } from "./whatif.js";
import { events } from "./events.js";
import { sql } from "./sql.js";
import { record } from "./recording.js";
import { show as showEntity } from "./entity.js";

const views = { overview, entities, systems, changes, tables, types, tree, whatif, events };
const view = document.getElementById("view"), tabs = document.getElementById("tabs");
const button = id => document.getElementById(id);

// ---- the theme ----

function theme(name) {
  document.documentElement.dataset.theme = name;
  keep("theme", name);
  drawTimeline();
  tell("ticks");
}
document.documentElement.dataset.theme = load("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

// ---- tabs ----

function open(name) {
  views[state.tab].close();
  state.tab = name;
  location.hash = name;
  view.replaceChildren();
  view.scrollTop = 0;
  for (const t of tabs.children) t.setAttribute("aria-selected", t.dataset.tab === name);
  views[name].open(view);
}
const addTab = name => tabs.append(h("button", { role: "tab", "data-tab": name, onclick: () => open(name) }, views[name].name, h("kbd", (tabs.children.length + 1) % 10)));
Object.keys(views).forEach(addTab);
on("tab", open);
on("query", q => { ask(q); open("entities"); });
on("who", x => { askWho(x); open("changes"); });
function compare(from, to) {
  askAll();
  open("changes");
  button("from").value = from;
  button("to").value = to;
  button("to").dispatchEvent(new Event("input"));
}
on("compare", ends => compare(...ends));
on("at", () => { if (views[state.tab].moved) views[state.tab].moved(); else views[state.tab].refresh?.(view); });
on("when", async x => { // a query or a field, with a bound
  if (x.q === "") return toast("Type a query first");
  const j = await trying(get("when", { ...x, before: typeof state.at === "number" ? state.at - 1 : undefined }));
  if (!j) return;
  if (j.tick === null) return toast("It didn't become true in the recorded ticks" + (j.oldest === null ? ": nothing is recorded" : ", back to " + j.oldest));
  look(j.tick);
  toast("It became true in tick " + j.tick);
});

// ---- time ----

const control = (body, good) => trying(post("control", body), good);
async function pause() { look(null); await control({ pause: !state.server.paused }); }
async function step() { look(null); await control({ step: 1 }); setTimeout(refresh, 120); }
async function stepSystem() {
  const j = await control({ step: "system" });
  if (!j) return;
  if (j.done) { look(null); toast("The tick is over"); setTimeout(refresh, 120); return; }
  state.server = { ...state.server, paused: true, step_system: j.system, step_number: j.number, step_count: j.count };
  state.at = "step";
  tell("at", "step");
}
on("restore", async tick => { if (await control({ restore: tick }, "Set back to tick " + tick)) { state.rows = state.rows.filter(r => r[0] <= tick); look(null); refresh(); } });
button("pause").onclick = pause;
button("step").onclick = step;
button("step-system").onclick = stepSystem;
button("record").onclick = record;
button("speed").onchange = e => control({ speed: Number(e.target.value) });
button("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

function showTime() {
  const s = state.server, o = state.overview, last = state.rows[state.rows.length - 1];
  button("pause").textContent = s.paused ? "Go on" : "Pause";
  button("pause").classList.toggle("on", !!s.paused);
  button("record").classList.toggle("on", !!s.records);
  const word = innerWidth < 480 ? "" : s.records ? "Recording " : "Recorded "; // a phone has room for the number alone
  button("record").lastChild.textContent = s.kept ? word + number(s.kept) : "Record";
  button("record").title = (s.records ? "Stop recording (r)" : "Record each state, to go back to it (r)") + (s.kept ? `: ${number(s.kept)} states, ${bytes(s.rate)} a tick; the program holds ${bytes(s.used)} of at most ${bytes(s.bound)}` : "");
  if (s.speed && document.activeElement !== button("speed")) button("speed").value = String(s.speed);
  for (const id of ["pause", "step", "step-system", "speed"]) button(id).disabled = !o?.writes;
  button("live").className = "dot " + (!state.connected ? "gone" : s.paused ? "paused" : "live");
  button("clock").replaceChildren(...(!state.connected ? ["not connected"] : ["tick ", h("b", number(last ? last[0] : o?.tick)), o ? `  ${time(o.time_ns)}  ` : "", h("b", number(last ? last[2] : o?.entities)), " entities"]));
}

// ---- what the program tells ----

const told = {
  ticks: rows => {
    for (const r of rows) {
      const last = state.rows[state.rows.length - 1];
      if (last && r[0] <= last[0]) state.rows = state.rows.filter(x => x[0] < r[0]);
      state.rows.push(r);
    }
    state.rows = state.rows.slice(-4096);
    showTime();
    if (!document.hidden) tell("ticks");
  },
  state: server => {
    const was = state.server;
    state.server = server;
    if (state.at === "step" && !state.server.step_number) look(null);
    if (typeof state.at === "number" && state.server.kept && state.at < state.server.first) look(state.server.first);
    showTime();
    tell("server");
    drawTimeline();
    if (was.paused !== state.server.paused) refresh();
    if (state.server.futures && was.futures !== state.server.futures && was.speed && state.tab !== "whatif") toast("Ticks were played again: What if shows both futures");
  },
};
const connected = is => { state.connected = is; showTime(); };

// Listens as long as the page is open, and begins anew two seconds after the stream has ended.
async function connect() {
  for (;; await new Promise(f => setTimeout(f, 2000))) {
    await listen("stream", { after: state.next }, () => connected(true), (event, data) => told[event]?.(data)).catch(() => {});
    connected(false);
  }
}

async function refresh() {
  try {
    state.overview = await get("overview");
    button("title").textContent = state.overview.title;
    document.title = state.overview.title + " · reef inspector";
    state.connected = true;
  } catch (e) {
    if (e.status === 401) return view.replaceChildren(h("p.empty", "The token of this page is missing or no longer valid. Open the address that the program printed."));
    if (!e.status) state.connected = false;
  }
  showTime();
  tell("overview");
  if (state.at === null) {
    if (!["overview"].includes(state.tab)) views[state.tab].refresh?.(view);
    showEntity();
  }
}

// ---- keys ----

addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  const typing = e.target.matches("input, textarea, select");
  if (e.key === "Escape") {
    if (typing) return e.target.blur();
    if (state.chosen !== null) return choose(null);
    return look(null);
  }
  if (typing || (e.key === " " && e.target.matches("button"))) return;
  const n = e.key === "0" ? 10 : Number(e.key), names = Object.keys(views);
  if (n >= 1 && n <= names.length) { e.preventDefault(); return open(names[n - 1]); } // the key isn't typed into what has the focus then
  const keys = { " ": pause, ".": step, ",": stepSystem, r: record, t: button("theme").onclick, ArrowLeft: () => lookBy(e.shiftKey ? -10 : -1), ArrowRight: () => lookBy(e.shiftKey ? 10 : 1), "/": () => { open("entities"); button("query").select(); } };
  if (!keys[e.key] || (e.key.startsWith("Arrow") && e.target.id === "entities")) return;
  e.preventDefault();
  keys[e.key]();
});

await refresh();
if (state.overview?.sql) { views.sql = sql; addTab("sql"); }
await loadTypes().catch(e => toast(e.message));
const past = await get("ticks", { limit: 1000 }).catch(() => ({ rows: [], next: 0 }));
state.rows = past.rows;
state.next = past.next;
connect();
open(views[location.hash.slice(1)] ? location.hash.slice(1) : "overview");
if (new URLSearchParams(location.search).has("beside")) compare("now", "beside");
setInterval(() => { if (!document.hidden) refresh(); }, 1000);
