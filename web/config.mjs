// The configuration of VitePress. web/build.mjs copies it to build/site/.vitepress/ and writes the pages beside it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";
import { picture_size, slug } from "./pages.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const made = JSON.parse(readFileSync(here("../made.json"), "utf8")); // by build.mjs: sidebar, names, version, out
const base = process.env.REEF_SITE_BASE ?? "/";
const names = new Map(made.names); // name: its page in the reference

// In prose and in code the names of functions lead to the reference.
function link_of(name) {
    const page = names.get(name);
    return page ? `${base}reference/${page}.html` : null;
}

function with_links(md) {
    const code = md.renderer.rules.code_inline;
    md.renderer.rules.code_inline = (tokens, i, options, env, self) => {
        const html = code(tokens, i, options, env, self).replace(/^<code(?! v-pre)/, "<code v-pre"); // "{{" in it is text
        const name = /^(\w+)(\(.*\))?$/.exec(tokens[i].content)?.[1];
        const depth = tokens.slice(0, i).reduce((open, token) => open + (token.type === "link_open") - (token.type === "link_close"), 0);
        const to = depth === 0 && name && !env.relativePath?.startsWith(`reference/${names.get(name)}.`) && link_of(name);
        return to ? `<a class="name" href="${to}">${html}</a>` : html;
    };
    const fence = md.renderer.rules.fence;
    md.renderer.rules.fence = (tokens, i, options, env, self) =>
        fence(tokens, i, options, env, self).replace(/>([^<>]*\b(?:reef|REEF)_[^<>]*)</g, (all, text) =>
            ">" + text.replace(/\b(?:reef|REEF)_\w+/g, (name) => {
                const to = !env.relativePath?.startsWith(`reference/${names.get(name)}.`) && link_of(name);
                return to ? `<a class="name" href="${to}">${name}</a>` : name;
            }) + "<");
    const image = md.renderer.rules.image;
    md.renderer.rules.image = (tokens, i, options, env, self) => {
        const size = picture_size(readFileSync(join(here("../pages"), dirname(env.relativePath), tokens[i].attrGet("src"))));
        ["width", "height"].forEach((name, k) => { if (size) tokens[i].attrSet(name, String(size[k])); });
        return image(tokens, i, options, env, self);
    };
    // A wide table scrolls in itself, not the page; by the keyboard, too.
    md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
    md.renderer.rules.table_close = () => "</table></div>\n";
    md.renderer.rules.html_block = ((rule) => (tokens, i, ...rest) => (rule ? rule(tokens, i, ...rest) : tokens[i].content))(md.renderer.rules.html_block);
}

export default {
    title: "reef",
    titleTemplate: ":title · reef",
    description: "An entity component system in C11 whose worlds are values",
    lang: "en",
    base,
    srcDir: "pages",
    outDir: made.out,
    cacheDir: here("../cache"),
    cleanUrls: false,
    ignoreDeadLinks: made.few,
    router: { prefetchLinks: false }, // pages are small; the first one stays so
    metaChunk: true, // the table of pages in a file of its own, not in each page
    head: [
        ["link", { rel: "icon", href: base + "fish.svg", type: "image/svg+xml" }],
        ["meta", { name: "theme-color", content: "#0b6e75" }],
    ],
    markdown: {
        anchor: { slugify: slug },
        toc: { slugify: slug },
        theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
        config: with_links,
        image: { lazyLoading: true },
        languages: [],
        languageAlias: { meson: "python", console: "sh" },
    },
    themeConfig: {
        logo: "/fish.svg",
        nav: [
            { text: "Topics", link: "/topics" },
            { text: "Manual", link: "/manual/", activeMatch: "^/(manual|start|rules|files|internals)/(?!performance)" },
            { text: "Reference", link: "/reference/", activeMatch: "^/reference/" },
            { text: "Benchmark", link: "/rules/performance" },
            ...made.nav,
        ],
        sidebar: made.sidebar,
        outline: { level: [2, 3], label: "On this page" },
        docFooter: { prev: "Previous", next: "Next" },
        darkModeSwitchLabel: "Colours",
        sidebarMenuLabel: "Contents",
        returnToTopLabel: "To the top",
        notFound: { title: "There is no such page", quote: "It may have another name now. The search finds it, and the topics list what you may want to do.", linkText: "To the first page" },
        version: made.version,
        compiler: made.compiler, threads: made.threads,
    },
    vite: {
        configFile: false,
        publicDir: here("../public"),
        resolve: { alias: [{ find: /^.*\/VPNavBarSearch\.vue$/, replacement: here("./theme/NavSearch.vue") }] },
        build: { chunkSizeWarningLimit: 1500 },
        worker: { format: "es" },
    },
};
