// Tables, types with singletons, and the tree of a relation.
import { h, get, state, at, number, bytes, trying, tell, choose, valueText, loadTypes } from "./core.js";
import { link, telling } from "./entity.js";

export const tables = {
  name: "Tables",
  async open(view) {
    const j = await trying(get("tables", { at: at() }));
    if (!j) return;
    const all = j.tables.reduce((a, t) => a + t.bytes, 0), rows = j.tables.reduce((a, t) => a + t.rows, 0), most = Math.max(1, ...j.tables.map(t => t.bytes));
    view.replaceChildren(h("h2", "Tables"), h("p.faint", `${number(j.tables.length)} tables with ${number(rows)} rows, ${bytes(all)} of values and handles. Entities with the same components share a table.`),
      h("div.panel.scroll", h("table", h("thead", h("tr", h("th", "Components"), h("th.number", "Rows"), h("th.number", "Bytes a row"), h("th.number", "Bytes"), h("th", ""))),
        h("tbody", [...j.tables].sort((a, b) => b.bytes - a.bytes).map(t => {
          const bar = h("i");
          bar.style.width = 100 * t.bytes / most + "%";
          return h("tr", h("td", h("a", { title: "The entities with these components", onclick: () => tell("query", t.types.join(", ")) }, t.types.map(n => h("span.chip", n)))), h("td.number", number(t.rows)), h("td.number", number(t.row_bytes)), h("td.number", bytes(t.bytes)), h("td", h("div.bar", bar)));
        })))));
  },
  refresh(view) { if (state.server.paused || state.at !== null) this.open(view); },
  close() {},
};

export const types = {
  name: "Types",
  async open(view) {
    const j = await trying(get("types", { at: at() }));
    if (!j) return;
    const single = await get("entity", { id: "singletons", at: at() }).catch(() => null);
    const singles = single?.id ? h("div.panel", h("div.row", h("b.grow", "Singletons"), link(single.id)), single.components.map(c => h("div", h("span.chip", c.type), h("span.faint.mono", " " + valueText(c.values?.[0] ?? "").slice(0, 160))))) : null;
    view.replaceChildren(...[h("h2", "Types"), singles, singles ? h("h3", "All types") : null,
      h("div.panel.scroll", h("table", h("thead", h("tr", h("th", "Type"), h("th", "Home"), h("th.number", "Bytes"), h("th.number", "Entities"), h("th", "Fields"))),
        h("tbody", j.types.filter(t => t.count || t.fields.length).sort((a, b) => b.count - a.count || a.name.localeCompare(b.name)).map(t => h("tr",
          h("td", h("a", { title: "The entities that have it", onclick: () => tell("query", t.name) }, t.name), t.base ? h("div.faint", "is a " + t.base) : null, t.relation ? h("div", h("span.chip.relation", ["relation", ...t.relation].join(", "))) : null),
          h("td.faint", t.size ? t.home : t.home === "bit" ? "switch" : "tag"), h("td.number", t.size || ""), h("td.number", number(t.count)),
          h("td", t.fields.length ? t.fields.slice(0, 24).map(f => h("span.chip", { title: f.kind + (f.names ? `, ${f.names.name}: ${f.names.values.map(([n]) => n).join(", ")}` : "") + (f.lowest !== undefined ? `, ${f.lowest} … ${f.highest}` : "") }, f.name + (f.count > 1 ? `[${f.count}]` : "") + (f.unit ? " " + f.unit : ""))) : t.size ? h("span.faint", "no fields are declared") : ""))))))].filter(Boolean));
  },
  refresh(view) { if (state.server.paused || state.at !== null) this.open(view); },
  close() {},
};

// ---- the tree ----

let chosen = null, relation = "ChildOf"; // what somebody has chosen; what is shown
const opened = new Set();

async function branch(box, parent, offset = 0) {
  const j = await trying(get("tree", { relation, parent, at: at(), offset, limit: 200 }));
  if (!j) return;
  if (!offset) box.replaceChildren();
  for (const n of j.rows) {
    const children = h("div.children", { hidden: true });
    const twist = h("button.twist", { "aria-label": "Open", onclick: () => {
      children.hidden = !children.hidden;
      twist.textContent = children.hidden ? "▸" : "▾";
      if (children.hidden) opened.delete(n.id);
      else { opened.add(n.id); branch(children, n.id); }
    } }, n.children ? "▸" : "");
    box.append(h("div.node", twist, h("a", { onclick: () => choose(n.id) }, n.label), n.types ? [" ", telling(n.types, 3)] : null, n.children ? h("span.faint", "  " + number(n.children)) : null), children);
    if (n.children && opened.has(n.id)) { children.hidden = false; twist.textContent = "▾"; branch(children, n.id); }
  }
  const left = j.total - offset - j.rows.length;
  if (left > 0) { const more = h("div.node", h("a", { onclick: () => { more.remove(); branch(box, parent, offset + j.rows.length); } }, `${number(left)} more`)); box.append(more); }
  if (!j.total && !parent) box.replaceChildren(h("p.empty", `No entity is related by ${relation}.`));
}

// The relation that the tree opens with: ChildOf if it has members, or the one with most of them that has a root.
async function first(relations) {
  const sorted = [...relations].sort((a, b) => (b.count > 0) - (a.count > 0) || (b.name === "ChildOf") - (a.name === "ChildOf") || b.count - a.count);
  for (const t of sorted.slice(0, 8).filter(t => t.count)) {
    const j = await get("tree", { relation: t.name, at: at(), limit: 1 }).catch(() => null);
    if (j?.total) return t.name;
  }
  return sorted[0]?.name || "ChildOf";
}

export const tree = {
  name: "Tree",
  async open(view) {
    await loadTypes().catch(() => {});
    const relations = [...state.types.values()].filter(t => t.relation);
    const shown = relations.some(t => t.name === chosen) ? chosen : await first(relations), box = h("div.panel");
    if (state.tab !== "tree") return;
    relation = shown;
    view.replaceChildren(h("h2", "Tree"), h("div.row", "of the relation", h("select", { "aria-label": "Relation", onchange: e => { relation = chosen = e.target.value; opened.clear(); branch(box); } },
      relations.map(t => h("option", { value: t.name, selected: t.name === relation }, `${t.name} (${number(t.count)})`))), h("span.faint", "sources stand below their target, in their order")), h("p"), box);
    branch(box);
  },
  refresh(view) { if (state.server.paused || state.at !== null) this.open(view); },
  close() {},
};
