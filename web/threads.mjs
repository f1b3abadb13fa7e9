// Examples with threads of their own, for pages that a browser isolates (./site --serve --isolated, or a server that sends the two headers). The page's compiler has no C library
// with threads, so emscripten compiles these, where it is installed, as it compiles Dive. What came of them is kept until something changes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";

export const with_threads = ["fireworks"]; // in examples/

const flags = ["-std=c11", "-O2", "-ffp-contract=off", "-pthread", "-DNDEBUG"];
// main runs in a worker, so it may wait for others; the pool's threads are there before it begins.
const link_flags = ["-sPTHREAD_POOL_SIZE=4", "-sENVIRONMENT=web,worker", "-sEXIT_RUNTIME=1", "-sINITIAL_MEMORY=134217728"];

// `two` has reef.c and reef.h. Returns the names that were built: none without emscripten.
export function build_threads(root, kept, two, public_folder) {
    const emcc = (...words) => execFileSync("emcc", words, { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, NODE_PATH: "/usr/share/nodejs" } }); // where emcc's helpers lie
    let version;
    try { version = execFileSync("emcc", ["--version"], { stdio: ["ignore", "pipe", "ignore"] }).toString().split("\n")[0]; } catch { return []; }
    const key = (...parts) => { const hash = createHash("sha256").update(version + flags + link_flags); for (const part of parts) hash.update(part); return hash.digest("hex").slice(0, 16); };
    const reef_h = readFileSync(join(two, "reef.h")), reef_c = readFileSync(join(two, "reef.c")), reef = join(kept, `reef-threads-${key(reef_h, reef_c)}.o`);
    if (!existsSync(reef)) emcc(...flags, "-c", join(two, "reef.c"), "-o", reef);
    const to = join(public_folder, "threads");
    mkdirSync(to, { recursive: true });
    for (const name of with_threads) {
        const source = join(root, "examples", name + ".c"), made = join(kept, `threads-${name}-${key(reef_h, reef_c, readFileSync(source))}`);
        if (!existsSync(made)) {
            const fresh = made + ".new";
            mkdirSync(fresh, { recursive: true });
            emcc(...flags, ...link_flags, "-I", two, source, reef, "-o", join(fresh, name + ".js"));
            renameSync(fresh, made);
        }
        for (const file of readdirSync(made)) copyFileSync(join(made, file), join(to, file));
    }
    copyFileSync(join(root, "web/theme/threads-worker.js"), join(to, "run.js"));
    return with_threads;
}
