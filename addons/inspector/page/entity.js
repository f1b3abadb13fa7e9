// One entity, beside the views: its components with fields that can be edited, pinned and asked about, and its relations.
import { h, get, post, state, on, tell, at, toast, trying, valueText, choose, keep, loadTypes } from "./core.js";
import { look } from "./timeline.js";

const side = document.getElementById("side");
let shownFor = null;

// A number as it is typed: without spaces between its digits.
const plain = n => Number.isInteger(n) ? String(n) : String(+n.toPrecision(9));

// Only what is looked at now can be edited.
let gone = false; // the last recorded state of it is shown, since it was destroyed
const writable = () => state.overview?.writes && state.at === null && !gone;

async function edit(edits, good) {
  if (await trying(post("edit", edits), good)) await show();
}

export function link(id, label) {
  return h("a", { title: "Show " + id, onclick: e => { e.stopPropagation(); choose(id); } }, label || id);
}

// The rarest types first: they tell entities apart. `few` of them.
export function telling(types, few = 4) {
  const sorted = types.filter(t => !t.startsWith("reef")).sort((a, b) => (state.types.get(a)?.count ?? 0) - (state.types.get(b)?.count ?? 0));
  return [...sorted.slice(0, few).map(t => h("span.chip" + (state.types.get(t)?.relation ? ".relation" : ""), t)), sorted.length > few ? h("span.faint", { title: sorted.slice(few).join(", ") }, `and ${sorted.length - few} more`) : null];
}

// The target of a relation: its path or name, or else its id and what it consists of.
function target(t) {
  return h("div.field.wide", h("label", "target"), h("span", t.label ? [link(t.id, t.label), h("span.faint.mono", "  " + t.id)] : [link(t.id), "  ", telling(t.types || [])]));
}

function limits(f, info) {
  return info?.lowest !== undefined ? { min: info.lowest, max: info.highest } : {};
}

function set(entity, component, field, element, number, value) {
  const e = { do: "set", entity: entity.id, component: component.type, field, value };
  if (element) e.element = element;
  if (number) e.number = number;
  return edit([e]);
}

/* A value with names: a list to choose from, or a check box for each bit. A number without a name is an item of its own. */
function namedInput(component, name, names, value, change) {
  const text = String(value), label = component.type + " " + name, items = names.values.map(([n]) => n);
  if (!names.mask) {
    const list = items.includes(text) ? items : [text, ...items];
    return h("select", { "aria-label": label, disabled: !writable(), onchange: e => change(e.target.value) }, list.map(n => h("option", { selected: n === text }, n)));
  }
  const bits = names.values.filter(([, v]) => v !== 0), on = new Set(text === "0" ? [] : text.split("|"));
  return h("span.mask", { role: "group", "aria-label": label }, bits.map(([n]) => h("label", h("input", { type: "checkbox", checked: on.has(n), disabled: !writable(),
    onchange: e => { e.target.checked ? on.add(n) : on.delete(n); change([...on].filter(x => x !== "0").join("|") || "0"); } }), n)));
}

function input(entity, component, name, info, value, element, number) {
  const change = v => set(entity, component, name, element, number, v);
  if (info.names) return namedInput(component, name, info.names, value, change);
  if (info.kind === "bool") return h("input", { type: "checkbox", checked: value, disabled: !writable(), onchange: e => change(e.target.checked) });
  const isNumber = !["text", "entity"].includes(info.kind);
  const box = h("input", { value: value === null ? "" : isNumber && typeof value === "number" ? plain(value) : value, spellcheck: false,
    inputMode: isNumber ? "decimal" : "text", disabled: !writable(), "aria-label": component.type + " " + name });
  box.addEventListener("keydown", e => { if (e.key === "Enter") box.blur(); if (e.key === "Escape") { box.value = box.defaultValue; box.blur(); } });
  box.addEventListener("focus", () => { box.defaultValue = box.value; });
  box.addEventListener("change", () => {
    if (box.value === box.defaultValue) return;
    const text = box.value.trim(), n = Number(text);
    change(info.kind === "entity" ? text || null : isNumber && text !== "" && Number.isFinite(n) && Math.abs(n) < 2 ** 53 ? n : text);
  });
  return box;
}

function pinned(entity, component, field) {
  return state.pins.some(p => p.id === entity.id && p.component === component.type && p.field === field);
}

function pinButton(entity, component, field) {
  const now = pinned(entity, component, field);
  return h("button.plain.pin" + (now ? ".on" : ""), { title: now ? "Take the pin away" : "Pin: draw its curve over the recorded ticks", onclick: () => {
    state.pins = now ? state.pins.filter(p => !(p.id === entity.id && p.component === component.type && p.field === field))
      : [...state.pins, { id: entity.id, name: entity.name, component: component.type, field }];
    keep("pins", state.pins);
    tell("pins");
    show();
  } }, "pin");
}

async function whenChanged(entity, component, field) {
  const before = typeof state.at === "number" ? state.at - 1 : undefined;
  const j = await trying(get("when", { id: entity.id, component: component.type, field, before }));
  if (!j) return;
  if (j.tick === null) toast("It didn't change in the recorded ticks" + (j.oldest === null ? ": nothing is recorded" : ", back to " + j.oldest));
  else { look(j.tick); toast("It changed in tick " + j.tick); tell("who", { id: entity.id, component: component.type, tick: j.tick }); }
}

function fieldRows(entity, component, value, number) {
  const type = state.types.get(component.type);
  if (value === null || typeof value !== "object") return [h("div.field", h("label", "bytes"), h("span.value", valueText(value)), "")];
  return Object.entries(value).flatMap(([name, v]) => {
    const info = type?.fields.find(f => f.name === name) || { kind: "text" };
    const isNumber = !["text", "entity", "bool"].includes(info.kind);
    const isRanged = isNumber && !info.names && info.lowest !== undefined;
    if (Array.isArray(v) && v.length > 16) return [h("div.field", h("label", { title: name }, `${name} [${v.length}]`), h("span.value", { title: JSON.stringify(v) }, valueText(v)), "")];
    const list = Array.isArray(v) ? v : [v];
    return list.flatMap((x, i) => {
      const box = input(entity, component, name, info, x, i, number);
      const rows = [h("div.field", h("label", { title: name + (info.unit ? " in " + info.unit : "") }, name + (list.length > 1 ? ` [${i}]` : "")),
        h("span.enter", box, h("span.unit", info.unit || "")),
        h("span", isNumber && list.length === 1 && !number ? pinButton(entity, component, name) : null,
          h("button.plain", { title: "When did it change last?", onclick: () => whenChanged(entity, component, name) }, "when")))];
      if (isRanged && list.length === 1)
        rows[0].append(h("input", { type: "range", ...limits(v, info), step: Number.isInteger(info.lowest) && !info.kind.startsWith("f") ? 1 : (info.highest - info.lowest) / 400,
          value: x, disabled: !writable(), title: `${info.lowest} … ${info.highest}`, "aria-label": name,
          oninput: e => { box.value = plain(Number(e.target.value)); }, onchange: e => set(entity, component, name, 0, number, info.kind.startsWith("f") ? Number(e.target.value) : Math.round(e.target.value)) }));
      return rows;
    });
  });
}

function componentBox(entity, c) {
  const type = state.types.get(c.type), values = c.values || [];
  const box = h("section.component" + (c.disabled ? ".disabled" : ""), h("header", h("span", c.type, h("small", c.disabled ? "disabled" : c.home === "table" ? "" : c.home)),
    writable() ? h("span", h("button.plain", { title: c.disabled ? "Enable" : "Disable", onclick: () => edit([{ do: "enable", entity: entity.id, component: c.type, on: !!c.disabled }]) }, c.disabled ? "enable" : "disable"),
      h("button.plain", { title: "Remove " + c.type, onclick: () => edit([{ do: "remove", entity: entity.id, component: c.type }]) }, "remove")) : null));
  if (c.targets) box.append(...c.targets.map(target));
  else values.forEach((v, i) => box.append(...fieldRows(entity, c, v, values.length > 1 ? i : 0)));
  if (!values.length && !type?.size) box.firstChild.firstChild.append(h("small", "tag"));
  return box;
}

function addBox(entity) {
  const has = new Set(entity.components.map(c => c.type));
  const list = [...state.types.values()].filter(t => !has.has(t.name) && !t.relation && !t.name.startsWith("reef")).map(t => t.name).sort();
  return h("select", { "aria-label": "Add a component", onchange: e => { if (e.target.value) edit([{ do: "add", entity: entity.id, component: e.target.value }]); } },
    h("option", { value: "" }, "Add a component …"), list.map(n => h("option", n)));
}

function render(e) {
  gone = !!e.gone;
  const name = h("input", { value: e.name || "", placeholder: "no name", disabled: !writable(), "aria-label": "Name",
    onchange: x => edit([{ do: "name", entity: e.id, name: x.target.value || null }]) });
  const scroll = side.scrollTop;
  side.replaceChildren(...h("div",
    h("div.row", h("div.title.grow", h("b.mono", e.id), e.enabled ? null : h("span.chip", "disabled"), h("span.faint", "tick " + e.tick)),
      h("button.plain", { title: "Close (Escape)", onclick: () => choose(null) }, "✕")),
    e.gone ? h("p", "It was destroyed behind tick ", h("a", { title: "Look at this tick", onclick: () => look(e.tick) }, e.tick), ": this is the last recorded state of it.") : null,
    h("div.row", name,
      h("button", { title: "What changed of it, and which system did it", onclick: () => tell("who", { id: e.id }) }, "Who changed it?")),
    e.components.map(c => componentBox(e, c)),
    e.sources.map(s => h("section.component", h("header", h("span", s.type, h("small", "to it: " + s.count))),
      h("div.field", h("span.value", s.sources.slice(0, 50).flatMap(([id, label], i) => [i ? ", " : "", link(id, label)]), s.count > 50 ? " …" : "")))),
    writable() ? h("div.row", addBox(e), h("button", { onclick: () => edit([{ do: "destroy", entity: e.id }], "Destroyed " + e.id) }, "Destroy")) : null,
    state.overview?.writes ? h("div.row", h("button", { title: "Play two futures from here: with it and without it", onclick: () => { state.edits.push({ do: "destroy", entity: e.id }); tell("tab", "whatif"); } }, "What if it were gone?")) : null,
    state.at !== null || e.gone ? h("p.faint", e.gone ? "" : "This is the past: look at now to edit.") : !state.overview?.writes ? h("p.faint", "The program allows no writes.") : null).childNodes);
  side.scrollTop = scroll;
}

// Of an entity that was destroyed since its list was made, while nothing is recorded: what the list knows of it.
function lastSeen(row) {
  return [h("p", h("b", row.name || ""), row.name ? " " : "", "It was destroyed since the list showed it" + (row.tick !== undefined ? `, behind tick ${row.tick}` : "") + ". This is what the list showed:"),
    ...row.types.map(t => h("section.component", h("header", h("span", t)), row.values?.[t] && typeof row.values[t] === "object" ? Object.entries(row.values[t]).map(([k, v]) => h("div.field", h("label", k), h("span.value", valueText(v)), "")) : null)),
    h("p.faint", "Pause the program (space) to look at entities that don't live long, or record (r) to look at them afterwards.")];
}

export async function show() {
  const id = state.chosen;
  side.hidden = id === null;
  if (id === null) return;
  if (side.contains(document.activeElement) && document.activeElement.matches("input:not([type=range])") && shownFor === id) return;
  shownFor = id;
  try {
    const e = await get("entity", { id, at: at() });
    if (e.components.some(c => !state.types.has(c.type))) await loadTypes();
    if (state.chosen === id) render(e);
  } catch (x) {
    if (state.chosen === id) side.replaceChildren(h("div.row", h("div.title.grow", h("b.mono", id)), h("button.plain", { title: "Close", onclick: () => choose(null) }, "✕")), ...(x.status === 404 && state.row ? lastSeen(state.row) : [h("p.error", x.message)]));
  }
}
on("choose", show);
on("at", show);
