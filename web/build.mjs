// node web/build.mjs PROJECT OUT [--pages]: writes the pages of the site into PROJECT (build/site), and has VitePress build OUT (out/site) of them.
//
// PROJECT has the packages of package.json, api.json (scripts/listing) and ref/ (scripts/reference --each). REEF_SITE_BASE is the folder of the server in
// which the site will stand. --pages writes the pages and what the search knows, and leaves VitePress out: that needs no packages.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { contents_of, documents_of, new_site } from "./pages.mjs";
import { reference_pages } from "./reference.mjs";
import { search_index } from "./search-index.mjs";
import { dive_page, home_page } from "./home.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const project = resolve(process.argv[2]), out = resolve(process.argv[3]);
const only_pages = process.argv.includes("--pages");
const pages = join(project, "pages"), public_folder = join(project, "public");

for (const folder of [pages, public_folder, join(project, ".vitepress")]) rmSync(folder, { recursive: true, force: true });
mkdirSync(pages, { recursive: true });
mkdirSync(public_folder, { recursive: true });

const listing = JSON.parse(readFileSync(join(project, "api.json"), "utf8"));
const site = new_site(root, pages);
const documents = documents_of(root);
for (const file of documents) site.document(file);

const examples = readdirSync(join(root, "examples")).filter((name) => /\.(c|cpp)$/.test(name)).map((name) => ({
    page: `gallery/${name.replace(/\.\w+$/, "")}.md`, title: "examples/" + name, name: name.replace(/\.\w+$/, ""),
    source: readFileSync(join(root, "examples", name), "utf8"), language: name.endsWith(".c") ? "c" : "cpp",
    output: readFileSync(join(root, "examples", name.replace(/\.\w+$/, ".expected")), "utf8"),
}));
for (const example of examples) {
    const about = /^\s*\/\*([\s\S]*?)\*\/|^((?:\/\/.*\n)+)/.exec(example.source);
    const name = example.title;
    site.write(example.page, `---\noutline: false\n---\n\n# ${name}\n\n\`\`\`${example.language}\n${example.source.trimEnd()}\n\`\`\`\n\n` +
        `<div class="output" data-title="Output">\n\n\`\`\`txt\n${example.output.trimEnd()}\n\`\`\`\n\n</div>\n`);
}

const texts = [...new Set(documents)].map((file) => { const page = site.page_of(file); return { page, file, text: readFileSync(join(root, file), "utf8") }; });
const written = reference_pages(site, join(project, "ref"), listing, texts, [...examples, ...site.programs]);
const names = [];
for (const [page, text] of written) {
    const name = posix.basename(page, ".md");
    site.write(page, text);
    if (/^(reef|REEF)_/.test(name)) names.push([name.replace(/-macro$/, ""), name]);
}
site.write("gallery/dive.md", dive_page(site));
site.write("index.md", home_page(root, site));
site.source_pages();

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
copyFileSync(join(root, "web/theme/fish.svg"), join(public_folder, "fish.svg"));

// ---- VitePress ----

const headers = listing.headers.map((h) => h.name).filter((name) => !name.startsWith("reef/detail/") && existsSync(join(pages, "reference", header_page(name))));
function header_page(name) { return name.replace("reef/", "").replace(/\//g, "-").replace(".h", "") + ".md"; }
const manual = [{ text: "Topics", link: "/topics" }, ...contents_of(root).map((section, i) => ({ ...section, collapsed: i > 0 })),
    { text: "About reef", collapsed: true, items: [{ text: "Overview", link: "/overview" }, { text: "What has changed", link: "/changelog" }, { text: "Working on reef", link: "/contributing" }] }];
const reference = [{ text: "All names", link: "/reference/" }, { text: "Headers", items: headers.map((name) => ({ text: name.replace("reef/", ""), link: "/reference/" + header_page(name).replace(".md", "") })) }];
const gallery = [{ text: "Gallery", link: "/gallery/" }, { text: "Short programs", items: examples.map((e) => ({ text: e.title.replace("examples/", ""), link: "/" + e.page.replace(".md", "") })) }];
writeFileSync(join(project, "made.json"), JSON.stringify({
    out, names, version: listing.reef, nav: [{ text: "Examples", link: "/gallery/", activeMatch: "^/gallery/" }],
    sidebar: { "/reference/": reference, "/gallery/": gallery, "/": manual },
}));
cpSync(join(root, "web/theme"), join(project, ".vitepress/theme"), { recursive: true });
for (const name of ["config.mjs", "pages.mjs"]) copyFileSync(join(root, "web", name), join(project, ".vitepress", name));

if (only_pages) process.exit(0);
const { build } = await import(pathToFileURL(join(project, "node_modules/vitepress/dist/node/index.js")));
process.chdir(project);
process.env.NODE_ENV = "production";
await build(project);
