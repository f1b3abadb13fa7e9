// The pages of the reference: what scripts/reference made of the headers, and below it the programs that use a function and the places that explain it.
import { readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { slug } from "./pages.mjs";

const name_pattern = /\b(?:reef_[a-z]\w*|REEF_[A-Z]\w*)/g;
const most_programs = 3, most_places = 12;

// Where documents name functions: name -> [{title, heading, link}]
function places_of(documents) {
    const places = new Map();
    for (const { page, text } of documents) {
        if (page === "topics.md" || page === "changelog.md") continue;
        const title = /^# (.*)/m.exec(text)?.[1] ?? page;
        let fence = false, heading = title, anchor = "";
        for (const line of text.split("\n")) {
            if (line.startsWith("```")) fence = !fence;
            const found = !fence && /^#{2,4} (.*)/.exec(line);
            if (found) [heading, anchor] = [found[1].replace(/`/g, ""), "#" + slug(found[1])];
            if (fence) continue;
            for (const [name] of line.matchAll(name_pattern)) {
                if (!places.has(name)) places.set(name, new Map());
                const link = page + anchor;
                if (!places.get(name).has(link)) places.get(name).set(link, { title, heading, link });
            }
        }
    }
    return places;
}

// Lines around the first use in a program, from the beginning of a statement or function, without more indentation than they need.
function excerpt(source, name) {
    const lines = source.split("\n");
    const use = new RegExp(`\\b${name}\\b`);
    const at = lines.findIndex((line) => use.test(line) && !/^\s*(\/\*|\*|\/\/)/.test(line));
    if (at < 0) return null;
    let first = Math.max(0, at - 3), last = Math.min(lines.length - 1, at + 3);
    while (first < at && !lines[first].trim()) first++;
    for (let i = at - 1; i >= first; i--) if (/^[}{]?$/.test(lines[i])) { first = i + 1; break; }
    for (let i = at + 1; i <= last; i++) if (/^[}{]?$/.test(lines[i])) { last = lines[i] === "}" ? i : i - 1; break; }
    const part = lines.slice(first, last + 1);
    const indent = Math.min(...part.filter((l) => l.trim()).map((l) => /^ */.exec(l)[0].length));
    return part.map((line) => line.slice(indent)).join("\n");
}

// folder: what scripts/reference --each wrote. programs: {page, title, source, language}. Returns the pages' texts: [page, text].
export function reference_pages(site, folder, listing, documents, programs) {
    const files = new Set(readdirSync(folder));
    const places = places_of(documents);
    const topics = documents.find((d) => d.page === "topics.md")?.text.split("\n").filter((line) => line.startsWith("| ")) ?? [];
    const entries = new Map([...listing.functions, ...listing.macros].map((e) => [e.name, e]));
    const order = [...entries.values()].filter((e) => files.has(e.name + ".md")).sort((a, b) => (a.header === b.header ? a.line - b.line : 0));
    const neighbours = new Map();
    for (const header of new Set(order.map((e) => e.header))) {
        const names = order.filter((e) => e.header === header).map((e) => e.name);
        names.forEach((name, i) => neighbours.set(name, [names[i - 1], names[i + 1]]));
    }
    const header_page = (header) => "./" + header.replace("reef/", "").replace(/\//g, "-").replace(".h", "") + ".md";
    const result = [];
    for (const file of [...files].sort()) {
        const name = file.replace(/(-macro)?\.md$/, "");
        let text = readFileSync(join(folder, file), "utf8");
        text = text.replace(/(?<![/\w`[(])docs\/([\w/-]+)\.md/g, (all, path) => `[${path.split("/").at(-1).replace(/-/g, " ")}](../docs/${path}.md)`)
            .replace(/\]\((?:\.\.\/)+(?:[^)\s]*?\/)?(include|docs)\//g, "](../$1/"); // from wherever the reference was written
        const page = "reference/" + file;
        text = site.converted(text, "reference/" + file, page);
        const entry = entries.get(name);
        const head = { outline: "deep", search: file === "index.md" ? false : undefined };
        if (entry && /^[A-Za-z]+_/.test(name)) {
            const [before, after] = neighbours.get(name) ?? [];
            Object.assign(head, { kind: "function", description: entry.comment.split("\n\n")[0].replace(/\s+/g, " ").slice(0, 200) || name,
                prev: before ? { text: before, link: `/reference/${before}` } : false, next: after ? { text: after, link: `/reference/${after}` } : false });
            const above = `<div class="breadcrumb">\n\n[${entry.header}](${header_page(entry.header)})${entry.section ? " · " + entry.section : ""}\n\n</div>\n`;
            text = text.replace(/^# .*\n/, (title) => title + "\n" + above);
            text += used_in(site, name, programs, page) + explained_in(places.get(name), page) + topics_of(site, topics, name, page) + variants(name, files);
        } else {
            Object.assign(head, { kind: "header", prev: false, next: false, description: `Everything that ${name} declares` });
        }
        result.push([page, `---\n${Object.entries(head).filter(([, v]) => v !== undefined).map(([k, v]) => `${k}: ${JSON.stringify(v)}`).join("\n")}\n---\n\n${text}`]);
    }
    return result;
}

const from = (page, to) => { const path = posix.relative(posix.dirname(page), to.split("#")[0]); return (path.startsWith(".") ? path : "./" + path) + (to.includes("#") ? "#" + to.split("#")[1] : ""); };

function used_in(site, name, programs, page) {
    const use = new RegExp(`\\b${name}\\b`);
    const users = programs.filter((p) => use.test(p.source));
    const shown = [];
    for (const program of users.slice(0, most_programs)) {
        const part = excerpt(program.source, name);
        if (part) shown.push(`[${program.title}](${from(page, program.page)})\n\n\`\`\`${program.language}\n${part}\n\`\`\`\n`);
    }
    const others = users.slice(most_programs, most_programs + most_places).map((p) => `[${p.title}](${from(page, p.page)})`);
    const unique = [...new Set(others)];
    if (shown.length === 0) return "";
    return `\n## In programs\n\n${shown.join("\n")}${unique.length ? "\nAlso in " + unique.join(", ") + ".\n" : ""}`;
}

function explained_in(places, page) {
    if (!places) return "";
    const list = [...places.values()].slice(0, most_places).map((p) =>
        `- [${p.heading === p.title ? p.title : p.title + ": " + p.heading}](${from(page, p.link)})`);
    return `\n## In the manual\n\n${list.join("\n")}\n`;
}

// One call in several forms: by type and by id, for another language.
function variants(name, files) {
    const stem = name.replace(/^reef_plain_/, "reef_").replace(/_id$/, "");
    const found = [stem, stem + "_id", stem.replace(/^reef_/, "reef_plain_"), stem.replace(/^reef_(?!cmd_)/, "reef_cmd_"), stem.replace(/^reef_cmd_/, "reef_")]
        .filter((other, i, all) => other !== name && all.indexOf(other) === i && files.has(other + ".md"));
    return found.length ? `\n## In another form\n\n${found.map((other) => `- [${other}](./${other}.md)`).join("\n")}\n` : "";
}

function topics_of(site, topics, name, page) {
    const rows = topics.filter((row) => row.includes("`" + name + "`")).map((row) => row.split(/(?<!\\) ?\| ?/).slice(1, 3));
    if (rows.length === 0) return "";
    return site.converted(`\n## Topics\n\n${rows.map(([topic, read]) => `- ${topic}: ${read}`).join("\n")}\n`, "docs/topics.md", page);
}
