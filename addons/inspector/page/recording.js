// Recording: what it costs is said before it begins, and the bound can be changed before and while it goes on.
import { h, get, post, state, on, bytes, number, time, trying, toast } from "./core.js";

const MIB = 1 << 20, dialog = document.getElementById("recording");

// How many states fit, of `rate` bytes each, if the bound counts what the program has anyway; null: that isn't known.
const fitting = (bound, base, rate) => rate ? Math.max(1, Math.floor((bound - base) / rate)) : null;

function ticksASecond() {
  const rows = state.rows.slice(-60), elapsed = rows.reduce((a, r) => a + r[3], 0) / 1e9;
  return state.server.paused || !elapsed ? null : rows.length / elapsed;
}

const begin = body => trying(post("record", { record: true, ...body }), "Each state is recorded now");

function ask(j) {
  const said = h("p"), bound = h("input.mono", { type: "number", min: 1, value: Math.round(j.bound / MIB), "aria-label": "Bound in MiB" }), speed = ticksASecond();
  const say = () => {
    const n = fitting(bound.value * MIB, j.used - (state.server.kept || 0) * j.rate, j.rate), seconds = speed ? n / speed : null;
    said.replaceChildren(...h("p", "A tick changes about ", h("b", bytes(j.rate)), " of this world", speed ? [", which is ", h("b", bytes(j.rate * speed)), " a second"] : "", ". ",
      n >= j.room ? `The last ${number(j.room)} ticks fit.` : ["So the last ", h("b", number(n)), n === 1 ? " tick fits" : " ticks fit", seconds ? ` (${time(Math.max(seconds, 0.01) * 1e9)})` : "", "; then the oldest states are dropped."]).childNodes);
  };
  const close = () => dialog.close(), go = e => { e.preventDefault(); close(); begin({ bytes: Math.max(1, Math.round(bound.value * MIB)) }); };
  bound.addEventListener("input", say);
  say();
  dialog.replaceChildren(h("form", { onsubmit: go }, h("h2", "Record each state"), said,
    h("p", h("label", "The program may hold at most ", bound, " MiB"), h("span.faint", `; now it holds ${bytes(j.used)}`)),
    h("div.row", h("button.on", { type: "submit" }, "Record"), h("button", { type: "button", onclick: close }, "Cancel"))));
  dialog.showModal();
  dialog.querySelector("button.on").focus();
}

// Begins to record, or asks first where the bound lets only a part of the usual number of states be kept.
export async function record() {
  if (dialog.open) return;
  if (state.server.records) return trying(post("record", { record: false }), "Recording ended");
  const j = await trying(get("recording"));
  if (!j) return;
  const n = fitting(j.bound, j.used - (state.server.kept || 0) * j.rate, j.rate);
  if (n === null || n >= j.room) return begin();
  ask(j);
}

// On the overview: what is recorded, and the bound.
export function recorded(box) {
  const s = state.server;
  if (!s.kept) return box.replaceChildren();
  if (box.contains(document.activeElement)) return; // a bound is being typed
  const bound = h("input.mono", { type: "number", min: 1, value: Math.round(s.bound / MIB), "aria-label": "Bound of the recording in MiB",
    onchange: e => trying(post("record", { bytes: Math.max(1, Math.round(e.target.value * MIB)) }), `At most ${bytes(e.target.value * MIB)} from now on`) });
  box.replaceChildren(h("div.row", h("span", h("b", number(s.kept)), ` recorded ${s.kept === 1 ? "state" : "states"} of at most ${number(s.room)}`, s.rate ? [", about ", h("b", bytes(s.rate)), " a tick"] : "", s.dropped ? `; ${number(s.dropped)} older ones were dropped` : ""),
    h("label.row", "The program may hold at most", bound, "MiB")));
}

let told = false;
on("server", () => {
  const s = state.server;
  if (!s.records || !s.dropped) told = told && s.records;
  else if (!told && s.kept < s.room) {
    told = true;
    toast(`The bound of ${bytes(s.bound)} is reached with ${number(s.kept)} states: the oldest ones are dropped from now on`);
  }
});
