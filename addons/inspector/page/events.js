// Events: what systems sent in the last ticks, newest first. The program keeps them only while this view asks.
import { h, get, state, number, valueText, choose } from "./core.js";

let root, counts, filter, list, timer, rows = [], next = 0, totals = {}, type = "";

// A value: entities in it are links.
function value(v) {
  if (v === null) return h("span.faint", "–");
  if (typeof v !== "object") return h("span.mono", valueText(v));
  return Object.entries(v).map(([name, x]) => [h("span.faint", name + " "), typeof x === "string" && /^\d+v\d+$/.test(x) ? h("a.mono", { title: "Show " + x, onclick: () => choose(x) }, x) : h("span.mono", valueText(x)), "  "]);
}

function draw() {
  const names = Object.keys(totals);
  counts.replaceChildren(...names.map(n => h("button.plain" + (n === type ? ".on" : ""), { title: n === type ? "Show all types" : "Show only " + n, onclick: () => { type = n === type ? "" : n; rows = []; next = 0; read(); } }, n, " ", h("b", number(totals[n])))));
  if (!names.length) counts.append(h("span.faint", "No system sends or receives events."));
  list.replaceChildren(...rows.slice(-300).reverse().map(([, tick, name, v], i, all) => h("tr", h("td.number", i && all[i - 1][1] === tick ? "" : number(tick)), h("td", h("span.chip.events", name)), h("td", value(v)))));
  filter.textContent = rows.length ? `the last ${Math.min(300, rows.length)}${type ? " of " + type : ""}, newest first` : names.length ? "waiting for the next one" : "";
}

async function read() {
  try {
    const j = await get("events", { after: next, limit: 300, type });
    if (!root) return;
    if (j.next < next) rows = [];
    rows = [...rows, ...j.rows.filter(r => !rows.length || r[0] > rows[rows.length - 1][0])].slice(-300);
    next = j.next;
    totals = j.totals;
    draw();
  } catch { /* the next one asks again */ }
}

export const events = {
  name: "Events",
  open(view) {
    root = view;
    rows = [];
    next = 0;
    counts = h("div.row");
    filter = h("p.faint");
    list = h("tbody");
    view.append(h("h2", "Events"), h("div.panel", counts), filter, h("div.panel.scroll", h("table.events", h("thead", h("tr", h("th.number", "Tick"), h("th", "Type"), h("th", "Value"))), list)));
    read();
    timer = setInterval(() => { if (!document.hidden) read(); }, 500);
  },
  refresh() {},
  close() { root = null; clearInterval(timer); },
};
