// What all views share: elements, requests, the state of the page, numbers as texts.

// h("div.card", {onclick: f}, "text", child): texts are always text, never markup.
export function h(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const e = document.createElement(tag || "div");
  if (classes.length) e.className = classes.join(" ");
  for (const x of rest.flat(9)) {
    if (x === null || x === undefined || x === false) continue;
    if (typeof x !== "object") e.append(String(x));
    else if (x instanceof Node) e.append(x);
    else for (const [name, value] of Object.entries(x)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
      else if (name in e && name !== "list") e[name] = value;
      else e.setAttribute(name, value === true ? "" : value);
    }
  }
  return e;
}

export function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value);
  }
  e.append(...children.flat().filter(x => x !== null && x !== undefined));
  return e;
}

// The state of the page. `at` is the tick that is looked at, "step", or null: now.
export const state = {
  at: null, tab: "overview", chosen: null, row: null, overview: null, types: new Map(), rows: [], server: {}, connected: false,
  pins: load("pins", []), watches: load("watches", []), edits: [],
};

const listeners = new Map();
export function on(event, f) { listeners.set(event, [...(listeners.get(event) || []), f]); }
export function tell(event, data) { for (const f of listeners.get(event) || []) f(data); }

export function load(name, otherwise) {
  try { return JSON.parse(localStorage.getItem("reef." + name)) ?? otherwise; } catch { return otherwise; }
}
export function keep(name, value) {
  try { localStorage.setItem("reef." + name, JSON.stringify(value)); } catch { /* private windows keep nothing */ }
}

// ---- requests ----

// The program prints an address with the token behind #, which no browser sends to a server. This tab keeps it, for this address and
// port alone, and sends it as a header. (A cookie would go to every server on this machine, whatever its port.)
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return false;
  sessionStorage.setItem("reef.token", token);
  history.replaceState(null, "", location.pathname);
  return true;
}
takeToken();
addEventListener("hashchange", () => { if (takeToken()) location.reload(); }); // the address of another run, in the same tab

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

// In a page that has the program itself (?page), that page answers, over a port that it gives: {id, address, body} gets {id, status, text}.
const inside = new URLSearchParams(location.search).has("page") && window.parent !== window;
const asked = new Map();
let port = null;
const port_given = !inside ? null : new Promise(done => {
  addEventListener("message", e => {
    if (port || e.source !== window.parent || e.origin !== location.origin || !e.ports[0]) return;
    port = e.ports[0];
    port.onmessage = ({ data }) => { asked.get(data.id)?.(data); asked.delete(data.id); };
    done();
  });
  window.parent.postMessage("inspector", location.origin);
});

async function askPage(address, body) {
  await port_given;
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-"), answer = new Promise(done => asked.set(id, done));
  port.postMessage({ id, address, body });
  const { status, text } = await answer;
  return new Response(text, { status });
}

// What the stream of a server tells, asked for again and again.
async function listenPage(parameters, opened, told) {
  let after = parameters.after, last = "";
  opened();
  for (;; await new Promise(f => setTimeout(f, document.hidden ? 1000 : 200))) {
    const j = await get("news", { after });
    after = j.next;
    if (j.ticks.length) told("ticks", j.ticks);
    const state = JSON.stringify(j.state);
    if (state !== last) told("state", j.state);
    last = state;
  }
}

async function ask(path, parameters = {}, more = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  const text = query.toString(), headers = { Authorization: "Bearer " + sessionStorage.getItem("reef.token"), ...more.headers };
  const address = "/api/" + path + (text ? "?" + text : "");
  const reply = inside ? await askPage(address, more.body) : await fetch(address, { ...more, headers, credentials: "omit" });
  if (reply.ok) return reply;
  const j = await reply.json().catch(() => ({}));
  throw new Refused(reply.status, j.error || reply.statusText);
}

// get("entities", {q: "Position", at: 7})
export async function get(path, parameters, signal = undefined) { return (await ask(path, parameters, { signal })).json(); }

export async function post(path, body) {
  return (await ask(path, {}, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
}

// Reads a stream of events until it ends: opened() when it begins, told(event, data) for each. (EventSource can't send the token.)
export async function listen(path, parameters, opened, told) {
  if (inside) return listenPage(parameters, opened, told);
  const reply = await ask(path, parameters);
  opened();
  let text = "";
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const e of events) {
      const lines = new Map(e.split("\n").map(line => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]));
      told(lines.get("event"), JSON.parse(lines.get("data")));
    }
  }
}

// Saves what a path answers as a file.
export async function save(path, name) {
  const bytes = await (await ask(path)).blob(), link = h("a", { href: URL.createObjectURL(bytes), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export async function trying(promise, good) {
  try {
    const j = await promise;
    if (good) toast(good);
    return j;
  } catch (e) {
    if (e.name !== "AbortError") toast(e.message);
    return null;
  }
}

let toasting;
export function toast(text) {
  const e = document.getElementById("toast");
  e.textContent = text;
  e.classList.add("show");
  clearTimeout(toasting);
  toasting = setTimeout(() => e.classList.remove("show"), 3200);
}

export function tip(text, x, y) {
  const e = document.getElementById("tip");
  e.style.display = text ? "block" : "none";
  if (!text) return;
  e.textContent = text;
  const width = e.offsetWidth, height = e.offsetHeight;
  e.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 6)) + "px";
  e.style.top = (y + 18 + height > innerHeight ? y - height - 10 : y + 18) + "px";
}

// ---- numbers ----

export function number(n) {
  if (typeof n === "string") return n;
  if (n === null || n === undefined) return "–";
  return Math.abs(n) >= 10000 ? Math.round(n).toLocaleString("en").replaceAll(",", "\u202f") : String(n);
}

export function short(n) {
  if (typeof n !== "number") return n === null || n === undefined ? "–" : String(n);
  if (Number.isInteger(n)) return number(n);
  const size = Math.abs(n);
  return size !== 0 && (size < 0.001 || size >= 1e7) ? n.toExponential(3) : String(+n.toPrecision(6));
}

export function ns(n) {
  if (n === 0) return "0";
  if (!n) return "–";
  if (n < 1e3) return n + " ns";
  if (n < 1e6) return +(n / 1e3).toPrecision(3) + " µs";
  if (n < 1e9) return +(n / 1e6).toPrecision(3) + " ms";
  return +(n / 1e9).toPrecision(4) + " s";
}

export function bytes(n) {
  if (!n) return "0 B";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const k = Math.min(4, Math.floor(Math.log2(n) / 10));
  return +(n / 1024 ** k).toPrecision(3) + " " + units[k];
}

export function time(n) {
  const s = Number(n) / 1e9;
  if (s < 60) return +s.toFixed(2) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
  return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
}

// A value of a field as a text: arrays are cut off.
export function valueText(v) {
  if (v === null || v === undefined) return "null";
  if (Array.isArray(v)) return "[" + v.slice(0, 8).map(valueText).join(", ") + (v.length > 8 ? ", …]" : "]");
  if (typeof v === "object") return Object.entries(v).map(([k, x]) => k + " " + valueText(x)).join(", ");
  return typeof v === "number" ? short(v) : typeof v === "string" ? (v.length > 96 ? v.slice(0, 95) + "…" : v) : String(v);
}

export function at() { return state.at === null ? "now" : state.at; }
export function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
export const series = ["accent", "coral", "violet", "gold", "bar"];

export function later(f, ms) {
  let timer;
  return (...x) => { clearTimeout(timer); timer = setTimeout(() => f(...x), ms); };
}

export async function loadTypes() {
  const j = await get("types", { at: at() });
  state.types = new Map(j.types.map(t => [t.name, t]));
}

// `row`: what a list shows of it, for when it is destroyed before it is asked about.
export function choose(id, row = null) {
  state.chosen = id;
  state.row = row;
  tell("choose", id);
}
