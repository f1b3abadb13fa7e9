// Runs one program, in a worker of its own: it can be stopped at any time, and can't hang the page. What the page and this worker say to each other is data:
// texts, numbers, shapes. A program reaches nothing but machine.mjs.
import { Machine, explain } from "./machine.mjs";

let machine = null, playing = true, waits = false, forked = false, ended = false, failed_at = 0;
let unsent = [], timer = 0;
const say = (message, transfer) => postMessage(message, transfer ?? []);

function send_output() {
    timer = 0;
    if (unsent.length) say({ output: unsent });
    unsent = [];
}
function write(text, is_error) {
    if (!text) return;
    if (unsent.length && unsent.at(-1).error === is_error) unsent.at(-1).text += text; else unsent.push({ text, error: is_error });
    if (performance.now() - failed_at > 100) { failed_at = performance.now(); send_output(); } // so that an endless loop shows what it prints
}

function guarded(work) {
    try {
        return work();
    } catch (error) {
        ended = true;
        send_output();
        say({ crashed: explain(error) });
        return null;
    }
}

// One tick of all sides, and what it drew.
function tick() {
    const world = machine.play(0), fork = forked ? machine.play(1) : null;
    if (!world.goes_on) ended = true;
    frame(world.shapes, fork?.shapes);
}

function frame(world, fork) {
    send_output();
    const sides = [{ shapes: world, alive: machine.alive(0), hash: machine.hash(0) }];
    if (fork) sides.push({ shapes: fork, alive: machine.alive(1), hash: machine.hash(1) });
    waits = true;
    say({ frame: { ...machine.range(), sides, differences: forked ? machine.differences() : 0, view: machine.view, sliders: [...machine.sliders].map(([name, s]) => ({ name, ...s })), ended } },
        sides.filter((side) => side.shapes).map((side) => side.shapes.buffer));
}

let next = 0;
function loop() {
    if (ended || !playing || waits) return;
    const now = performance.now();
    if (now < next) { setTimeout(loop, next - now); return; }
    next = Math.max(next + 1000 / 60, now - 50);
    guarded(tick);
}

const orders = {
    async start(program) {
        machine = new Machine(write);
        try {
            const way = await machine.start(program);
            send_output();
            if (way === "running") { loop(); return; }
            ended = true;
            say({ finished: machine.code });
        } catch (error) {
            ended = true;
            send_output();
            say({ crashed: /^(undefined symbol|the program imports|it printed)/.test(error.message) ? error.message : explain(error) });
        }
    },
    shown() { waits = false; loop(); },
    play(on) { playing = on; next = performance.now(); loop(); },
    step() { if (!ended && !playing) guarded(tick); },
    back(to) { if (!machine?.ticks) return; guarded(() => { playing = false; ended = false; if (machine.back(to)) { forked = false; frame(null); } }); },
    fork() { guarded(() => { forked = machine.fork(); if (!forked) say({ note: "this world can't be forked" }); }); },
    join() { guarded(() => { machine.join(); forked = false; }); },
    slider([name, side, value]) { machine?.slide(name, side, value); },
    entities([side, query]) { guarded(() => say({ entities: { side, text: machine.entities(side, query, 100) } })); },
    schedule() { guarded(() => say({ schedule: machine.schedule() })); },
};

onmessage = ({ data }) => { for (const [order, value] of Object.entries(data)) if (Object.hasOwn(orders, order)) orders[order](value); };
