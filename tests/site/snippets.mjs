// node snippets.mjs OUT PROJECT: every program of the manual that leads to the playground, and every example, and the scene of hashes, compiled by the page's compiler and run as in the page. What
// they print must be what the documents say; in the page the checked build runs.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { compile_program, files_of } from "../../web/theme/compile.mjs";
import { Machine } from "../../web/theme/machine.mjs";
import { documents_of, new_site, runs_in_the_page } from "../../web/pages.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const [out, project] = [resolve(process.argv[2]), resolve(process.argv[3])];
const compiler = join(out, "compiler"), names = readdirSync(compiler);
const unpacked = (name) => new Uint8Array(gunzipSync(readFileSync(join(compiler, names.find((n) => n.startsWith(name + "-") && n.endsWith(".gz"))))));
const headers = JSON.parse(readFileSync(join(compiler, names.find((n) => n.startsWith("headers-")))));
const clang = await import(pathToFileURL(join(project, "node_modules/@yowasp/clang/gen/bundle.js")));
const files = files_of({ headers, reef: unpacked("reef"), reef_page: unpacked("reef_page"), inside: unpacked("inside"), precompiled: unpacked("precompiled") });

const site = new_site(root, join(project, "snippets"));
for (const file of documents_of(root)) site.document(file);
const programs = site.programs.filter((p) => p.language === "c" && runs_in_the_page(p.source) && !p.with_files);
let failures = 0, ms = 0;
for (const { page, name, source, output, checked } of programs) {
    const begin = performance.now(), { program, text } = await compile_program(clang, headers.plan, files, source);
    ms += performance.now() - begin;
    let printed = "", why = "";
    if (program) {
        const machine = new Machine((part, error) => { if (!error) printed += part; });
        await machine.start(program).catch((error) => { why = error.message; });
    }
    const expected = [output, checked].filter((t) => t !== undefined);
    const good = program && (expected.length === 0 || expected.includes(printed) || expected.some((t) => printed.startsWith(t)));
    if (!good) console.log(`FAILED  ${page}, ${name}: ${program ? `printed ${JSON.stringify(printed)} instead of ${JSON.stringify(expected)} ${why}` : text}`);
    failures += !good;
}
// The scene whose hashes every platform has, by the page's compiler alone: reef's object is its work, too.
{
    const { program, text } = await compile_program(clang, headers.plan, files, readFileSync(join(root, "tests/state/hash_scene.c"), "utf8"));
    let printed = "";
    if (program) await new Machine((part, error) => { if (!error) printed += part; }).start(program).catch((error) => { printed += error.message; });
    const good = printed === readFileSync(join(root, "tests/state/hash_scene.expected"), "utf8");
    console.log(good ? "the page's compiler gives the hashes of all other machines" : `FAILED  hash_scene: ${printed || text}`);
    failures += !good;
}
console.log(`${programs.length} programs of the manual, compiled by the page's compiler in ${(ms / programs.length / 1000).toFixed(2)} s each: ${failures ? failures + " failed" : "all run as their pages say"}`);
process.exit(failures ? 1 : 0);
