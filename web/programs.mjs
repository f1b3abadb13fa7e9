// Programs for the page: reef compiled to WebAssembly, the examples that run at a click, and the compiler that runs in the page, in parts.
//
// The compiler is @yowasp/clang: clang and lld as WebAssembly, for wasm32-wasip1. reef's object and the examples are compiled here by Debian's clang for the same
// target, with the headers of that package, since clang inside of WebAssembly takes minutes for reef; the page's own lld links them. Everything is kept in
// build/site/programs and made again when what it is made of has changed.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { link_arguments } from "./theme/flags.mjs";

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
        const key = createHash("sha256").update(text).update(readFileSync(join(two, "reef.h"))).update(readFileSync(join(two, "reef_page.h"))).update(compiler_version + common + flags).digest("hex").slice(0, 16);
        const path = join(kept, `${basename(source, ".c")}-${key}.o`);
        if (!existsSync(path)) execFileSync("clang", [...common, ...flags, ...includes, source, "-o", path], { stdio: "inherit" });
        return path;
    };
    const reef = object(join(two, "reef.c")), page = object(join(root, "addons/page/reef_page.c"));

    // ---- the examples ----

    const { runLLVM } = await import(pathToFileURL(join(package_folder, "gen/bundle.js")));
    const programs = join(public_folder, "programs");
    mkdirSync(programs, { recursive: true });
    const libraries = { "crt1-command.o": "wasm32-wasip1/crt1-command.o", "libc.a": "wasm32-wasip1/libc.a", "libm.a": "wasm32-wasip1/libm.a", "libclang_rt.builtins.a": "wasm32-unknown-wasip1/libclang_rt.builtins.a" };
    const examples = page_examples(root);
    const scene = { name: "hash_scene", file: "tests/state/hash_scene.c", source: "" }; // for the test of the site
    for (const { name, file, source } of [...examples, scene]) {
        const main = object(join(root, file));
        const linked = join(kept, `${name}-${createHash("sha256").update(readFileSync(main)).update(readFileSync(reef)).update(readFileSync(page)).update(String(link_arguments(source))).digest("hex").slice(0, 16)}.wasm`);
        if (!existsSync(linked)) {
            const files = Object.fromEntries(Object.entries(libraries).map(([to, from]) => [to, new Uint8Array(readFileSync(join(sysroot, "lib", from)))]));
            Object.assign(files, { "main.o": new Uint8Array(readFileSync(main)), "reef.o": new Uint8Array(readFileSync(reef)), "reef_page.o": new Uint8Array(readFileSync(page)) });
            const objects = ["crt1-command.o", "main.o", "reef.o", ...(source.includes("reef_page.h") ? ["reef_page.o"] : []), "libc.a", "libm.a", "libclang_rt.builtins.a"];
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
    const version = createHash("sha256").update(readFileSync(reef)).update(readFileSync(page)).digest("hex").slice(0, 12);
    writeFileSync(join(compiler, `reef-${version}.gz`), gzipSync(readFileSync(reef), { level: 9 }));
    writeFileSync(join(compiler, `reef_page-${version}.gz`), gzipSync(readFileSync(page), { level: 9 }));
    const headers = { "reef.h": readFileSync(join(two, "reef.h"), "utf8"), "reef_page.h": readFileSync(join(two, "reef_page.h"), "utf8"), reef: readdirSync(join(two, "reef")) };
    writeFileSync(join(compiler, `headers-${version}.json`), JSON.stringify(headers));
    return { examples, compiler: { clang: `clang-${compiler_version}.mjs`, version } };
}
