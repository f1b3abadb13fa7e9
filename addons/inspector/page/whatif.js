// What if: two forks of a state, one of them edited, both played side by side. And two futures that the program itself has played, such as
// the last ticks with old and with new code.
import { h, get, post, state, number, trying, toast, on, tell, load, keep } from "./core.js";
import { curves } from "./plot.js";

let root, form, result, replayed, shown = null, timer, ticks = 200, watches = "", running = false;

function describe(e) {
  if (e.query) return `destroy everything that matches ${e.query}`;
  if (e.do === "destroy") return `destroy ${e.entity}`;
  if (e.do === "set") return `set ${e.component}.${e.field} of ${e.entity} to ${e.value}`;
  return `${e.do} ${e.component || ""} ${e.do === "add" ? "to" : "of"} ${e.entity}`;
}

function editor() {
  const entity = h("input.mono", { placeholder: "entity, 7v1", size: 11, value: state.chosen || "", "aria-label": "Entity" });
  const kind = h("select", { "aria-label": "Edit" }, ["destroy all", "destroy", "set", "add", "remove"].map(n => h("option", n)));
  const component = h("select", { "aria-label": "Component" }, [...state.types.values()].filter(t => !t.relation).map(t => t.name).sort().map(n => h("option", n)));
  const query = h("input.mono", { placeholder: "a query: Hunter, !Resting", size: 26, "aria-label": "Query", id: "whatif-query" });
  const field = h("select", { "aria-label": "Field" }), value = h("input.mono", { placeholder: "value", size: 9, "aria-label": "Value" });
  const fields = () => {
    field.replaceChildren(...(state.types.get(component.value)?.fields || []).map(f => h("option", f.name)));
    field.hidden = value.hidden = kind.value !== "set";
    component.hidden = kind.value.startsWith("destroy");
    query.hidden = kind.value !== "destroy all";
    entity.hidden = !query.hidden;
  };
  kind.onchange = component.onchange = fields;
  fields();
  return h("div.row", kind, query, entity, component, field, value, h("button", { onclick: () => {
    if (kind.value === "destroy all") {
      if (!query.value.trim()) return toast("Type a query");
      state.edits.push({ do: "destroy", query: query.value.trim() });
      return drawForm();
    }
    if (!/^\d+v\d+$/.test(entity.value.trim())) return toast("An entity looks like 7v1");
    const e = { do: kind.value, entity: entity.value.trim() };
    if (kind.value !== "destroy") e.component = component.value;
    if (kind.value === "set") { e.field = field.value; const n = Number(value.value); e.value = value.value !== "" && Number.isFinite(n) ? n : value.value === "true" ? true : value.value === "false" ? false : value.value; }
    state.edits.push(e);
    drawForm();
  } }, "Add this edit"));
}

function drawForm() {
  const from = typeof state.at === "number" ? `tick ${state.at}` : "now";
  const count = h("input.mono", { type: "number", min: 1, max: 2000, value: ticks, "aria-label": "Ticks", onchange: e => { ticks = Math.max(1, Math.min(2000, Number(e.target.value) || 1)); } });
  const text = h("input.mono.grow", { value: watches, placeholder: "queries to count, separated by ;   Hunter; Position, !Resting", "aria-label": "Queries to count", onchange: e => { watches = e.target.value; } });
  form.replaceChildren(h("p", "The state of ", h("b", from), " is forked twice. These edits are made in one of the two, and both are played for ", count, " ticks. The program's own world isn't touched."),
    h("div.edits", state.edits.map((e, i) => h("div.row", h("span.chip.by", i + 1), h("span.grow.mono", describe(e)), h("button.plain", { title: "Leave it out", onclick: () => { state.edits.splice(i, 1); drawForm(); } }, "✕"))), editor()),
    h("p", h("div.row", text)), h("div.row", h("button.on", { id: "play-whatif", disabled: running || !state.overview?.writes, onclick: play }, running ? "Playing …" : "Play both"),
      running ? h("button", { onclick: () => trying(post("whatif/play", { stop: true })) }, "Stop") : null, state.overview?.writes ? null : h("span.faint", "The program allows no writes.")));
}

// Two futures side by side: a curve of each for everything that is counted.
function sideBySide(j, one, other) {
  return [h("div.two", ["entities", ...j.watches].map((name, k) => {
    const a = j.series.map(r => [r[0], r[1]?.[k] ?? null]), b = j.series.map(r => [r[0], r[2]?.[k] ?? null]), plot = h("canvas.plot");
    const x = a[a.length - 1][1], y = b[b.length - 1][1], d = y - x;
    requestAnimationFrame(() => curves(plot, [{ name: one, colour: "accent", points: a }, { name: other, colour: "coral", dashed: true, points: b }], {}));
    return h("div.panel", h("div.row", h("b.grow.mono", name), h("span", { style: "" }, `${number(x)} → `, h("b", number(y)), h("span.faint", ` (${d > 0 ? "+" : ""}${number(d)}${x ? ", " + (d > 0 ? "+" : "") + (100 * d / x).toFixed(1) + "%" : ""})`))), plot);
  })), h("div.legend", h("span", swatch("accent"), one), h("span", swatch("coral"), other))];
}

function draw(j) {
  if (!root || !j.series?.length) return;
  result.replaceChildren(...[h("h3", `${j.played} of ${j.ticks} ticks from tick ${j.tick}` + (j.error ? ": " + j.error : "")),
    ...sideBySide(j, "without the edits", "with the edits"),
    j.running ? null : h("p", h("a", { onclick: () => tell("compare", ["without", "with"]) }, "What is different at the end?"))].filter(Boolean));
}

// What the program has played again, counted anew whenever it has, or something else is to be counted.
async function drawReplayed() {
  if (!root || !state.server.futures) return replayed?.replaceChildren();
  shown = state.server.futures;
  const j = await trying(get("futures", { q: load("futures", "") }));
  if (!root || !j?.series?.length) return;
  const text = h("input.mono.grow", { value: load("futures", ""), id: "futures-query", placeholder: "queries to count, separated by ;   Hunter; Position, !Resting", "aria-label": "Queries to count in both", onchange: e => { keep("futures", e.target.value); drawReplayed(); } });
  replayed.replaceChildren(h("h2", "Played again"), h("div.panel", h("p", "The program has played ticks ", h("b", j.from), " to ", h("b", j.tick), " again. This is what came of them, with ", h("b", j.names[0]), " and with ", h("b", j.names[1]), "."), h("div.row", text), j.error ? h("p.error", j.error) : ""),
    ...sideBySide(j, ...j.names), h("p", h("a", { onclick: () => tell("compare", ["recorded", "replayed"]) }, "What is different now?")));
}
on("server", () => { if (state.server.futures !== shown) drawReplayed(); });

function swatch(name) { const i = h("i"); i.style.background = `var(--${name})`; return i; }

async function play() {
  running = true;
  drawForm();
  const body = { ticks, edits: state.edits, watches: watches.split(";").map(s => s.trim()).filter(Boolean) };
  if (typeof state.at === "number") body.at = state.at;
  const poll = setInterval(async () => { const j = await get("whatif").catch(() => null); if (j) draw(j); }, 400);
  const j = await trying(post("whatif/play", body));
  clearInterval(poll);
  running = false;
  if (!root) return;
  drawForm();
  draw(j || await get("whatif").catch(() => ({})));
}

export const whatif = {
  name: "What if",
  open(view) {
    root = view;
    form = h("div.panel");
    result = h("div", { id: "futures" });
    replayed = h("div", { id: "replayed" });
    view.append(replayed, h("h2", "What if"), form, result);
    drawReplayed();
    drawForm();
    get("whatif").then(draw).catch(() => {});
  },
  refresh() {},
  moved() { drawForm(); },
  close() { root = null; clearInterval(timer); },
};
