// node web/build.mjs PROJECT OUT [--pages] [--few] [--no-programs]: writes the pages of the site into PROJECT (build/site), and has VitePress build OUT (out/site) of them.
//
// PROJECT has the packages of package.json, api.json (scripts/listing) and ref/ (scripts/reference --each). REEF_SITE_BASE is the folder of the server in
// which the site will stand. --pages writes the pages and what the search knows, and leaves VitePress out: that needs no packages. --few builds only some pages of each
// kind, in a tenth of the time, with links that lead nowhere: for work on the site, and for tests. --no-programs leaves out what runs in the page, which
// takes minutes where it isn't built yet: for the test of the pages that ./test has.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { contents_of, documents_of, example_page, new_site } from "./pages.mjs";
import { gallery_cards } from "./cards.mjs";
import { build_programs, further_sources, page_examples } from "./programs.mjs";
import { reference_pages } from "./reference.mjs";
import { search_index } from "./search-index.mjs";
import { dive_page, home_page, playground_page } from "./home.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const project = resolve(process.argv[2]), out = resolve(process.argv[3]);
const only_pages = process.argv.includes("--pages"), few = process.argv.includes("--few"), with_programs = !only_pages && !process.argv.includes("--no-programs");
const pages = join(project, "pages"), public_folder = join(project, "public");

for (const folder of [pages, public_folder, join(project, ".vitepress")]) rmSync(folder, { recursive: true, force: true });
mkdirSync(pages, { recursive: true });
mkdirSync(public_folder, { recursive: true });

const listing = JSON.parse(readFileSync(join(project, "api.json"), "utf8"));
const site = new_site(root, pages);
const documents = documents_of(root);
for (const file of documents) site.document(file);

// ---- the examples: a page each, with a button where it runs in the page ----

const runs = new Map(page_examples(root).map((example) => [example.file, example.name]));
const examples = ["examples", "examples/page"].flatMap((folder) => readdirSync(join(root, folder)).filter((name) => /\.(c|cpp)$/.test(name)).map((file) => {
    const path = `${folder}/${file}`, base = file.replace(/\.\w+$/, ""), expected = join(root, folder, base + ".expected");
    return {
        page: example_page(path), title: path, name: runs.get(path), source: readFileSync(join(root, path), "utf8"), language: file.endsWith(".c") ? "c" : "cpp",
        output: existsSync(expected) ? readFileSync(expected, "utf8") : null,
    };
}));
for (const { page, title, name, source, language, output } of examples) {
    const about = /^\/\*([\s\S]*?)\*\//.exec(source)?.[1].replace(/^ \* ?/gm, "").replace(/\s+/g, " ").trim().replace(/</g, "&lt;") ?? "";
    site.write(page, `---\noutline: false\naside: false\ndescription: ${JSON.stringify(about.slice(0, 200))}\n---\n\n# ${title.split("/").at(-1)}\n\n${about}\n\n` +
        (name ? `<RunBox example="${name}"${further_sources[name] ? " several" : ""} />\n\n` : "") + `\`\`\`${language}\n${source.trimEnd()}\n\`\`\`\n` +
        (output ? `\n<div class="output" data-title="Output">\n\n\`\`\`txt\n${output.trimEnd()}\n\`\`\`\n\n</div>\n` : ""));
}
site.write("playground.md", playground_page);

const texts = [...new Set(documents)].map((file) => { const page = site.page_of(file); return { page, file, text: readFileSync(join(root, file), "utf8") }; });
const written = reference_pages(site, join(project, "ref"), listing, texts, [...examples, ...site.programs]);
const names = [];
for (const [page, text] of written) {
    const name = posix.basename(page, ".md");
    site.write(page, text);
    if (/^(reef|REEF)_/.test(name)) names.push([name.replace(/-macro$/, ""), name]);
}
// Dive, if it was built for a page (./play --web).
const game = join(root, "build/play-web/page"), plays = ["index.html", "dive.js", "dive_core.js"].every((name) => existsSync(join(game, name)));
if (plays && !only_pages) cpSync(game, join(public_folder, "dive"), { recursive: true });
site.write("gallery/dive.md", dive_page(site, plays));
site.write("index.md", home_page(root, site));
site.source_pages();

const the_few = new RegExp("^(" + ["index", "playground", "topics", "overview", "changelog", "start/(first-hour|cheatsheet|concepts)", "manual/(index|entities|queries|worlds-as-values|inspector)",
    "rules/(performance|errors-and-limits)", "reference/(index|query|reef_(get|spawn|query_new|fork|tick)|REEF_COMPONENT)",
    "gallery/(index|dive|page_\\w+|what_if|undo|collide)", "source/include/reef\\.h"].join("|") + ")\\.md$");
if (few) {
    for (const path of readdirSync(pages, { recursive: true })) if (path.endsWith(".md") && !the_few.test(path)) rmSync(join(pages, path));
}

// ---- what the search knows ----

const read_pages = [];
const collect = (folder) => {
    for (const entry of readdirSync(join(pages, folder), { withFileTypes: true })) {
        const path = posix.join(folder, entry.name);
        if (entry.isDirectory()) { if (path !== "source" && path !== "pictures") collect(path); }
        else if (path.endsWith(".md") && path !== "index.md") read_pages.push([path, readFileSync(join(pages, path), "utf8")]);
    }
};
collect("");
writeFileSync(join(public_folder, "search.json"), JSON.stringify(search_index(read_pages)));
for (const name of ["fish.svg", "sw.js"]) copyFileSync(join(root, "web/theme", name), join(public_folder, name));
cpSync(join(root, "addons/inspector/page"), join(public_folder, "inspector"), { recursive: true }); // its page, of which Stage.vue answers the questions

// ---- programs and the compiler, for the page ----

let compiler = { clang: "", version: "", megabytes: 0 }, threads = [];
if (with_programs) {
    const made = await build_programs(root, project, public_folder);
    const bytes = Object.values(JSON.parse(readFileSync(join(public_folder, "compiler/parts.json"), "utf8"))).reduce((sum, part) => sum + part.packed, 0);
    threads = made.threads;
    compiler = { ...made.compiler, megabytes: Math.round(bytes / 1e6) };
    const drawn = examples.filter((e) => e.title.startsWith("examples/page/")).map((e) => ({ ...e, title: e.title.split("/").at(-1).replace(/\.c$/, "").replace("_", " ") }));
    const gallery = join(pages, "gallery/index.md"), cards = await gallery_cards(site, public_folder, drawn);
    writeFileSync(gallery, readFileSync(gallery, "utf8").replace(/^# Examples\n\n/m, (head) => head + cards));
}
const first = /<!-- program: first -->\n```c\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"))[1];
mkdirSync(join(public_folder, "programs"), { recursive: true });
writeFileSync(join(public_folder, "programs/sources.json"), JSON.stringify([{ name: "first", title: "the first program", source: first },
    ...examples.filter((e) => e.name && !further_sources[e.name]).map((e) => ({ name: e.name, title: e.title.replace("examples/", ""), source: e.source }))]));

// ---- VitePress ----

const headers = listing.headers.map((h) => h.name).filter((name) => !name.startsWith("reef/detail/") && existsSync(join(pages, "reference", header_page(name))));
function header_page(name) { return name.replace("reef/", "").replace(/\//g, "-").replace(".h", "") + ".md"; }
const manual = [{ text: "Topics", link: "/topics" }, ...contents_of(root).map((section, i) => ({ ...section, collapsed: i > 0 })),
    { text: "About reef", collapsed: true, items: [{ text: "Overview", link: "/overview" }, { text: "What has changed", link: "/changelog" }, { text: "Working on reef", link: "/contributing" }] }];
const reference = [{ text: "All names", link: "/reference/" }, { text: "Headers", items: headers.map((name) => ({ text: name.replace("reef/", ""), link: "/reference/" + header_page(name).replace(".md", "") })) }];
const gallery = [{ text: "Gallery", link: "/gallery/" }, { text: "Drawing, in the page", items: [{ text: "Dive, a game", link: "/gallery/dive" }, ...shown_examples(true)] }, { text: "Short programs", items: shown_examples(false) }];
function shown_examples(draws) { return examples.filter((e) => e.title.startsWith("examples/page/") === draws).map((e) => ({ text: e.title.split("/").at(-1), link: "/" + e.page.replace(".md", "") })); }
writeFileSync(join(project, "made.json"), JSON.stringify({
    out, few, names, version: listing.reef, compiler, threads, nav: [{ text: "Examples", link: "/gallery/", activeMatch: "^/gallery/" }, { text: "Playground", link: "/playground" }],
    sidebar: { "/reference/": reference, "/gallery/": gallery, "/": manual },
}));
cpSync(join(root, "web/theme"), join(project, ".vitepress/theme"), { recursive: true });
for (const name of ["config.mjs", "pages.mjs", "figures.mjs"]) copyFileSync(join(root, "web", name), join(project, ".vitepress", name));

if (only_pages) process.exit(0);
const { build } = await import(pathToFileURL(join(project, "node_modules/vitepress/dist/node/index.js")));
process.chdir(project);
process.env.NODE_ENV = "production";
await build(project);
