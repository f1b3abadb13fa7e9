// What changed between two states, and which system did it.
import { h, get, state, trying, number, valueText, toast } from "./core.js";
import { link } from "./entity.js";
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

function show(j) {
  const summary = j.systems ? h("div.panel", h("div.row", h("b.grow", `Tick ${j.tick}: who did it`), h("span", { className: j.exact ? "faint" : "error" }, j.exact ? "played again, with the same result" : "played again, it came out different: something outside of the systems changed the world, or the tick can't be repeated")),
    h("table", h("tbody", j.systems.filter(s => s.total).map(s => h("tr", h("td", h("span.chip" + (s.system ? ".by" : ".outside"), s.system || "outside of systems")), h("td.number", number(s.total)), h("td", Object.entries(s.counts).map(([k, n]) => h("span.chip.kind-" + k.split(" ")[0], [words[k.split(" ")[0]], ...k.split(" ").slice(1), number(n)].join(" "))))))))) : null;
  const counts = j.counts ? h("p", Object.entries(j.counts).map(([k, n]) => h("span.chip.kind-" + k.split(" ")[0], [words[k.split(" ")[0]], ...k.split(" ").slice(1), number(n)].join(" ")))) : null;
  result.replaceChildren(...[summary, h("h3", `${number(j.total)} change${j.total === 1 ? "" : "s"}${j.changes.length < j.total ? `, of which ${j.changes.length} are shown` : ""}`), counts,
    j.changes.length ? h("div.panel.scroll", h("table", h("thead", h("tr", h("th", "Entity"), h("th", "What"), h("th", "Values"), j.systems ? h("th", "By") : null)),
      h("tbody", j.changes.map(c => h("tr", h("td", link(c.id), c.name ? h("div.faint", c.name) : null), h("td", h("span.kind-" + c.kind, words[c.kind]), " ", c.component || "entity"), h("td", fields(c)), j.systems ? h("td", by(c)) : null))))) : h("p.empty", "Nothing changed.")].filter(Boolean));
}

async function run(playing) {
  clearTimeout(pending); // what was typed is read here
  const mine = ++serial, a = from.value.trim(), b = to.value.trim(), filter = { id: filterId.value.trim(), component: filterType.value };
  asked = { id: filter.id, component: filter.component, tick: null };
  if (!state.server.kept && !/step|with/.test(a + b)) return result.replaceChildren(h("p.empty", "Nothing is recorded. Press Record (r) above: from then on each state is kept."));
  result.classList.add("faint");
  try {
    const j = playing ? await get("who", { tick: b, ...filter, limit: 300 }) : await get("diff", { from: a, to: b, ...filter, limit: 300 });
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
