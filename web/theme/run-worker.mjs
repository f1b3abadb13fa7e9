// Runs one program, in a worker of its own: it can be stopped at any time, and can't hang the page. What the page and this worker say to each other is data:
// texts, numbers, shapes. A program reaches nothing but machine.mjs.
import { Machine, explain } from "./machine.mjs";

let machine = null, waits = false, forked = false, ended = false, failed_at = 0;
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
    if (fork !== undefined) sides.push({ shapes: fork, alive: machine.alive(1), hash: machine.hash(1) });
    waits = true;
    say({ frame: { ...machine.range(), sides, paused, differences: forked ? machine.differences() : 0, view: machine.view, sliders: [...machine.sliders].map(([name, s]) => ({ name, ...s })), ended } },
        sides.filter((side) => side.shapes).map((side) => side.shapes.buffer));
}

// The inspector says whether the world is paused, since it can be paused from either side.
let next = 0, paused = false;
function control(body) { machine.ask(0, "/api/control", JSON.stringify(body)); }
function loop() {
    if (ended || waits || !machine?.ticks) return;
    if (paused) {
        if (machine.may_play()) guarded(tick); // a tick that was asked for
        return;
    }
    const now = performance.now();
    if (now < next) { setTimeout(loop, next - now); return; }
    next = Math.max(next + 1000 / 60, now - 50);
    guarded(tick);
}

const orders = {
    async start({ program, alive }) {
        machine = new Machine(write);
        // The page takes this address away to stop a program that never returns.
        machine.is_stopped = () => { send_output(); try { const asked = new XMLHttpRequest(); asked.open("GET", alive, false); asked.send(); return asked.status !== 200; } catch { return true; } };
        try {
            const way = await machine.start(program);
            send_output();
            if (way === "running") { loop(); return; }
            ended = true;
            say(way === "stopped" ? { stopped: true, seen: true } : { finished: machine.code, seen: machine.is_seen() });
        } catch (error) {
            ended = true;
            send_output();
            say({ crashed: /^(undefined symbol|the program imports|it printed)/.test(error.message) ? error.message : explain(error) });
        }
    },
    shown() { waits = false; loop(); },
    play(on) { if (machine?.ticks) guarded(() => { control({ pause: !on }); paused = !on; next = performance.now(); frame(null, forked ? null : undefined); loop(); }); },
    step() { if (!ended && machine?.ticks) guarded(() => { paused = true; control({ step: 1 }); loop(); }); },
    back(to) { if (!machine?.ticks) return; guarded(() => { paused = true; control({ pause: true }); ended = false; if (machine.back(to)) { forked = false; frame(null); } }); },
    // A question of the inspector's views. Asking may pause the world, let it go on, or set it back.
    ask([id, side, address, body]) {
        guarded(() => {
            const was = machine.ticks && machine.range().now, answer = machine.ask(side, address, body);
            say({ answered: { id, ...answer } });
            if (!machine.ticks || body === undefined || side !== 0) return;
            const told = JSON.parse(machine.ask(0, "/api/news", undefined).text).state;
            if (told) paused = told.paused;
            if (machine.range().now !== was) ended = false;
            frame(null, forked ? null : undefined);
            next = performance.now();
            loop();
        });
    },
    fork() { guarded(() => { forked = machine.fork(); if (!forked) say({ note: "this world can't be forked" }); }); },
    join() { guarded(() => { machine.join(); forked = false; }); },
    slider([name, side, value]) { machine?.slide(name, side, value); },
};

onmessage = ({ data }) => { for (const [order, value] of Object.entries(data)) if (Object.hasOwn(orders, order)) orders[order](value); };
