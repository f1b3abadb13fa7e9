// The list of entities that match a query: rows are fetched when they are scrolled to. The query is completed while it is
// typed, and its plan explained.
import { h, get, state, at, valueText, number, later, choose, keep, toast, tell } from "./core.js";

const high = 30, chunk = 100, tallest = 8000000;
let text = "", total = 0, pages = new Map(), columns = [], drawn = [], serial = 0, explain = false, plan = "";
let flying = 0, needed = [];
let root, atLeast, input, offers, under, list, inner, planBox;

// ---- which values to show ----

function typesOf(query) {
  const without = query.replace(/\([^)]*\)/g, " ");
  return [...without.matchAll(/(!)?\??\s*([A-Za-z_][\w.]*)/g)].filter(m => !m[1] && state.types.has(m[2])).map(m => m[2]);
}

const MOST_TYPES = 12;
let asked = [], differing = [], shared = [], common = new Map(); // types whose values are asked for; fields that differ in the rows; types that nearly all rows have; how many have each

function columnsOf(query) {
  const columns = [];
  for (const name of typesOf(query)) {
    const type = state.types.get(name);
    for (const f of type.fields) if (columns.length < 6 && !(type.relation && f.name === "place")) columns.push({ type: name, field: f.name, unit: f.unit });
  }
  return columns;
}

// A query names what is to be shown. Where room is left, the fields follow in which these rows differ: those that most rows have first.
function compare(rows) {
  const counts = new Map(), named = new Set(columns.map(c => c.type + " " + c.field));
  for (const row of rows) for (const t of row.types) counts.set(t, (counts.get(t) || 0) + 1);
  common = counts;
  shared = rows.length > 1 ? [...counts.keys()].filter(t => counts.get(t) >= 0.9 * rows.length) : [];
  differing = [];
  for (const name of asked) {
    const type = state.types.get(name), having = rows.filter(r => r.values?.[name] && typeof r.values[name] === "object");
    for (const f of type.relation ? [] : type.fields) {
      if (named.has(name + " " + f.name) || having.length < 2) continue;
      const values = new Set(having.map(r => JSON.stringify(r.values[name][f.name])));
      if (values.size > 1) differing.push({ type: name, field: f.name, unit: f.unit, rows: having.length, values: values.size });
    }
  }
  differing.sort((a, b) => b.rows - a.rows || !!b.unit - !!a.unit || b.values - a.values);
  differing = differing.filter((c, i) => differing.slice(0, i).filter(x => x.type === c.type).length < 2);
}

// Types whose values tell rows apart, perhaps: those with fields, which most of the rows have.
function candidates(rows) {
  const counts = new Map();
  for (const row of rows) for (const t of row.types) if (state.types.get(t)?.fields.length && !state.types.get(t).relation) counts.set(t, (counts.get(t) || 0) + 1);
  return [...counts.entries()].sort((a, b) => b[1] - a[1]).slice(0, MOST_TYPES).map(([t]) => t);
}

const nameWidth = () => innerWidth > 860 ? 180 : 110;
const shownColumns = () => {
  const room = Math.floor((list.clientWidth - 96 - (list.classList.contains("nameless") ? 0 : nameWidth()) - 220) / 112);
  return [...columns, ...differing.slice(0, Math.max(0, Math.min(6, room) - columns.length))];
};

// ---- rows ----
//
// Only the rows in view are in the page. Browsers bound how high an element can be (some at 16 million pixels), so a long
// list is `tallest` pixels high, and a pixel of the scroll bar stands for more than one.

const viewHeight = () => Math.max(high, list.clientHeight - high);
const scale = () => { const rows = total * high, view = viewHeight(); return rows > tallest ? (rows - view) / (tallest - view) : 1; };

function lines() {
  const rows = total * high, k = scale(), top = list.scrollTop * k;
  inner.style.height = Math.min(rows, tallest) + high + "px";
  const first = Math.max(0, Math.floor(top / high) - 4), last = Math.min(total, first + Math.ceil(list.clientHeight / high) + 8);
  drawn = shownColumns();
  inner.replaceChildren(h("div.heads", h("span.c-id", "entity"), h("span.c-name", "name"), drawn.map(c => h("span.c-value", { title: c.type + "." + c.field + (c.unit ? " in " + c.unit : "") }, h("small", c.type), c.field + (c.unit ? " " + c.unit : ""))),
    h("span.c-types", shared.length ? "components beside those" : "components")));
  needed = [];
  for (let i = first; i < last; i++) {
    const n = Math.floor(i / chunk), page = pages.get(n), row = page?.rows?.[i % chunk];
    if ((!page || (page.serial !== serial && !page.waits)) && !needed.includes(n)) needed.push(n);
    const line = h("div.line" + (row ? "" : ".waits") + (row && row.id === state.chosen ? ".chosen" : ""));
    line.style.top = high + i * high - (top - list.scrollTop) + "px";
    if (row) line.append(...cells(row));
    else line.append(h("span.c-id", "…"));
    if (row) line.addEventListener("click", () => { choose(row.id, { ...row, tick: page.tick }); lines(); });
    inner.append(line);
  }
  fetchNeeded();
}

// Scrolls so that a row is in view.
function reveal(i) {
  const k = scale(), top = list.scrollTop * k, y = i * high, view = viewHeight();
  if (y < top) list.scrollTop = y / k;
  else if (y + high > top + view) list.scrollTop = Math.ceil((y + high - view) / k);
}

// Of a row that has what nearly all have, only what it has beside that; the rarest first, since it tells rows apart.
function chipsOf(row) {
  const types = shared.every(t => row.types.includes(t)) ? row.types.filter(t => !shared.includes(t)) : [...row.types];
  return types.sort((a, b) => common.get(a) - common.get(b));
}

function cells(row) {
  return [h("span.c-id", row.id), h("span.c-name", row.name || (row.of ? h("span.faint", { title: "An instance of " + row.of }, row.of) : "")),
    ...drawn.map(c => h("span.c-value", { title: c.type + "." + c.field }, row.values?.[c.type] ? valueText(row.values[c.type][c.field]) : "")),
    h("span.c-types", { title: row.types.join(", ") }, chipsOf(row).map(t => h("span.chip" + (state.types.get(t)?.relation ? ".relation" : ""), t)))];
}

const parameters = n => ({ q: text, at: at(), offset: n * chunk, limit: chunk, show: asked.join(",") });

// Three requests at a time at most, for what is in view: not for all that a quick hand scrolls past.
function fetchNeeded() {
  while (flying < 3 && needed.length) fetchPage(needed.shift());
}

// Rows of a page: until the new ones are there, the old ones are shown.
async function fetchPage(n) {
  const mine = serial, old = pages.get(n), map = pages;
  pages.set(n, { ...old, waits: true });
  flying++;
  try {
    const j = await get("entities", parameters(n));
    flying--;
    if (!root || map !== pages) return;
    pages.set(n, { rows: j.rows, serial: mine, tick: j.tick });
    compare(rowsThere());
    if (pages.size > 40) for (const k of pages.keys()) if (Math.abs(k - n) > 10) pages.delete(k);
    total = j.total;
    showCount(j);
    lines();
  } catch (e) {
    flying--;
    map.delete(n);
    if (e.status === 429) setTimeout(() => { if (root) lines(); }, 300);
  }
}

function showCount(j) {
  under.replaceChildren(h("span", h("b", number(total)), total === 1 ? " entity" : " entities"), h("span.faint", ` in tick ${j.tick}`), shared.length ? h("span.shared", h("span.faint", rowsThere().every(r => shared.every(t => r.types.includes(t))) ? "these rows have" : "most of these rows have"), shared.map(t => h("span.chip" + (state.types.get(t)?.relation ? ".relation" : ""), t))) : "");
}

const rowsThere = () => [...pages.values()].flatMap(p => p.rows || []);

// Asks for the page that is in view; `anew`: the query is another one, so that the list begins at its top.
async function run(anew = false) {
  const mine = ++serial, n = anew ? 0 : Math.floor(list.scrollTop * scale() / high / chunk);
  let j;
  try {
    if (anew) {
      columns = columnsOf(text);
      asked = [...new Set(columns.map(c => c.type))];
      const first = await get("entities", { ...parameters(0), show: "" });
      asked = [...new Set([...asked, ...candidates(first.rows)])].slice(0, 16);
    }
    j = await get("entities", parameters(n));
  } catch (e) {
    if (mine !== serial || !root) return;
    input.classList.add("bad");
    under.replaceChildren(h("span.error", e.message));
    return;
  }
  if (mine !== serial || !root) return;
  input.classList.remove("bad");
  total = j.total;
  if (anew) { pages = new Map(); list.scrollTop = 0; }
  pages.set(n, { rows: j.rows, serial: mine, tick: j.tick });
  compare(rowsThere());
  list.classList.toggle("nameless", ![...pages.values()].some(p => p.rows?.some(r => r.name || r.of)));
  showCount(j);
  lines();
  if (explain) showPlan();
}

async function showPlan() {
  planBox.hidden = !explain;
  if (!explain) return;
  try {
    const j = await get("explain", { q: text, at: at() });
    plan = j.good ? j.explain : j.error;
  } catch (e) { plan = e.message; }
  planBox.textContent = plan;
}

// ---- completion ----

let offered = [], picked = 0;
function word() {
  const end = input.selectionStart, before = input.value.slice(0, end), m = before.match(/[A-Za-z_][\w.]*$/);
  return m ? { from: end - m[0].length, to: end, text: m[0] } : null;
}

function offer() {
  const w = word();
  offered = [];
  if (w && w.text.length && !input.value.startsWith('"')) {
    const low = w.text.toLowerCase();
    const words = [...state.types.values()].filter(t => !t.name.startsWith("reef")).map(t => [t.name, t.relation ? "relation" : t.size ? number(t.count) : "tag " + number(t.count)]);
    words.push(["in", "only read"], ["out", "only written"], ["with", "a filter"], ["changed", "since the last run"], ["disabled", "only disabled"]);
    offered = words.filter(([n]) => n.toLowerCase().includes(low) && n !== w.text)
      .sort((a, b) => b[0].toLowerCase().startsWith(low) - a[0].toLowerCase().startsWith(low) || a[0].localeCompare(b[0])).slice(0, 12);
  }
  picked = 0;
  drawOffers();
}

function drawOffers() {
  offers.hidden = !offered.length;
  offers.replaceChildren(...offered.map(([name, about], i) => h("div" + (i === picked ? ".chosen" : ""), { onmousedown: e => { e.preventDefault(); picked = i; take(); } }, name, h("span", about))));
}

function take() {
  const w = word();
  if (!w || !offered[picked]) return;
  input.value = input.value.slice(0, w.from) + offered[picked][0] + input.value.slice(w.to);
  input.selectionStart = input.selectionEnd = w.from + offered[picked][0].length;
  offered = [];
  drawOffers();
  typed();
}

const typed = later(() => { text = input.value.trim(); run(true); }, 150);

function key(e) {
  if (offered.length && ["ArrowDown", "ArrowUp", "Tab", "Enter", "Escape"].includes(e.key)) {
    e.preventDefault();
    e.stopPropagation();
    if (e.key === "ArrowDown") picked = (picked + 1) % offered.length;
    else if (e.key === "ArrowUp") picked = (picked + offered.length - 1) % offered.length;
    else if (e.key === "Escape") offered = [];
    else return take();
    return drawOffers();
  }
  if (e.key === "Enter") { text = input.value.trim(); run(true); }
  if (e.key === "ArrowDown") { list.focus(); move(1); }
}

// The rows by keyboard.
function move(by) {
  const loaded = i => pages.get(Math.floor(i / chunk))?.rows?.[i % chunk];
  let now = -1;
  for (const [n, p] of pages) { const k = (p.rows || []).findIndex(r => r.id === state.chosen); if (k >= 0) now = n * chunk + k; }
  if (now < 0) now = Math.floor(list.scrollTop * scale() / high) - by; // none is chosen: the first one in view
  const next = Math.max(0, Math.min(total - 1, now + by));
  reveal(next);
  if (loaded(next)) choose(loaded(next).id, { ...loaded(next), tick: pages.get(Math.floor(next / chunk)).tick });
  lines();
}

const keysOfList = { ArrowDown: () => move(1), ArrowUp: () => move(-1), PageDown: () => move(Math.floor(viewHeight() / high)), PageUp: () => move(-Math.floor(viewHeight() / high)),
  End: () => { list.scrollTop = list.scrollHeight; }, Home: () => { list.scrollTop = 0; } };

export const entities = {
  name: "Entities",
  open(view) {
    root = view;
    input = h("input", { value: text, placeholder: 'Position, !Frozen     "part of a name"     7v1', spellcheck: false, autocomplete: "off", id: "query", "aria-label": "Query", oninput: () => { offer(); typed(); }, onkeydown: key, onblur: () => { offered = []; drawOffers(); } });
    offers = h("div.offers", { hidden: true });
    under = h("div.under");
    planBox = h("pre", { hidden: !explain });
    atLeast = h("input.mono", { type: "number", min: 1, value: 1, "aria-label": "At least so many", id: "at-least" });
    inner = h("div.inner", h("div.heads"));
    list = h("div.list", { tabIndex: 0, id: "entities", "aria-label": "Entities", onscroll: lines, onkeydown: e => { if (keysOfList[e.key]) { e.preventDefault(); keysOfList[e.key](); } } }, inner);
    view.append(h("div.row", h("div.query", input, offers),
      h("button" + (explain ? ".on" : ""), { id: "explain", title: "How the query finds them", onclick: e => { explain = !explain; e.target.classList.toggle("on", explain); showPlan(); } }, "Explain"),
      h("button", { title: "Watch: count them over time, on the overview", onclick: () => {
        if (!text || state.watches.includes(text)) return toast(text ? "It is watched already" : "Type a query first");
        state.watches = [...state.watches, text];
        keep("watches", state.watches);
        toast("Watched on the overview");
      } }, "Watch"),
      h("button", { title: "The last recorded tick in which so many began to match", onclick: () => tell("when", { q: text, above: Math.max(0, (Number(atLeast.value) || 1) - 1) }) }, "When?"),
      h("label.faint.bound", "at least", atLeast)),
    under, planBox, list);
    pages = new Map();
    run(true);
    input.focus({ preventScroll: true });
  },
  refresh() { if (!list.matches(":active")) run(); },
  close() { root = null; serial++; },
};
export function ask(query) { text = query; }
addEventListener("resize", () => { if (root) lines(); });
