// The documents as pages of the site: which there are, in which order, and how their Markdown becomes that of VitePress.
//
// The documents are the one source, and stay readable without the site. So what the site needs is done here, to copies: links to files that are no
// documents lead to pages that show them, "<T>" and "{{" are text, the marks of programs become a box with program and output.
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, copyFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { deflateRawSync } from "node:zlib";
import { with_picture } from "./figures.mjs";

// Where a document of the repository stands in the site. Everything in docs/ keeps its path.
const special = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/README.md": "manual/index.md",
    "examples/README.md": "gallery/index.md",
    "examples/living_reef/README.md": "gallery/living-reef-program.md",
    "packaging/npm/README.md": "manual/npm.md",
};

export function page_of(document) {
    if (special[document]) return special[document];
    if (document.startsWith("docs/") && document.endsWith(".md")) return document.slice("docs/".length);
    return null;
}

// examples/NAME.c and examples/page/NAME.c have pages of the gallery.
export function example_page(file) {
    const example = /^examples\/(page\/)?(\w+)\.(c|cpp)$/.exec(file);
    return example ? `gallery/${example[1] ? "page_" : ""}${example[2]}.md` : null;
}

export function documents_of(root) {
    const found = Object.keys(special);
    const walk = (folder) => {
        for (const name of readdirSync(join(root, folder)).sort()) {
            const path = posix.join(folder, name);
            if (statSync(join(root, path)).isDirectory()) walk(path);
            else if (name.endsWith(".md") && !special[path]) found.push(path);
        }
    };
    walk("docs");
    return found;
}

// The anchors of headings, as tests/docs/links makes them.
export function slug(heading) {
    return heading.replace(/\]\([^)]*\)/g, "").toLowerCase().replace(/[^a-z0-9_ -]/g, "").replace(/ /g, "-");
}

// The sections of docs/README.md with their pages: the sidebar, and the order of previous and next.
export function contents_of(root) {
    const sections = [];
    for (const line of readFileSync(join(root, "docs/README.md"), "utf8").split("\n")) {
        const heading = /^## (.*)/.exec(line);
        if (heading) sections.push({ text: heading[1], items: [] });
        if (!line.startsWith("| [") || sections.length === 0) continue;
        const row = line.split(" | ")[0];
        for (const [, text, to] of row.matchAll(/\[([^\]]*)\]\(([^)#]*\.md)\)/g)) {
            sections.at(-1).items.push({ text, link: "/" + page_of(posix.join("docs", to)).replace(/(index)?\.md$/, "") });
        }
    }
    return sections.filter((section) => section.items.length > 0);
}

// A program as the playground's address has it behind the #; theme/share.mjs reads it.
export function packed(source) {
    return deflateRawSync(Buffer.from(source), { level: 9 }).toString("base64url");
}

// Width and height of a picture, so that nothing moves when it comes; null where its file doesn't say.
export function picture_size(bytes) {
    const text = bytes.subarray(0, 400).toString("latin1");
    if (text.startsWith("\x89PNG")) return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    if (text.startsWith("RIFF") && text.slice(12, 16) === "VP8X") return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    if (/^(<\?xml[^>]*>\s*)?<svg/.test(text)) {
        const box = /viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"/.exec(text);
        return box ? [Math.round(box[1]), Math.round(box[2])] : null;
    }
    for (let at = 2; text.startsWith("\xff\xd8") && at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) { // JPEG: the head of a frame
        const kind = bytes[at + 1];
        if (kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind)) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    }
    return null;
}

// ---- one document ----

// Calls `change` with each part of a text that stands outside of fences.
export function outside_of_code(text, change) {
    return text.split(/^(```[\s\S]*?^```$)/m).map((part, i) => (i % 2 ? part : change(part))).join("");
}

function outside_of_backticks(text, change) {
    return text.split(/(`+[^`]*`+)/).map((part, i) => (i % 2 ? part : change(part))).join("");
}

const is_in_backticks = (text, at) => (text.slice(0, at).split("`").length - 1) % 2 === 1;
const escape_html = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

class Site {
    constructor(root, pages) {
        this.root = root;
        this.pages = pages;      // the folder of pages
        this.sources = new Set(); // files of the repository that pages show
        this.programs = [];      // of documents: {page, title, name, source, output}
    }

    page_of(file) { return page_of(file); }

    write(page, text) {
        const path = join(this.pages, page);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
    }

    // A picture with an address of its own, beside the pages.
    public_picture(name) {
        mkdirSync(join(this.pages, "../public/pictures"), { recursive: true });
        copyFileSync(join(this.root, "docs/pictures", name), join(this.pages, "../public/pictures", name));
    }

    source_page(path) {
        this.sources.add(path);
        return "source/" + path + (statSync(join(this.root, path)).isDirectory() ? "/index.md" : ".md");
    }

    // A link of a page that was made of a file in `folder`, as seen from `page`.
    link(folder, page, to) {
        if (/^[a-z]+:/.test(to) || to.startsWith("#")) return to;
        const [path, anchor] = to.split("#");
        const file = posix.normalize(posix.join(folder, path)).replace(/\/$/, "");
        let there = page_of(file);
        let hash = anchor ? "#" + anchor : "";
        there ??= example_page(file);
        if (file === "examples/dive" && !anchor) there = "gallery/dive.md";
        if (!there && file.startsWith("reference/")) there = file;
        if (!there && /\.(svg|png|jpg|webp)$/.test(file)) {
            const name = "pictures/" + posix.basename(file);
            const copy = join(this.pages, name);
            mkdirSync(dirname(copy), { recursive: true });
            if (!existsSync(copy)) copyFileSync(join(this.root, file), copy);
            there = name;
        }
        if (!there) {
            if (!existsSync(join(this.root, file))) throw new Error(`${page}: a link to ${to}, which isn't there`);
            there = this.source_page(file);
            hash = hash.replace(/^#L/, "#line-");
        }
        let from = posix.relative(posix.dirname(page), there);
        if (!from.startsWith(".")) from = "./" + from;
        return from + hash;
    }

    // Markdown of the repository as Markdown of VitePress.
    converted(text, file, page) {
        const folder = posix.dirname(file);
        text = outside_of_code(text, (part) => {
            part = part.replace(/\]\(([^)\s]+)\)/g, (all, to, at) => (is_in_backticks(part, at) ? all : `](${this.link(folder, page, to)})`));
            return outside_of_backticks(part, (prose) => prose.replace(/<(?!!--|a id=|\/a>|br>|https?:)/g, "&lt;").replace(/\{\{/g, "&#123;&#123;"));
        });
        return this.with_programs(text, page);
    }

    // <!-- program: NAME --> and <!-- output: NAME --> before fences: a link to the playground, and a box for the output.
    with_programs(text, page) {
        const title = /^# (.*)/m.exec(text)?.[1] ?? page;
        const lines = text.split("\n"), result = [];
        const programs = new Map(), files = new Map();
        for (let i = 0; i < lines.length; i++) {
            const mark = /^<!-- (program|output|checked|file): ([a-z_0-9.]+) -->$/.exec(lines[i]);
            if (!mark) {
                if (!/^<!--.*-->$/.test(lines[i])) result.push(lines[i]);
                continue;
            }
            const [, kind, name] = mark;
            while (!lines[i].startsWith("```")) i++;
            const language = lines[i].slice(3), body = [];
            for (i++; lines[i] !== "```"; i++) body.push(lines[i]);
            const source = body.join("\n") + "\n";
            if (kind === "file") files.set(name, source);
            if (kind === "program") programs.set(name, { page, title, name, source, language, with_files: files.size > 0 });
            if (kind === "output" || kind === "checked") Object.assign(programs.get(name) ?? {}, { [kind]: source });
            if (kind === "output" || kind === "checked") {
                result.push(`<div class="output" data-title="${kind === "output" ? "Output" : "Output of the checked build"}">`, "",
                    "```" + (language || "txt"), ...body, "```", "", "</div>");
            } else {
                result.push("```" + language + (kind === "file" ? ` [${name}]` : ""), ...body, "```");
                const runs = kind === "program" && language === "c" && runs_in_the_page(source) && files.size === 0;
                if (runs) result.push("", `<RunLink to="${packed(source)}" />`, "");
            }
        }
        this.programs.push(...programs.values());
        return result.join("\n");
    }

    document(file) {
        const page = page_of(file);
        let text = this.converted(readFileSync(join(this.root, file), "utf8"), file, page);
        if (file === "docs/topics.md") text = topics_as_list(text);
        if (file === "docs/rules/performance.md") text = with_picture(text);
        this.write(page, front(text, page, file) + text);
        return page;
    }

    // Files and folders that pages lead to.
    source_pages() {
        for (const path of this.sources) {
            if (statSync(join(this.root, path)).isDirectory()) {
                const names = readdirSync(join(this.root, path)).sort().map((name) => {
                    const inner = posix.join(path, name);
                    return "- `" + name + (statSync(join(this.root, inner)).isDirectory() ? "/" : "") + "`";
                });
                this.write(`source/${path}/index.md`, `${plain_page}# ${path}/\n\n${names.join("\n")}\n`);
                continue;
            }
            const body = readFileSync(join(this.root, path), "utf8").replace(/\n$/, "").split("\n");
            const rows = body.map((line, i) => `<span class="source-line" id="line-${i + 1}">${escape_html(line)}\n</span>`);
            this.write(`source/${path}.md`, `${plain_page}# ${path}\n\n<pre class="source" v-pre tabindex="0"><code>${rows.join("").replace(/\n\s*\n/g, "\n&#32;\n")}</code></pre>\n`);
        }
    }
}

const plain_page = "---\nsidebar: false\naside: false\nprev: false\nnext: false\nsearch: false\n---\n\n";

// The head of a page: its title and description.
function front(text, page, file) {
    const first = text.split("\n\n").find((part) => /^[A-Z*]/.test(part)) ?? "";
    const description = first.replace(/\]\([^)]*\)/g, "").replace(/[[\]*`]/g, "").replace(/\s+/g, " ").replace(/"/g, "'").slice(0, 200);
    const wide = page === "rules/performance.md" ? "\npageClass: wide" : "";
    return `---\ndescription: ${JSON.stringify(description)}\nsource: ${JSON.stringify(file)}${wide}\n---\n\n`;
}

// What needs more than one file, threads of the system, an add-on or files stays out of the playground.
export function runs_in_the_page(source) {
    return /\bint main\(/.test(source) && !/#include [<"](?!reef|std|math|string|ctype|float|limits|assert|inttypes|errno|stddef|time)/.test(source) &&
        !/#include <(reef_|threads|reef\/journal)/.test(source) && !/\b(fopen|reef_save|reef_load|reef_load_plan|reef_file_\w+|reef_journal_open)\(/.test(source);
}

// The table of topics, a row each, doesn't fit a phone. On the site a topic is a line with its pages, and its functions below it.
function topics_as_list(text) {
    const lines = [];
    for (const line of text.split("\n")) {
        if (!line.startsWith("| ")) {
            if (!line.startsWith("|---")) lines.push(line);
            continue;
        }
        const [, topic, read, functions] = line.split(/(?<!\\) ?\| ?/);
        if (topic === "looking for") continue;
        lines.push(`<div class="topic">\n\n${topic}\n\n<div class="topic-pages">\n\n${read}\n\n</div>\n\n${functions ? `<div class="topic-calls">\n\n${functions}\n\n</div>\n\n` : ""}</div>\n`);
    }
    return lines.join("\n").replace("# Topics", "# Topics\n\n<TopicFilter />").replace(/This table lists what you may want to do, with the page that explains it, the functions, and a test that shows it\.[^\n]*/,
        "What you may want to do, with the page that explains it, and the functions.");
}

export function new_site(root, pages) { return new Site(root, pages); }
