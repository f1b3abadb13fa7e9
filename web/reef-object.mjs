// reef's object for the page, compiled by the page's own clang. That is clang in WebAssembly, which takes minutes for all of reef at once; so it gets a folder of src/ at a
// time, several side by side, and what came of a folder is kept as long as nothing changes that the folder includes. The page's linker joins the folders.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const flags = ["--target=wasm32-wasip1", "-c", "-std=c11", "-O2", "-ffp-contract=off", "-DREEF_NO_THREADS", "-DREEF_CHECKED", "-DREEF_IN_A_PAGE", "-DREEF_BUILDING", "-Iinclude", "-Isrc"];
const include_line = /^([ \t]*#[ \t]*include[ \t]*)"([^"]+)"/gm;
const feature = /^#define _[A-Z]+(?:_[A-Z]+)*_(?:SOURCE|BITS)(?: \d+)?/gm;

// What a folder is compiled of: the path of each file from the root and its text, in the order in which they are found. The package's files know no "..", so an include
// names its file from include/.
function sources_of(root, folder) {
    const found = new Map(), names = readdirSync(join(root, "src", folder)).filter((name) => name.endsWith(".c")).sort();
    const read = (path) => {
        if (found.has(path)) return;
        found.set(path, "");
        const near = posix.dirname(path);
        found.set(path, readFileSync(join(root, path), "utf8").replace(include_line, (line, head, name) => {
            const place = [posix.join(near, name), "src/" + name, "include/" + name].find((to) => existsSync(join(root, to)));
            if (!place) return line;
            read(place);
            return `${head}"${place.replace(/^(src|include)\//, "")}"`;
        }));
    };
    for (const name of names) read(`src/${folder}/${name}`);
    const features = new Set(names.flatMap((name) => found.get(`src/${folder}/${name}`).match(feature) ?? []));
    found.set("whole.c", [...features, ...names.map((name) => `#include "${folder}/${name}"`)].join("\n") + "\n");
    return found;
}

function tree_of(files) {
    const tree = {};
    for (const [path, text] of files) {
        const parts = path.split("/"), name = parts.pop();
        let at = tree;
        for (const part of parts) at = at[part] ??= {};
        at[name] = text;
    }
    return tree;
}

// In a worker: one folder after the other, until there is none left.
async function compile_folders({ bundle }) {
    const { runLLVM } = await import(bundle);
    parentPort.on("message", async ({ name, files }) => {
        const said = [], begin = performance.now();
        try {
            const made = await runLLVM(["clang", ...flags, "whole.c", "-o", "whole.o"], tree_of(files), { stderr: (bytes) => { if (bytes) said.push(Buffer.from(bytes)); }, fetchProgress: () => {} });
            parentPort.postMessage({ name, bytes: made["whole.o"], seconds: (performance.now() - begin) / 1000 });
        } catch (error) { parentPort.postMessage({ name, why: error.message + "\n" + Buffer.concat(said).toString() }); }
    });
}
if (!isMainThread && workerData?.bundle) compile_folders(workerData);

// Compiles the folders of `wanted` ([{name, files, bytes, path}]), and writes their objects.
function compile_all(wanted, bundle) {
    const waiting = [...wanted].sort((a, b) => b.bytes - a.bytes); // the longest first
    return Promise.all(Array.from({ length: Math.min(availableParallelism(), waiting.length) }, () => new Promise((done, failed) => {
        const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { bundle } });
        let now = null;
        const next = () => {
            now = waiting.shift();
            if (now) worker.postMessage({ name: now.name, files: now.files });
            else worker.terminate().then(done);
        };
        worker.on("error", failed);
        worker.on("message", ({ name, bytes, seconds, why }) => {
            if (why) { worker.terminate(); failed(new Error(`the page's clang doesn't compile src/${name}: ${why}`)); return; }
            writeFileSync(now.path, bytes);
            console.log(`the page's clang compiled src/${name} in ${seconds.toFixed(1)} s`);
            next();
        });
        next();
    })));
}

// The path of the object in `kept`.
export async function reef_object(root, kept, package_folder, compiler_version) {
    const bundle = pathToFileURL(join(package_folder, "gen/bundle.js")).href, all = createHash("sha256");
    const parts = readdirSync(join(root, "src")).sort().map((name) => {
        const files = sources_of(root, name), key = createHash("sha256").update(compiler_version + flags);
        for (const [path, text] of files) key.update(path + "\n" + text);
        const bytes = [...files].reduce((sum, [path, text]) => sum + (path.endsWith(".c") ? text.length : 0), 0);
        return { name, files, bytes, path: join(kept, `reef-${name}-${key.digest("hex").slice(0, 16)}.o`) };
    });
    const wanted = parts.filter(({ path }) => !existsSync(path));
    if (wanted.length) await compile_all(wanted, bundle);
    for (const { path } of parts) all.update(readFileSync(path));
    const whole = join(kept, `reef-${all.digest("hex").slice(0, 16)}.o`);
    if (!existsSync(whole)) {
        const { runLLVM } = await import(bundle), files = Object.fromEntries(parts.map(({ name, path }) => [name + ".o", new Uint8Array(readFileSync(path))]));
        writeFileSync(whole, (await runLLVM(["wasm-ld", "-r", ...Object.keys(files), "-o", "reef.o"], files, { fetchProgress: () => {} }))["reef.o"]);
    }
    return whole;
}
