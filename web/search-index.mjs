// What the search knows: a section for each heading of each page, with its text. theme/search.mjs searches in it.
import { slug } from "./pages.mjs";

function plain(text) {
    return text.replace(/^---\n[\s\S]*?\n---\n/, "").replace(/<svg[\s\S]*?<\/svg>|<[^>]+>/g, " ").replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\]\([^)]*\)/g, "")
        .replace(/&lt;/g, "<").replace(/&#123;/g, "{").replace(/[`*[\]|\\]/g, " ").replace(/-{3,}/g, " ").replace(/\s+/g, " ").trim();
}

// What the pages of functions say below the function itself: what leads to it isn't about it.
const leads_to_it = ["In programs", "In the manual", "Topics", "In another form"];

// pages: [page, Markdown with its head]. Returns {pages: [[title, address]], sections: [[page, heading, anchor, text]]}, numbers instead of names.
export function search_index(pages) {
    const result = { pages: [], sections: [] };
    for (const [page, text] of pages) {
        if (/^search: false$/m.test(text.split("\n---\n")[0])) continue;
        const number = result.pages.length;
        const is_function = /^kind: "function"$/m.test(text);
        let title = page, heading = "", anchor = "", body = [], code = [], fence = false;
        const done = () => {
            const said = plain([...body, ...code].join("\n")); // what people read comes before programs
            if (said || heading) result.sections.push([number, heading, anchor, said]);
            body = [];
            code = [];
        };
        for (const line of text.replace(/^---\n[\s\S]*?\n---\n/, "").split("\n")) {
            if (line.startsWith("```")) { fence = !fence; continue; }
            if (fence) { code.push(line.replace(/</g, "&lt;")); continue; }
            const found = /^(#{1,4}) (.*)/.exec(line);
            if (!found) { body.push(line); continue; }
            if (found[1] === "#") { title = plain(found[2]); continue; }
            if (is_function) { if (leads_to_it.includes(found[2])) break; continue; } // one section
            done();
            [heading, anchor] = [plain(found[2]), slug(found[2])];
        }
        done();
        result.pages.push([title, page.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html"), is_function ? 1 : 0]);
    }
    return result;
}
