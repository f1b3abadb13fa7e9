// node browser.mjs [--quick] OUT PROJECT BASE [PICTURES]: tests the built site in Chromium: links, anchors, sizes, search, keyboard, phone, contrast. PROJECT has
// playwright-core; CHROMIUM is the browser (/usr/bin/chromium). Exits with 77, which means "skipped", without them. PICTURES gets pictures of pages.
//
// --quick is for a site that was built with --few and --no-programs (web/build.mjs): the parts that need neither a program nor the compiler. ./test runs these.
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parts as deploys } from "./deploys.mjs";
import { parts as programs } from "./programs.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const quick = process.argv.includes("--quick"), words = process.argv.slice(2).filter((word) => word !== "--quick");
const [out, project, base, pictures] = [resolve(words[0]), resolve(words[1]), words[2] ?? "/", words[3]];
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath) || !existsSync(join(project, "node_modules/playwright-core"))) {
    console.log("skipped: no playwright-core or no " + executablePath);
    process.exit(77);
}
const { chromium } = createRequire(join(project, "package.json"))("playwright-core");
const { serve } = await import(pathToFileURL(join(root, "web/serve.mjs")));

const patience = 300000; // ms; it only ends what hangs

let failures = 0;
function check(good, what) {
    console.log((good ? "ok      " : "FAILED  ") + what);
    if (!good) failures++;
}

// ---- without a browser: every link of every page leads to a page, and to a place in it ----

function files_of(folder, found = []) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) files_of(path, found); else found.push(path);
    }
    return found;
}

function check_links() {
    const pages = files_of(out).filter((path) => path.endsWith(".html"));
    const ids = new Map(pages.map((path) => [path, new Set([...readFileSync(path, "utf8").matchAll(/ id="([^"]+)"/g)].map((m) => m[1]))]));
    const dead = new Set(), elsewhere = new Set();
    let count = 0, unbuilt = 0;
    for (const page of pages) {
        const html = readFileSync(page, "utf8");
        for (const [, kind, to] of html.matchAll(/ (href|src)="([^"]*)"/g)) {
            if (to.startsWith("data:") || to.startsWith("mailto:")) continue;
            if (/^(https?:)?\/\//.test(to)) { if (kind === "src" || /<link[^>]*$/.test(html.slice(0, html.indexOf(to)))) elsewhere.add(to); continue; }
            count++;
            const url = new URL(to.replace(/&amp;/g, "&"), "http://x" + base + page.slice(out.length + 1));
            let file = join(out, decodeURIComponent(url.pathname).slice(base.length));
            if (file.endsWith("/")) file += "index.html";
            if (url.pathname === base) file = join(out, "index.html");
            const anchor = decodeURIComponent(url.hash.slice(1));
            if (quick && file.endsWith(".html") && !existsSync(file)) unbuilt++; // pages.mjs knows whether there is such a page
            else if (!existsSync(file)) dead.add(`${page.slice(out.length + 1)}: ${to}`);
            else if (anchor && !/^(program|example)=/.test(anchor) && ids.has(file) && !ids.get(file).has(anchor)) dead.add(`${page.slice(out.length + 1)}: ${to} (no such place)`);
        }
    }
    for (const link of [...dead].slice(0, 20)) console.log("    " + link);
    check(dead.size === 0, `${count - unbuilt} links of ${pages.length} pages lead somewhere (${dead.size} don't)`);
    check(count - unbuilt > 1000, "and they are more than 1,000");
    check(elsewhere.size === 0, "nothing is loaded from elsewhere" + [...elsewhere].map((to) => "\n    " + to).join(""));
    const text = files_of(out).filter((path) => /\.(html|js|json)$/.test(path)).map((path) => readFileSync(path, "utf8")).find((t) => t.includes(root + "/"));
    check(!text, "no page names a path of this machine");
}

// ---- in the browser ----

const { server, address } = await serve(out, { base });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--host-resolver-rules=MAP reef.test 127.0.0.1"] });
const outside = [];

async function new_page(options = {}, of = address) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    page.errors = [];
    page.bytes = 0;
    page.on("pageerror", (error) => page.errors.push(error.message));
    page.on("console", (message) => { if (message.type() === "error") page.errors.push(message.text()); });
    page.on("request", (request) => { if (!request.url().startsWith(of) && !/^(data|blob):/.test(request.url())) outside.push(request.url()); });
    page.on("requestfinished", async (request) => { try { const s = await request.sizes(); page.bytes += s.responseBodySize + s.responseHeadersSize; } catch { /* the page is gone */ } });
    return page;
}
const picture = async (page, name) => { if (pictures) { mkdirSync(pictures, { recursive: true }); await page.screenshot({ path: join(pictures, name + ".png") }); } };
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function first_page() {
    const page = await new_page();
    await page.addInitScript(() => {
        window.shift = 0;
        new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.shift += e.value; }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(address, { waitUntil: "load" });
    await page.waitForTimeout(1500);
    const { ms, shift } = await page.evaluate(() => ({ ms: performance.getEntriesByType("navigation")[0].loadEventEnd, shift: window.shift }));
    console.log(`        the first page: ${(page.bytes / 1024).toFixed(0)} KiB, load after ${ms.toFixed(0)} ms, layout shift ${shift.toFixed(3)}`);
    check(page.bytes <= 150 * 1024, "the first page takes at most 150 KiB");
    check(shift < 0.02, "nothing moves while it loads");
    check(page.errors.length === 0, "it has no errors" + page.errors.map((e) => "\n    " + e).join(""));
    await picture(page, "home-desk-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForTimeout(300);
    await picture(page, "home-desk-dark");
    await page.context().close();
}

async function searching() {
    const page = await new_page();
    await page.goto(address + "manual/queries.html");
    // Before its scripts run, a page hears no key: whoever types then, types again.
    for (let tries = 0; tries < 100 && !(await page.$("dialog.search-box[open]")); tries++) {
        await page.keyboard.press("/");
        await page.waitForTimeout(300);
    }
    await page.waitForSelector("dialog.search-box[open] input");
    const first = async (typed) => {
        await page.fill("dialog.search-box input", typed);
        await page.waitForFunction(() => document.querySelector("#search-results li"));
        await page.waitForTimeout(50);
        return page.textContent("#search-results li strong");
    };
    let slowest = 0;
    for (const name of ["reef_query_new", "reef_get", "reef_spawn", "REEF_COMPONENT"]) {
        check((await first(name)) === name, `the search finds ${name} first`);
        slowest = Math.max(slowest, Number(await page.evaluate(() => document.documentElement.dataset.searchMs)));
    }
    const titles = { "rewind": /Worlds as values|rewind/i, "memory runs out": /./, "fork": /reef_fork|Worlds as values|fork/i };
    for (const [typed, title] of Object.entries(titles)) {
        check(title.test(await first(typed)), `the search finds "${typed}"`);
        slowest = Math.max(slowest, Number(await page.evaluate(() => document.documentElement.dataset.searchMs)));
    }
    console.log(`        the slowest answer took ${slowest} ms`);
    await first("fork a world");
    await picture(page, "search-desk-light");
    await first("reef_query_new");
    await page.keyboard.press("Enter");
    await page.waitForURL(/reference\/reef_query_new\.html/);
    const opened = await page.waitForFunction(() => document.querySelector("h1")?.textContent.includes("reef_query_new")).catch(() => null);
    check(opened, "Enter opens the first result");
    await page.waitForTimeout(500);
    await picture(page, "function-desk-light");
    check(page.errors.length === 0, "the search has no errors" + page.errors.map((e) => "\n    " + e).join(""));
    await page.context().close();
}

async function topics() {
    const page = await new_page({ colorScheme: "dark" });
    await page.goto(address + "topics.html");
    const all = await page.locator(".topic:visible").count();
    await picture(page, "topics-desk-dark");
    // What is typed before the page's scripts run is heard by nobody.
    for (let tries = 0; tries < 100 && !/topic/.test(await page.textContent(".topic-filter [role=status]")); tries++) {
        await page.fill(".topic-filter input", "");
        await page.fill(".topic-filter input", "destroy many");
        await page.waitForTimeout(200);
    }
    const some = await page.locator(".topic:visible").count();
    check(all > 100 && some > 0 && some < all, `${some} of ${all} topics are about "destroy many"`);
    await page.goto(address + "rules/performance.html#figures");
    await page.waitForTimeout(400);
    await picture(page, "performance-desk-dark");
    await page.context().close();
}

const seen_pages = ["", "topics.html", "manual/", "manual/queries.html", "start/first-hour.html", "start/cheatsheet.html", "start/concepts.html", "rules/performance.html",
    "rules/errors-and-limits.html", "reference/", "reference/reef_spawn.html", "reference/query.html", "gallery/", "gallery/what_if.html", "overview.html", "changelog.html", "source/include/reef.h.html"];

async function on_a_phone() {
    const page = await new_page({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
    const wide = [];
    for (const path of seen_pages) {
        await page.goto(address + path);
        await page.waitForTimeout(150);
        const by = await overflow(page);
        if (by > 0) wide.push(`${path || "the first page"} by ${by}`);
        if (["", "topics.html", "manual/queries.html", "reference/reef_spawn.html", "rules/performance.html"].includes(path)) await picture(page, "phone-" + (path.replace(/\W/g, "-") || "home"));
    }
    check(wide.length === 0, `no page of ${seen_pages.length} is wider than a phone` + wide.map((w) => "\n    " + w).join(""));
    check(page.errors.length === 0, "no page has errors" + page.errors.map((e) => "\n    " + e).join(""));
    await page.goto(address + "manual/queries.html");
    for (let tries = 0; tries < 100 && !(await page.isVisible(".VPSidebar.open")); tries++) {
        await page.click(".VPLocalNav button.menu");
        await page.waitForSelector(".VPSidebar.open", { timeout: 3000 }).catch(() => null);
    }
    await page.waitForTimeout(600); // it slides in
    check(await page.isVisible(".VPSidebar.open"), "the contents open on a phone");
    await picture(page, "phone-contents");
    await page.context().close();
}

// WCAG's ratio of contrast for the texts that are seen, against the colour behind them.
const contrast = () => {
    const channel = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const over = (top, below) => { const a = top[3] / 255; return [0, 1, 2].map((i) => top[i] * a + below[i] * (1 - a)); };
    const behind = (element) => {
        if (!element) return [255, 255, 255];
        const colour = rgba(getComputedStyle(element).backgroundColor);
        return colour[3] === 255 ? colour : over(colour, behind(element.parentElement));
    };
    const bad = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        const element = node.parentElement;
        if (!node.textContent.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        const style = getComputedStyle(element), back = behind(element), front = over(rgba(style.color), back);
        const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05), large = parseFloat(style.fontSize) >= 24;
        if (ratio < (large ? 3 : 4.5)) bad.set(`${style.color} on ${back.map(Math.round)}: ${ratio.toFixed(2)} (${element.className || element.tagName})`, node.textContent.trim().slice(0, 30));
    }
    return [...bad].slice(0, 8).map(([k, v]) => `${k}: "${v}"`);
};

async function for_everybody() {
    for (const colorScheme of ["light", "dark"]) {
        const page = await new_page({ colorScheme });
        const bad = [], unnamed = [];
        for (const path of ["", "topics.html", "manual/queries.html", "manual/inspector.html", "reference/reef_fork.html", "gallery/", "gallery/dive.html", "playground.html", "no-such-page.html"]) {
            await page.goto(address + path);
            if (path === "playground.html") await page.waitForSelector(".cm-content");
            await page.waitForTimeout(200);
            bad.push(...(await page.evaluate(contrast)).map((b) => `${path}: ${b}`));
            unnamed.push(...await page.evaluate(() => [...document.querySelectorAll("button, a[href], input, img")].filter((e) =>
                e.checkVisibility() && !(e.textContent.trim() || e.getAttribute("aria-label") || e.title || e.alt || e.closest("label") || e.matches("img[alt]") || e.querySelector("img[alt], svg title") || e.placeholder)).map((e) => e.outerHTML.slice(0, 90))));
            const title = await page.title(), headings = await page.locator("h1").count();
            if (!title || headings !== 1) bad.push(`${path}: title "${title}", ${headings} h1`);
            if (await page.locator("main").count() !== 1) bad.push(`${path}: ${await page.locator("main").count()} main`);
            bad.push(...await page.evaluate(() => [...document.querySelectorAll("main img:not([width])")].map((i) => i.outerHTML.slice(0, 80))).then((all) => all.map((i) => `${path}: a picture without a size: ${i}`)));
        }
        check(bad.length === 0, `${colorScheme}: texts have contrast, pages have titles` + bad.map((b) => "\n    " + b).join(""));
        check(unnamed.length === 0, `${colorScheme}: buttons, links and pictures have names` + unnamed.map((b) => "\n    " + b).join(""));
        if (colorScheme === "dark") {
            await page.goto(address + "gallery/");
            await page.waitForTimeout(300);
            await picture(page, "gallery-desk-dark");
        }
        await page.context().close();
    }
    const page = await new_page();
    await page.goto(address + "manual/entities.html");
    await page.waitForTimeout(300);
    await page.keyboard.press("Tab");
    check((await page.evaluate(() => document.activeElement.textContent)).includes("Skip to content"), "the first Tab skips to the content");
    check(await page.locator(".pager-link").count() === 2, "a page has a previous and a next one");
    await picture(page, "manual-desk-light");
    await page.context().close();
}

async function without_network() {
    const page = await new_page();
    await page.goto(address + "manual/queries.html");
    await page.waitForFunction(() => document.documentElement.dataset.offline === "ready");
    const run_undo = async () => {
        await page.waitForSelector(".run-box button.first:not([disabled])");
        await page.click(".run-box button.first");
        await page.waitForFunction(() => /ended with 0/.test(document.querySelector(".stage .status")?.textContent));
    };
    await page.goto(address + "gallery/undo.html");
    if (!quick) await run_undo();
    await page.context().setOffline(true);
    await page.goto(address + "manual/queries.html");
    check((await page.textContent("h1")).includes("Queries"), "a page that was visited opens without a network");
    if (!quick) {
        await page.goto(address + "gallery/undo.html");
        await run_undo();
        check(true, "and an example that was run runs");
    }
    await page.context().close();
}

check_links();
const parts = { first_page, searching, topics, on_a_phone, for_everybody, without_network };
try {
    const given = { address, new_page, picture, check, overflow, root, out, project, serve, quick };
    const more = { ...programs(given), ...deploys(given) };
    for (const [name, part] of Object.entries(quick ? { ...parts, limits: more.limits } : { ...parts, ...more })) {
        if (process.env.ONLY && !process.env.ONLY.split(",").includes(name)) continue;
        try { await part(); } catch (error) { check(false, `${name}: ${error.stack}`); }
    }
} finally {
    await browser.close();
    server.close();
}
check(outside.length === 0, "no page asked another server" + [...new Set(outside)].map((u) => "\n    " + u).join(""));
console.log(failures ? `${failures} failures` : "no failures");
process.exit(failures ? 1 : 0);
