// What the search knows: a section for each heading of each page, with its text. theme/search.mjs searches in it.
import { slug } from "./pages.mjs";

function plain(text) {
    return text.replace(/^---\n[\s\S]*?\n---\n/, "").replace(/<[^>]+>/g, " ").replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\]\([^)]*\)/g, "")
        .replace(/&lt;/g, "<").replace(/&#123;/g, "{").replace(/[`*[\]|\\]/g, " ").replace(/-{3,}/g, " ").replace(/\s+/g, " ").trim();
}

// pages: [page, Markdown with its head]. Returns {pages: [[title, address]], sections: [[page, heading, anchor, text]]}, numbers instead of names.
export function search_index(pages) {
    const result = { pages: [], sections: [] };
    for (const [page, text] of pages) {
        if (/^search: false$/m.test(text.split("\n---\n")[0])) continue;
        const number = result.pages.length;
        const is_function = /^kind: "function"$/m.test(text);
        let title = page, heading = "", anchor = "", body = [], fence = false;
        const done = () => {
            const said = plain(body.join("\n"));
            if (said || heading) result.sections.push([number, heading, anchor, said]);
            body = [];
        };
        for (const line of text.replace(/^---\n[\s\S]*?\n---\n/, "").split("\n")) {
            if (line.startsWith("```")) { fence = !fence; continue; }
            const found = !fence && /^(#{1,4}) (.*)/.exec(line);
            if (!found) { body.push(line); continue; }
            if (found[1] === "#") { title = plain(found[2]); continue; }
            if (is_function) { if (found[2] === "In programs") break; continue; } // one section; what links to it isn't about it
            done();
            [heading, anchor] = [plain(found[2]), slug(found[2])];
        }
        done();
        result.pages.push([title, page.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html"), is_function ? 1 : 0]);
    }
    return result;
}
