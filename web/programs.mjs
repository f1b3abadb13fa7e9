// Programs for the page: reef compiled to WebAssembly, the examples that run at a click, and the compiler that runs in the page, in parts.
//
// The compiler is @yowasp/clang: clang and lld as WebAssembly, for wasm32-wasip1. It also compiles reef here (reef-object.mjs). The examples, the inspector's answers and
// SQLite are compiled by Debian's clang for the same target, with the headers of that package; the page's own lld links them. Everything is kept in
// build/site/programs and made again when what it is made of has changed.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { reef_object } from "./reef-object.mjs";
import { build_threads } from "./threads.mjs";
import { compile_arguments, link_arguments, objects_of } from "./theme/flags.mjs";

const part_bytes = 24 * 1024 * 1024;

const common = ["--target=wasm32-wasip1", "-c", "-std=c11", "-O2", "-ffp-contract=off", "-DREEF_NO_THREADS", "-DREEF_CHECKED", "-DREEF_IN_A_PAGE"];

// Examples that need threads of their own or files have none of this.
export function page_examples(root) {
    const found = [];
    for (const folder of ["examples/page", "examples"]) {
        for (const name of readdirSync(join(root, folder)).sort()) {
            if (!name.endsWith(".c")) continue;
            const file = `${folder}/${name}`, source = readFileSync(join(root, file), "utf8");
            if (/#include <threads\.h>|\bfopen\(/.test(source)) continue;
            found.push({ name: folder.endsWith("page") ? "page_" + basename(name, ".c") : basename(name, ".c"), file, source });
        }
    }
    return found;
}

// The living reef has its rules in files of its own.
const rules_of_the_reef = ["census", "ecosystem", "fish", "life", "sea", "sight", "species", "swim"].map((name) => `examples/living_reef/${name}.c`);
export const further_sources = { page_living_reef: rules_of_the_reef };

const file_headers = (folder) => (folder.includes("/examples") ? readdirSync(folder).filter((name) => name.endsWith(".h")).map((name) => join(folder, name)) : []);

// An archive of tar without what C for WebAssembly doesn't need: C++, libraries to be loaded, other processors.
const not_for_c = /^(share|include\/c\+\+)(\/|$)|\.so$|^lib\/.*\/libc\+\+|^include\/[^/]*(cuda|intrin|opencl|hlsl|riscv|spirv|altivec|hexagon)[^/]*\.h$|^include\/(arm|ppc)_/;
function for_c(tar) {
    const kept = [];
    const text = (at, length) => tar.subarray(at, at + length).toString("latin1").replace(/\0.*$/s, "");
    for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
        const prefix = text(at + 345, 155), name = (prefix ? prefix + "/" : "") + text(at, 100);
        const end = at + 512 + Math.ceil(parseInt(text(at + 124, 12), 8) / 512) * 512;
        if (!not_for_c.test(name)) kept.push(tar.subarray(at, end));
        at = end;
    }
    return Buffer.concat([...kept, Buffer.alloc(1024)]);
}

// The inspector's answers, the add-on for SQL, and SQLite, as one object: what looks inside of a program that ticks.
async function build_inside(root, kept, sqlite, object, runLLVM) {
    const folders = ["addons/inspector", "addons/sqlite", "addons/page"].flatMap((folder) => ["-I", join(root, folder)]);
    const of_folder = (folder, without = []) => readdirSync(join(root, folder)).filter((name) => name.endsWith(".c") && !without.includes(name)).map((name) => join(root, folder, name));
    const sources = [...of_folder("addons/inspector", ["server.c", "door.c"]), ...of_folder("addons/sqlite"), join(root, "web/inside.c"), join(root, "web/sqlite_os.c")];
    const headers = [...["addons/inspector", "addons/sqlite", "addons/shared"].flatMap((folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith(".h")).map((name) => readFileSync(join(root, folder, name)))),
        readFileSync(join(sqlite, "sqlite3.h"))];
    const made_of = createHash("sha256");
    for (const header of headers) made_of.update(header);
    const flags = [...folders, "-isystem", sqlite, "-D_POSIX_C_SOURCE=200809L", "-DMADE_OF=" + made_of.digest("hex").slice(0, 16)];
    const objects = sources.map((source) => object(source, flags));
    objects.push(object(join(sqlite, "sqlite3.c"), ["-Os", "-w", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OS_OTHER=1", "-DSQLITE_OMIT_LOAD_EXTENSION"]));
    const all = createHash("sha256");
    for (const path of objects) all.update(readFileSync(path));
    const whole = join(kept, `inside-${all.digest("hex").slice(0, 16)}.o`);
    if (!existsSync(whole)) {
        const files = Object.fromEntries(objects.map((path, i) => [i + ".o", new Uint8Array(readFileSync(path))]));
        writeFileSync(whole, (await runLLVM(["wasm-ld", "-r", ...Object.keys(files), "-o", "inside.o"], files, { fetchProgress: () => {} }))["inside.o"]);
    }
    return whole;
}

// clang's driver runs itself three times for one program: to find out what to do, to compile, to link. What it finds out is always the same, so the page gets it
// from here, with reef's headers compiled beforehand.
async function compiler_plan(kept, compiler_version, headers, package_folder) {
    const key = createHash("sha256").update(JSON.stringify(headers) + compiler_version + compile_arguments + link_arguments("reef_tick") + link_arguments("") + "2").digest("hex").slice(0, 16);
    const path = join(kept, `plan-${key}.json`), precompiled_path = join(kept, `precompiled-${key}.pch`);
    if (!existsSync(path)) {
        const { runLLVM } = await import(pathToFileURL(join(package_folder, "gen/bundle.js")));
        const include = { "reef.h": headers["reef.h"], "reef_page.h": headers["reef_page.h"], reef: Object.fromEntries(headers.reef.map((name) => [name, "#include <reef.h>\n"])) };
        const commands = async (source) => {
            const said = [], hear = (bytes) => { if (bytes) said.push(Buffer.from(bytes)); };
            const all = ["clang", "-###", ...compile_arguments, "-I", "include", "main.c", ...objects_of(source), ...link_arguments(source).flatMap((flag) => ["-Xlinker", flag]), "-o", "main.wasm"];
            await runLLVM(all, { "main.c": source, include, "reef.o": "", "reef_page.o": "", "inside.o": "" }, { stdout: hear, stderr: hear, fetchProgress: () => {} });
            return Buffer.concat(said).toString().split("\n").filter((line) => line.startsWith(' "'))
                .map((line) => Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"/g), (m) => m[1].replace(/\\(.)/g, "$1").replace(/^\/tmp\/main-\w+\.o$/, "main.o")).filter(Boolean));
        };
        const [[compile, link], [, link_ticks]] = [await commands(""), await commands("reef_tick")];
        const precompile = compile.map((word) => (word === "-emit-obj" ? "-emit-pch" : word)).slice(0, compile.indexOf("-o"));
        const made = await runLLVM([...precompile, "-fno-pch-timestamp", "-o", "reef.pch", "-x", "c-header", "all.h"], { "all.h": "#include <reef.h>\n", include }, { fetchProgress: () => {} });
        writeFileSync(precompiled_path, made["reef.pch"]);
        writeFileSync(path, JSON.stringify({ compile, link, link_ticks }));
    }
    return { plan: JSON.parse(readFileSync(path, "utf8")), precompiled: readFileSync(precompiled_path) };
}

export async function build_programs(root, project, public_folder) {
    const package_folder = join(project, "node_modules/@yowasp/clang");
    const kept = join(project, "programs");
    mkdirSync(kept, { recursive: true });
    const compiler_version = JSON.parse(readFileSync(join(package_folder, "package.json"), "utf8")).version;

    // The package's resources without those of C++, which are nine tenths of them.
    const sysroot = join(kept, "usr-" + compiler_version);
    if (!existsSync(join(sysroot, "done"))) {
        rmSync(sysroot, { recursive: true, force: true });
        mkdirSync(sysroot, { recursive: true });
        execFileSync("tar", ["-xf", join(package_folder, "gen/llvm-resources.tar"), "-C", sysroot,
            "--exclude=include/c++"]);
        writeFileSync(join(sysroot, "done"), "");
    }

    execFileSync(join(root, "scripts/amalgamate"), [join(kept, "two")]);
    const two = join(kept, "two");
    mkdirSync(join(two, "reef"), { recursive: true });
    for (const name of readdirSync(join(root, "include/reef"))) if (name.endsWith(".h")) writeFileSync(join(two, "reef", name), "#include <reef.h>\n");
    copyFileSync(join(root, "addons/page/reef_page.h"), join(two, "reef_page.h"));
    const resource = execFileSync("clang", ["-print-resource-dir"]).toString().trim();
    const includes = ["-nostdinc", "-isystem", join(resource, "include"), "-isystem", join(sysroot, "include/wasm32-wasip1"), "-I", two];

    // An object, unless there is one of the same source.
    const object = (source, flags = []) => {
        const text = readFileSync(source);
        const near = file_headers(dirname(source)).concat(source.includes("/examples/page/") ? file_headers(join(root, "examples/living_reef")) : []);
        const key = createHash("sha256").update(text).update(near.map((path) => readFileSync(path)).join()).update(readFileSync(join(two, "reef.h"))).update(/reef_page/.test(text) ? readFileSync(join(two, "reef_page.h")) : "").update(compiler_version + common + flags).digest("hex").slice(0, 16);
        const path = join(kept, `${basename(source, ".c")}-${key}.o`);
        if (!existsSync(path)) execFileSync("clang", [...common, ...flags, ...includes, source, "-o", path], { stdio: "inherit" });
        return path;
    };
    const reef = await reef_object(root, kept, package_folder, compiler_version), page = object(join(root, "addons/page/reef_page.c"));

    const { runLLVM } = await import(pathToFileURL(join(package_folder, "gen/bundle.js")));
    const inside = await build_inside(root, kept, join(project, "node_modules/better-sqlite3/deps/sqlite3"), object, runLLVM);

    // ---- the examples ----

    const programs = join(public_folder, "programs");
    mkdirSync(programs, { recursive: true });
    const libraries = { "crt1-command.o": "wasm32-wasip1/crt1-command.o", "libc.a": "wasm32-wasip1/libc.a", "libm.a": "wasm32-wasip1/libm.a", "libclang_rt.builtins.a": "wasm32-unknown-wasip1/libclang_rt.builtins.a" };
    const examples = page_examples(root);
    const scene = { name: "hash_scene", file: "tests/state/hash_scene.c", source: readFileSync(join(root, "tests/state/hash_scene.c"), "utf8") }; // for the test of the site
    for (const { name, file, source } of [...examples, scene]) {
        const further = (further_sources[name] ?? []).map((path) => object(join(root, path)));
        const main = object(join(root, file));
        const linked = join(kept, `${name}-${createHash("sha256").update(readFileSync(main)).update(further.join()).update(readFileSync(reef)).update(readFileSync(page)).update(readFileSync(inside)).update(String(link_arguments(source))).digest("hex").slice(0, 16)}.wasm`);
        if (!existsSync(linked)) {
            const files = Object.fromEntries(Object.entries(libraries).map(([to, from]) => [to, new Uint8Array(readFileSync(join(sysroot, "lib", from)))]));
            Object.assign(files, { "main.o": new Uint8Array(readFileSync(main)), "reef.o": new Uint8Array(readFileSync(reef)), "reef_page.o": new Uint8Array(readFileSync(page)), "inside.o": new Uint8Array(readFileSync(inside)) });
            further.forEach((path, i) => { files[`further${i}.o`] = new Uint8Array(readFileSync(path)); });
            const objects = ["crt1-command.o", "main.o", ...further.map((path, i) => `further${i}.o`), ...objects_of(source), "libc.a", "libm.a", "libclang_rt.builtins.a"];
            const result = await runLLVM(["wasm-ld", ...link_arguments(source), ...objects, "-o", "main.wasm"], files, { fetchProgress: () => {} });
            writeFileSync(linked, result["main.wasm"]);
        }
        copyFileSync(linked, name === scene.name ? join(kept, name + ".wasm") : join(programs, name + ".wasm"));
    }

    // ---- the compiler ----

    const compiler = join(public_folder, "compiler"), ready = join(kept, "compiler-" + compiler_version);
    mkdirSync(compiler, { recursive: true });
    if (!existsSync(join(ready, "parts.json"))) {
        rmSync(ready, { recursive: true, force: true });
        mkdirSync(ready, { recursive: true });
        const parts = {};
        const cut = (name, bytes) => {
            const packed = gzipSync(bytes, { level: 9 }), key = createHash("sha256").update(packed).digest("hex").slice(0, 12);
            parts[name] = { bytes: bytes.length, packed: packed.length, files: [] };
            for (let at = 0; at < packed.length; at += part_bytes) {
                const file = `${name}-${key}-${at / part_bytes}.part`;
                writeFileSync(join(ready, file), packed.subarray(at, at + part_bytes));
                parts[name].files.push(file);
            }
        };
        for (const name of ["llvm.core.wasm", "llvm.core2.wasm", "llvm.core3.wasm", "llvm.core4.wasm"]) cut(name, readFileSync(join(package_folder, "gen", name)));
        cut("llvm-resources.tar", for_c(readFileSync(join(package_folder, "gen/llvm-resources.tar"))));
        writeFileSync(join(ready, "parts.json"), JSON.stringify(parts));
    }
    for (const name of readdirSync(ready)) copyFileSync(join(ready, name), join(compiler, name));
    copyFileSync(join(package_folder, "gen/bundle.js"), join(compiler, `clang-${compiler_version}.mjs`));
    const headers = { "reef.h": readFileSync(join(two, "reef.h"), "utf8"), "reef_page.h": readFileSync(join(two, "reef_page.h"), "utf8"), reef: readdirSync(join(two, "reef")) };
    const { plan, precompiled } = await compiler_plan(kept, compiler_version, headers, package_folder);
    const parts = { reef: readFileSync(reef), reef_page: readFileSync(page), inside: readFileSync(inside), precompiled };
    const version = createHash("sha256").update(JSON.stringify(headers) + JSON.stringify(plan));
    for (const part of Object.values(parts)) version.update(part);
    const name = version.digest("hex").slice(0, 12);
    for (const [part, bytes] of Object.entries(parts)) writeFileSync(join(compiler, `${part}-${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(compiler, `headers-${name}.json`), JSON.stringify({ ...headers, plan }));
    return { examples, threads: build_threads(root, kept, two, public_folder), compiler: { clang: `clang-${compiler_version}.mjs`, version: name } };
}
