// page.mjs FOLDER: runs test.mjs in Chromium, with the package that is installed in FOLDER, served over HTTP.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { chromium } from "playwright-core";

const folder = process.argv[2];
const page_text = `<!DOCTYPE html><meta charset="utf-8"><title>reef</title>
<script type="importmap">{"imports": {"reef-ecs": "/node_modules/reef-ecs/reef.mjs"}}</script>
<script type="module">
import { load } from "reef-ecs";
import { test } from "/test.mjs";
try { document.title = "passed " + await test(load); } catch (error) { document.title = "failed: " + error.message; }
</script>`;
const server = createServer(async (request, response) => {
    if (request.url === "/favicon.ico") return response.writeHead(204).end();
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
        const bytes = path === "/" ? page_text : await readFile(join(folder, path));
        // .wasm without its type, as simple servers send it
        response.writeHead(200, { "Content-Type": path === "/" ? "text/html" : path.endsWith(".mjs") ? "text/javascript" : "application/octet-stream" });
        response.end(bytes);
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let title = "";
try {
    const page = await browser.newPage();
    page.on("console", (message) => console.error("console:", message.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => /^(passed|failed)/.test(document.title), null, { timeout: 120000 });
    title = await page.title();
} finally {
    await browser.close();
    server.close();
}
console.log("Chromium:", title);
process.exitCode = title.startsWith("passed") ? 0 : 1;
