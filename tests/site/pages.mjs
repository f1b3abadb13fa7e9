// node pages.mjs LISTING REFERENCE SCRATCH: the pages of the site before VitePress, which needs no packages and no network: every document becomes a page, every
// link leads to one, no page of a function is missing, and the search finds each function by its name. LISTING is scripts/listing's, REFERENCE a folder of
// scripts/reference --each.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateRawSync } from "node:zlib";
import { contents_of, documents_of, packed, page_of, picture_size, runs_in_the_page, slug } from "../../web/pages.mjs";
import { rows_of } from "../../web/figures.mjs";
import { around, prepare, search } from "../../web/theme/search.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const [listing_file, reference, scratch] = process.argv.slice(2);
let failures = 0;
function check(good, what) {
    if (!good) { failures++; console.log("FAILED: " + what); }
}

// ---- small parts ----

check(slug("What a loop visits, and why") === "what-a-loop-visits-and-why", "anchors are those of the sites that show Markdown");
check(slug("`reef_get`: [a](b.md) c") === "reef_get-a-c", "a link in a heading counts by its text");
check(inflateRawSync(Buffer.from(packed("int main(void) {}\n"), "base64url")).toString() === "int main(void) {}\n", "what is packed is unpacked");
check(runs_in_the_page("#include <reef.h>\nint main(void) {}\n") && !runs_in_the_page("#include <reef_sqlite.h>\nint main(void) {}\n"), "programs with add-ons don't run in the page");
check(page_of("docs/manual/queries.md") === "manual/queries.md" && page_of("src/api/world.c") === null, "documents have pages, sources don't");
for (const [name, size] of [["dive-swarm.jpg", "960,540"], ["inspector-whatif.png", "1180,700"], ["time-travel.webp", "800,530"], ["world.svg", "720,330"]]) {
    check(String(picture_size(readFileSync(join(root, "docs/pictures", name)))) === size, `the size of ${name} is ${picture_size(readFileSync(join(root, "docs/pictures", name)))}`);
}

// ---- all pages ----

mkdirSync(scratch, { recursive: true });
copyFileSync(listing_file, join(scratch, "api.json"));
cpSync(reference, join(scratch, "ref"), { recursive: true });
execFileSync("node", [join(root, "web/build.mjs"), scratch, join(scratch, "out"), "--pages"], { stdio: "inherit" });
const pages = join(scratch, "pages"), all = [];
const collect = (folder) => {
    for (const name of readdirSync(join(pages, folder))) {
        const path = posix.join(folder, name);
        if (statSync(join(pages, path)).isDirectory()) collect(path); else all.push(path);
    }
};
collect("");
const listing = JSON.parse(readFileSync(listing_file, "utf8"));
for (const document of documents_of(root)) check(all.includes(page_of(document)), `${document} has no page`);
for (const section of contents_of(root)) for (const item of section.items) check(all.includes(item.link.slice(1) + ".md"), `the contents lead to ${item.link}, which isn't there`);
for (const f of listing.functions) if (!f.internal) check(all.includes(`reference/${f.name}.md`), `${f.name} has no page`);

const figures = readFileSync(join(root, "docs/rules/performance.md"), "utf8"), rows = rows_of(figures);
check(rows.length > 40 && rows.every((row) => figures.includes(`| ${row.name} |`)), `the picture of the benchmark has ${rows.length} rows`);
check(rows.find((row) => row.name === "create_2_bulk")?.must > 0, "and says what a row must reach");
check((readFileSync(join(pages, "rules/performance.md"), "utf8").match(/<rect /g) ?? []).length === rows.length, "the page of the benchmark has its picture, a bar for each row");

const spawn = readFileSync(join(pages, "reference/reef_spawn.md"), "utf8"), by_id = readFileSync(join(pages, "reference/reef_relate_id.md"), "utf8");
for (const part of ["In programs", "In the manual", "Topics", "In another form"]) check(spawn.includes(`\n## ${part}\n`), `the page of reef_spawn has no part "${part}"`);
check(by_id.includes("(./reef_relate.md)"), "a call by an id leads to the one by the type");

let links = 0;
for (const page of all.filter((path) => path.endsWith(".md") && !path.startsWith("source/"))) {
    const text = readFileSync(join(pages, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`]*`/g, "");
    for (const [, to] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(to)) continue;
        links++;
        const [path] = to.split("#");
        if (path) check(existsSync(join(pages, dirname(page), path)), `${page}: a link to ${to}, which isn't there`);
    }
    check(!/^<!-- /m.test(text), `${page} has a mark of the documents' tests`);
}
check(links > 3000, `only ${links} links were found`);
check(!all.some((path) => readFileSync(join(pages, path)).includes(root + "/")), "a page names a path of this machine");

// ---- the search ----

const index = prepare(JSON.parse(readFileSync(join(scratch, "public/search.json"), "utf8")));
for (const f of [...listing.functions, ...listing.macros]) {
    if (f.internal || !all.includes(`reference/${f.name}.md`)) continue;
    const found = search(index, f.name)[0];
    check(found?.title.toLowerCase() === f.name.toLowerCase(), `the search finds ${found?.title} for ${f.name}`);
}
check(around("one two three", "three") === "one two three" && /^… (ab )+fork (cd )+…$/.test(around("ab ".repeat(100) + "fork " + "cd ".repeat(100), "fork")), "the search shows whole words");
const ticks = search(index, "threads of a tick")[0];
check(ticks && !/^[^.]*#include/.test(ticks.text) && ticks.text.includes("#include <reef.h>"), `the search shows what people read before programs: ${ticks?.text.slice(0, 80)}`);
for (const [typed, page] of [["fork a world", /worlds-as-values|reef_fork/], ["going back in time", /worlds-as-values|inspector/], ["playing together", /playing-together/], ["no such wordhere", null]]) {
    const found = search(index, typed).slice(0, 3);
    check(page ? found.some((f) => page.test(f.address)) : found.length === 0, `the search for "${typed}" finds ${found.map((f) => f.address).join(", ") || "nothing"}`);
}
console.log(`${all.length} pages, ${links} links; failures: ${failures}`);
process.exit(failures ? 1 : 0);
