// What changed between two states, and which system did it.
import { h, get, state, trying, number, valueText, toast } from "./core.js";
import { link, telling } from "./entity.js";
import { before } from "./timeline.js";

let root, from, to, who, filterId, filterType, result, pending, asked = { id: "", component: "", tick: null }, serial = 0;

const words = { gone: "destroyed", born: "made", name: "named", removed: "removed", added: "added", value: "changed", disabled: "disabled", enabled: "enabled" };

function fields(c) {
  if (c.kind === "name") return [h("span.was", c.was || "–"), " → ", h("span.is", c.is || "–")];
  if (c.kind !== "value") return [h("span.faint.mono", c.was !== undefined ? valueText(c.was) : c.is !== undefined ? valueText(c.is) : "")];
  if (typeof c.was !== "object" || c.was === null) return [h("span.was.mono", valueText(c.was)), " → ", h("span.is.mono", valueText(c.is))];
  return Object.keys(c.is).map(k => h("span", h("span.faint", k + " "), h("span.was.mono", valueText(c.was[k])), " → ", h("span.is.mono", valueText(c.is[k])), "  "));
}

function by(c) {
  if (!c.by) return "";
  if (!c.by.length) return h("span.faint", "–");
  return c.by.map(s => h("span.chip" + (s === null ? ".outside" : ".by"), s === null ? "outside of systems" : s));
}

// ---- equal changes are one line, which opens ----

const opened = new Set();
const FEW = 12; // so many changes are all shown

// The values of all lines of a group, or what the entities consist of that were made or destroyed.
function aboutGroup(g, lines) {
  if (g.types) return ["with ", telling(g.types, 6)];
  const names = [...new Set(lines.flatMap(c => c.kind === "value" && c.is && typeof c.is === "object" ? Object.keys(c.is) : []))];
  return names.length ? h("span.faint", names.join(", ")) : "";
}

function byGroup(lines) {
  const names = [...new Set(lines.flatMap(c => c.by || []))];
  return names.length ? by({ by: names }) : "";
}

function line(c, who, inside) {
  return h("tr" + (inside ? ".inside" : ""), h("td", link(c.id), c.name ? h("div.faint", c.name) : null), h("td", h("span.kind-" + c.kind, words[c.kind]), " ", c.component || (inside ? "" : "entity")),
    h("td", c.types ? telling(c.types, 6) : fields(c)), who ? h("td", by(c)) : null);
}

function group(g, lines, who, all) {
  if (g.count === 1 && lines.length) return [line(g.types ? { ...lines[0], types: g.types } : lines[0], who, false)];
  const key = g.kind + " " + (g.component || (g.types || []).join()), rest = g.count - lines.length;
  const inside = [...lines.map(c => line(c, who, true)), rest > 0 ? h("tr.inside", h("td.faint", { colSpan: who ? 4 : 3 }, `${number(rest)} more: name an entity or a component above to see them`)) : null].filter(Boolean);
  const twist = h("button.twist", { "aria-expanded": "false", "aria-label": "Open" });
  const turn = open => {
    twist.textContent = open ? "▾" : "▸";
    twist.setAttribute("aria-expanded", open);
    for (const row of inside) row.hidden = !open;
  };
  const head = h("tr.group", { onclick: () => { if (opened.has(key)) opened.delete(key); else opened.add(key); turn(opened.has(key)); } },
    h("td", twist, " ", h("b", number(g.count)), g.count === 1 ? " entity" : " entities"), h("td", h("span.kind-" + g.kind, words[g.kind]), " ", g.component || ""),
    h("td", aboutGroup(g, lines)), who ? h("td", byGroup(lines)) : null);
  if (all) opened.add(key);
  turn(opened.has(key));
  return [head, ...inside];
}

function show(j) {
  const summary = j.systems ? h("div.panel", h("div.row", h("b.grow", `Tick ${j.tick}: who did it`), h("span", { className: j.exact ? "faint" : "error" }, j.exact ? "played again, with the same result" : "played again, it came out different: something outside of the systems changed the world, or the tick can't be repeated")),
    h("table", h("tbody", j.systems.filter(s => s.total).map(s => h("tr", h("td", h("span.chip" + (s.system ? ".by" : ".outside"), s.system || "outside of systems")), h("td.number", number(s.total)), h("td", Object.entries(s.counts).map(([k, n]) => h("span.chip.kind-" + k.split(" ")[0], [words[k.split(" ")[0]], ...k.split(" ").slice(1), number(n)].join(" "))))))))) : null;
  const lines = j.groups.map(() => []);
  for (const c of j.changes) lines[c.group].push(c);
  result.replaceChildren(...[summary, h("h3", `${number(j.total)} change${j.total === 1 ? "" : "s"}${j.groups.length < j.total ? ` in ${number(j.groups.length)} groups` : ""}`),
    j.total ? h("div.panel.scroll", h("table.changes", h("thead", h("tr", h("th", "Entity"), h("th", "What"), h("th", "Values"), j.systems ? h("th", "By") : null)),
      h("tbody", j.groups.map((g, k) => group(g, lines[k], !!j.systems, j.total <= FEW))))) : h("p.empty", "Nothing changed.")].filter(Boolean));
}

async function run(playing) {
  clearTimeout(pending); // what was typed is read here
  const mine = ++serial, a = from.value.trim(), b = to.value.trim(), filter = { id: filterId.value.trim(), component: filterType.value };
  asked = { id: filter.id, component: filter.component, tick: null };
  if (!state.server.kept && !/step|with|beside|recorded/.test(a + b)) return result.replaceChildren(h("p.empty", "Nothing is recorded. Press Record (r) above: from then on each state is kept."));
  result.classList.add("faint");
  try {
    const lists = { ...filter, limit: 1000, each: filter.id || filter.component ? 300 : 50 };
    const j = playing ? await get("who", { tick: b, ...lists }) : await get("diff", { from: a, to: b, ...lists });
    if (mine === serial && root) show(j);
  } catch (e) {
    if (mine === serial && root) result.replaceChildren(h("p.empty.error", e.message));
  }
  result.classList.remove("faint");
}

function latest() {
  const s = state.server;
  if (state.at === "step") return ["before-step", "step"];
  const tick = asked.tick ?? (typeof state.at === "number" ? state.at : s.last);
  return tick === undefined ? ["", "now"] : [before(tick), tick];
}

export const changes = {
  name: "Changes",
  open(view) {
    root = view;
    const [a, b] = latest(), again = () => { clearTimeout(pending); pending = setTimeout(() => run(false), 250); };
    from = h("input.mono", { value: a, size: 10, id: "from", "aria-label": "From tick", oninput: again });
    to = h("input.mono", { value: b, size: 10, id: "to", "aria-label": "To tick", oninput: again });
    filterId = h("input.mono", { value: asked.id, placeholder: "any entity", size: 11, id: "changes-id", "aria-label": "Entity", oninput: again });
    filterType = h("select", { "aria-label": "Component", onchange: again }, h("option", { value: "" }, "any component"), [...state.types.keys()].sort().map(n => h("option", { selected: n === asked.component }, n)));
    who = h("button", { id: "who", title: "Play this tick again on forks, one system more each time, and compare", onclick: () => run(true) }, "Which system did it?");
    result = h("div", { id: "changes" });
    const by = n => () => { const t = Number(to.value) + n; if (!Number.isFinite(t)) return; to.value = t; from.value = before(t); run(false); };
    view.append(h("h2", "What changed"), h("div.row", "from tick", from, "to", to, h("button", { title: "One tick back", onclick: by(-1) }, "‹"), h("button", { title: "One tick on", onclick: by(1) }, "›"), filterId, filterType, who), result);
    run(asked.tick !== null);
  },
  refresh() {},
  moved() { [from.value, to.value] = latest(); run(false); },
  close() { root = null; serial++; clearTimeout(pending); },
};

// From elsewhere: all changes.
export function askAll() { asked = { id: "", component: "", tick: null }; }

// Asks from elsewhere: who changed this entity?
export function askWho(x) {
  const s = state.server;
  const tick = x.tick ?? (typeof state.at === "number" ? state.at : s.last);
  if (tick === undefined) toast("Nothing is recorded yet: press Record");
  asked = { id: x.id || "", component: x.component || "", tick: tick ?? null };
}
