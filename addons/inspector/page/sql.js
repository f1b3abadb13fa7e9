// The prompt for SQL, with its history.
import { h, post, state, at, number, ns, load, keep, tell, choose, loadTypes } from "./core.js";

const MOST = 100; // statements that are remembered
let history = load("sql", []), place = history.length, draft = "", shown = null, running = false;

// An id of SQL as a handle: index + 2^32 * (generation - 1).
const handle = id => `${id % 2 ** 32}v${Math.floor(id / 2 ** 32) + 1}`;
const isId = (name, v) => ["id", "target", "parent"].includes(name) && Number.isSafeInteger(v) && v >= 0;

function cell(name, v) {
  if (v === null) return h("td.faint", "–");
  if (isId(name, v)) return h("td.number", h("a", { title: "Open this entity", onclick: () => choose(handle(v)) }, v));
  const text = String(v);
  return h(typeof v === "number" ? "td.number" : "td", text.length > 200 ? text.slice(0, 199) + "…" : text);
}

function table(a) {
  const rows = `${number(a.rows.length)}${a.more ? " and more" : ""} row${a.rows.length === 1 && !a.more ? "" : "s"}`;
  if (!a.columns.length) return a.changed ? h("p.faint", `${number(a.changed)} row${a.changed === 1 ? "" : "s"} changed`) : null;
  return h("div", h("p.faint", rows + (a.changed ? `, ${number(a.changed)} changed` : "")),
    h("div.panel.scroll", h("table.answer", h("thead", h("tr", a.columns.map((c, k) => h(typeof a.rows[0]?.[k] === "number" ? "th.number" : "th", c)))),
      h("tbody", a.rows.map(r => h("tr", r.map((v, k) => cell(a.columns[k], v))))))));
}

function remember(sql) {
  history = [...history.filter(x => x !== sql), sql].slice(-MOST);
  keep("sql", history);
  place = history.length;
  draft = "";
}

async function run(input, box) {
  const sql = input.value.trim();
  if (!sql || running) return;
  remember(sql);
  running = true;
  box.replaceChildren(h("p.faint", "…"));
  try {
    const j = await post("sql" + (state.at === null ? "" : "?at=" + encodeURIComponent(at())), { sql });
    const changed = j.answers.some(a => a.changed);
    shown = [h("pre.faint.asked", sql), ...j.answers.map(table).filter(Boolean), h("p.faint", ns(j.ns))];
    input.value = "";
    if (changed) { await loadTypes(); tell("choose", state.chosen); }
  } catch (e) {
    shown = [h("p.error", { role: "alert" }, e.message)];
  }
  running = false;
  box.replaceChildren(...shown);
}

// Up in the first line, and down in the last one, go through the history.
function browse(input, by) {
  const before = input.value.slice(0, input.selectionStart), after = input.value.slice(input.selectionEnd);
  if ((by < 0 ? before : after).includes("\n")) return false;
  if (place + by < 0 || place + by > history.length) return true;
  if (place === history.length) draft = input.value;
  place += by;
  input.value = place === history.length ? draft : history[place];
  input.setSelectionRange(input.value.length, input.value.length);
  return true;
}

export const sql = {
  name: "SQL",
  open(view) {
    const box = h("div", { id: "answers" });
    const input = h("textarea.mono", {
      id: "sql", rows: 3, spellcheck: false, "aria-label": "Statements in SQL", placeholder: "select name, x from entities join Position using (id) where x > 10",
      onkeydown: e => {
        const by = e.key === "ArrowUp" ? -1 : e.key === "ArrowDown" ? 1 : 0;
        if (e.shiftKey || e.ctrlKey || e.altKey || e.metaKey) return;
        if (e.key === "Enter") { e.preventDefault(); run(input, box); }
        else if (by && browse(input, by)) e.preventDefault();
      },
    });
    if (shown) box.replaceChildren(...shown);
    const types = [...state.types.values()].filter(t => t.count && t.name).map(t => h("a.chip", { onclick: () => { input.setRangeText(/^\w+$/.test(t.name) ? t.name : `"${t.name}"`, input.selectionStart, input.selectionEnd, "end"); input.focus(); } }, t.name));
    view.replaceChildren(h("h2", "SQL"),
      h("p.faint", "Enter runs, with shift it begins a line; ↑ and ↓ bring earlier statements back. " + (state.overview?.writes ? "Statements that change something change the program's world." : "The program doesn't allow changes.")),
      input, h("div.row", h("button", { id: "run-sql", onclick: () => run(input, box) }, "Run"), h("span.faint", "tables:"), h("a.chip", { onclick: () => { input.value = "select * from entities"; input.focus(); } }, "entities"), types.slice(0, 40)),
      box);
    setTimeout(() => input.focus()); // behind the key that opened it
  },
  close() {},
};
