// The compiler, in a worker: @yowasp/clang, whose files come in compressed parts. They are kept in the browser's cache for the next visit, so that it also works offline.
import { compile_program, files_of, messages_of } from "./compile.mjs";

let ready = null, version = "", base = "";
const objects = ["reef", "reef_page", "inside", "precompiled"];
const kept = "reef-compiler"; // the cache; each file's name has its version
const cache_of = () => globalThis.caches?.open(kept).catch(() => null); // none over plain http from another machine

class Gone extends Error {}

async function bytes_of(url, progress) {
    const cache = await cache_of();
    let answer = await cache?.match(url);
    if (!answer) {
        answer = await fetch(url);
        if (!answer.ok) throw new Gone(`${url} couldn't be loaded (${answer.status})`);
        await cache?.put(url, answer.clone()).catch(() => {}); // no room: it is loaded again next time
    }
    const reader = answer.body.getReader(), parts = [];
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value);
        progress(value.length);
    }
    return new Blob(parts);
}

// The list of the parts keeps its name. Without a network it is that of the last visit.
async function parts_of(url) {
    const cache = await cache_of();
    try {
        const answer = await fetch(url);
        if (!answer.ok) throw new Gone(`${url} couldn't be loaded (${answer.status})`);
        await cache?.put(url, answer.clone()).catch(() => {});
        return await answer.json();
    } catch (error) {
        const old = await cache?.match(url);
        if (!old || error instanceof Gone) throw error;
        return old.json();
    }
}

async function prepare() {
    const parts = await parts_of(base + "compiler/parts.json"), module = base + "compiler/" + version.clang;
    const total = Object.values(parts).reduce((sum, part) => sum + part.packed, 0);
    let loaded = 0;
    const progress = (count) => { loaded += count; postMessage({ progress: loaded / total }); };
    const given = globalThis.fetch;
    // The package asks for its files beside itself; it gets them from the parts, with the type that streaming compilation wants whatever the server says.
    globalThis.fetch = async (url, ...rest) => {
        const part = parts[String(url).split("/").at(-1)];
        if (!part) return given(url, ...rest);
        const packed = new Blob(await Promise.all(part.files.map((file) => bytes_of(base + "compiler/" + file, progress))));
        return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")),
            { headers: { "content-type": String(url).endsWith(".wasm") ? "application/wasm" : "application/octet-stream", "content-length": part.bytes } });
    };
    const unpacked = async (name) => new Uint8Array(await new Response((await bytes_of(`${base}compiler/${name}-${version.version}.gz`, () => {})).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
    await bytes_of(module, () => {}); // now it is in the cache, from which the service worker takes it for an import
    const [clang, reef, reef_page, inside, precompiled, headers] = await Promise.all([import(/* @vite-ignore */ module), ...objects.map(unpacked),
        bytes_of(`${base}compiler/headers-${version.version}.json`, () => {}).then((blob) => blob.text()).then(JSON.parse)]);
    await clang.runLLVM(undefined, undefined, { fetchProgress: () => {} }); // only loads
    // What an earlier version of the site left in the cache goes.
    const cache = await cache_of(), names = new Set(["parts.json", version.clang, ...Object.values(parts).flatMap((part) => part.files), ...objects.map((name) => `${name}-${version.version}.gz`), `headers-${version.version}.json`]);
    for (const request of (await cache?.keys()) ?? []) if (!names.has(request.url.split("/").at(-1))) await cache.delete(request);
    return { clang, plan: headers.plan, files: files_of({ headers, reef, reef_page, inside, precompiled }) };
}

// One program at a time: what was asked last, where a program that is to run comes before one of which only the messages are wanted. The last result is kept, so what
// was compiled while somebody typed is there when it is to run.
let wanted = null, last = null, working = false;

async function compile(source) {
    if (!ready) { ready = prepare(); ready.catch(() => { ready = null; }); }
    const { clang, plan, files } = await ready, begin = performance.now(), { program, text } = await compile_program(clang, plan, files, source);
    return { source, program, text, messages: messages_of(text), ms: performance.now() - begin };
}

async function work() {
    const next_messages = () => new Promise((read) => setTimeout(read)); // those that came while the compiler ran
    for (working = true; wanted; await next_messages()) {
        const { source, run } = wanted, first = last === null, early = last?.source === source;
        wanted = null;
        try {
            if (!early) last = await compile(source);
            postMessage({ compiled: { ...last, run, early } });
            // The browser makes code faster that has run some times, so the next run needn't wait for that.
            for (let i = 0; first && i < 2; i++) { await next_messages(); if (!wanted) await compile(source); }
        } catch (error) { const why = String(error?.message ?? error); postMessage(error instanceof Gone ? { gone: why } : { failed: why }); }
    }
    working = false;
}

onmessage = ({ data }) => {
    if (data.begin) ({ version, base } = data.begin);
    if (data.compile !== undefined) wanted = { source: data.compile, run: true };
    if (data.check !== undefined && !wanted?.run) wanted = { source: data.check, run: false };
    if (wanted && !working) work();
};
