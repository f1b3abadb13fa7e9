// Runs a program of the page: its WASI, which has output and a clock and nothing else, and reef_page's side in the page. Used by run-worker.mjs, and by tests in node.
import { page_imports } from "./flags.mjs";

const most_output = 1 << 20; // bytes
const errno = { success: 0, bad_file: 8, no_system: 52, no_access: 76 };

class Ended extends Error {
    constructor(code) { super("ended"); this.code = code; }
}
class TakenOver extends Error {}
class Stopped extends Error {}
const most_ticks = 100000; // of a program with a loop of its own

// What a trap means in reef's programs.
export function explain(error) {
    const text = String(error?.message ?? error);
    if (/unreachable/.test(text)) return "the program was stopped: a pointer was NULL, an index was outside of its array, or an assertion failed";
    if (/call stack|stack overflow|too much recursion/i.test(text)) return "the program was stopped: its stack was used up";
    if (/memory access out of bounds|out of bounds memory/i.test(text)) return "the program was stopped: an address outside of its memory was used, or its stack was used up";
    if (/divide by zero/i.test(text)) return "the program was stopped: a division by zero";
    if (/integer overflow|unrepresentable|invalid conversion/i.test(text)) return "the program was stopped: a number that its type can't hold";
    if (/indirect call|table index|null function/i.test(text)) return "the program was stopped: a call through a pointer that is no function of that type";
    return "the program was stopped: " + text;
}

export class Machine {
    // write(text, is_error) gets what the program prints.
    constructor(write) {
        this.write = write;
        this.is_stopped = () => false; // asked between two ticks of a program with a loop of its own
        this.asked_ms = 0;
        this.sliders = new Map(); // name: {low, high, values: that of the world, that of the fork}
        this.side = 0; // which world plays
        this.view = { width: 320, height: 180 };
        this.printed = 0;
        this.decoders = [new TextDecoder(), new TextDecoder()];
        this.ticks = false;
    }

    // Bytes or a module. Resolves with what is left to do: "finished" or "running".
    async start(program) {
        const module = program instanceof WebAssembly.Module ? program : await WebAssembly.compile(program);
        const imports = { wasi_snapshot_preview1: this.wasi(), env: this.page() };
        for (const { module: from, name } of WebAssembly.Module.imports(module)) {
            if (from === "env" && !page_imports.includes(name)) throw new Error(`undefined symbol: ${name}`);
            if (!imports[from]) throw new Error(`the program imports ${from}.${name}, which a page doesn't give`);
            imports[from][name] ??= () => errno.no_system;
        }
        this.exports = (await WebAssembly.instantiate(module, imports)).exports;
        this.memory = this.exports.memory;
        try {
            this.exports._start();
            this.code = 0;
        } catch (error) {
            if (error instanceof TakenOver) { this.ticks = true; return "running"; }
            if (error instanceof Stopped) return "stopped";
            if (!(error instanceof Ended)) throw error;
            this.code = error.code;
        }
        return "finished";
    }

    view_of() { return new DataView(this.memory.buffer); }
    bytes(at, count) { return new Uint8Array(this.memory.buffer, at, count); }
    text(at) {
        const all = new Uint8Array(this.memory.buffer, at, Math.min(4096, this.memory.buffer.byteLength - at));
        return new TextDecoder().decode(all.subarray(0, Math.max(0, all.indexOf(0))));
    }

    // ---- WASI ----

    print(file, bytes) {
        this.printed += bytes.length;
        if (this.printed > most_output) throw new Error("it printed more than a page shows (1 MiB)");
        let text = this.decoders[file - 1].decode(bytes, { stream: true });
        // The fork that is kept to look into (inside.c) isn't one that the program forgot.
        if (file === 2 && this.exports?.reef_page_is_seen?.() === 2) text = text.replace(/^reef: 1 world was made and never freed[^\n]*\n/m, "");
        this.write(text, file === 2);
    }

    wasi() {
        const nothing = (...places) => { for (const at of places) this.view_of().setUint32(at, 0, true); return errno.success; };
        return {
            fd_write: (file, list, count, written) => {
                if (file !== 1 && file !== 2) return errno.bad_file;
                const view = this.view_of();
                let sum = 0;
                for (let i = 0; i < count; i++) {
                    const at = view.getUint32(list + 8 * i, true), length = view.getUint32(list + 8 * i + 4, true);
                    this.print(file, this.bytes(at, length));
                    sum += length;
                }
                this.view_of().setUint32(written, sum, true);
                return errno.success;
            },
            fd_read: (file, list, count, read) => (file === 0 ? nothing(read) : errno.bad_file),
            fd_close: () => errno.success,
            fd_seek: () => errno.bad_file,
            fd_fdstat_get: (file, at) => {
                if (file > 2) return errno.bad_file;
                this.bytes(at, 24).fill(0);
                this.view_of().setUint8(at, 2); // a terminal, so that lines come at once
                return errno.success;
            },
            fd_prestat_get: () => errno.bad_file,
            fd_prestat_dir_name: () => errno.bad_file,
            path_open: () => errno.no_access,
            args_sizes_get: nothing, args_get: () => errno.success,
            environ_sizes_get: nothing, environ_get: () => errno.success,
            clock_time_get: (clock, precision, at) => {
                const ms = clock === 0 ? Date.now() : performance.now();
                this.view_of().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
                return errno.success;
            },
            clock_res_get: (clock, at) => { this.view_of().setBigUint64(at, 1000000n, true); return errno.success; },
            random_get: (at, count) => { this.bytes(at, count).fill(4); return errno.success; }, // the same in each run
            sched_yield: () => errno.success,
            proc_exit: (code) => { throw new Ended(code); },
        };
    }

    // ---- reef_page ----

    page() {
        return {
            reef_page_take_over: () => { throw new TakenOver(); },
            // Memory and worlds are as after a tick, so the page may look into them.
            reef_page_ticked: (tick) => {
                const now = performance.now();
                if (tick >= most_ticks) throw new Stopped();
                if (now - this.asked_ms < 200) return;
                this.asked_ms = now;
                if (this.is_stopped()) throw new Stopped();
            },
            reef_page_show: (width, height) => { this.view = { width, height }; },
            reef_page_slid: (at, low, high, start) => {
                const name = this.text(at);
                if (!this.sliders.has(name)) {
                    if (this.sliders.size >= 8) return start;
                    this.sliders.set(name, { low, high, values: [start, start] });
                }
                return this.sliders.get(name).values[this.side];
            },
        };
    }

    // A tick of a side (0 the world, 1 its fork). Returns the shapes that it drew, six numbers each, or null when it was the last one.
    play(side) {
        this.side = side;
        const goes_on = this.exports.reef_page_play(side);
        const count_at = this.exports.malloc(4);
        const at = this.exports.reef_page_shapes(count_at);
        const count = this.view_of().getUint32(count_at, true);
        this.exports.free(count_at);
        const shapes = new Float32Array(this.memory.buffer.slice(at, at + count * 24));
        return { goes_on: Boolean(goes_on), shapes };
    }

    range() {
        const at = this.exports.malloc(8);
        this.exports.reef_page_ticks(at, at + 4);
        const view = this.view_of(), result = { first: view.getUint32(at, true), now: view.getUint32(at + 4, true) };
        this.exports.free(at);
        return result;
    }

    back(tick) { return Boolean(this.exports.reef_page_back(tick)); }
    fork() {
        for (const slider of this.sliders.values()) slider.values[1] = slider.values[0];
        return Boolean(this.exports.reef_page_fork());
    }
    slide(name, side, value) {
        const slider = this.sliders.get(name);
        if (slider && Number.isFinite(value)) slider.values[side ? 1 : 0] = Math.min(slider.high, Math.max(slider.low, value));
    }
    join() { this.exports.reef_page_join(); }
    alive(side) { return this.exports.reef_page_alive(side); }
    hash(side) { return BigInt.asUintN(64, this.exports.reef_page_hash(side)).toString(16).padStart(16, "0"); }
    differences() { return this.exports.reef_page_differences(); }

    // ---- the inspector's answers (web/inside.c) ----

    is_seen() { return Boolean(this.exports.reef_page_is_seen?.()); }
    may_play() { return Boolean(this.exports.reef_page_may_play()); }
    put_text(text) {
        const bytes = new TextEncoder().encode(text + "\0"), at = this.exports.malloc(bytes.length);
        if (!at) throw new Error("no memory");
        this.bytes(at, bytes.length).set(bytes);
        return at;
    }
    ask(side, address, body) {
        const where = this.put_text(address), what = this.put_text(body ?? "");
        const status = this.exports.reef_page_ask(side, where, what);
        const text = new TextDecoder().decode(this.bytes(this.exports.reef_page_answer(), this.exports.reef_page_answer_size()));
        this.exports.free(where);
        this.exports.free(what);
        return { status, text: status === 503 && !text ? '{"error":"no memory, or no world that ticks"}' : text };
    }
}
