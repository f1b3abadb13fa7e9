// The site in a folder of its server, and a tab that stays open while the site is built anew: a few pages are built twice, the second time from a tree in which
// a document and the look were edited.
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

export function parts({ address, out, new_page, picture, check, root, project, serve }) {
    const base = "/reef/";
    const build = (tree, to) => execFileSync("node", [join(tree, "web/build.mjs"), project, to, "--few"], { env: { ...process.env, REEF_SITE_BASE: base }, stdio: ["ignore", "ignore", "pipe"] });
    const no_errors = (page, what) => check(page.errors.length === 0, `${what} has no errors` + page.errors.map((e) => "\n    " + e).join(""));
    const pages_of = (folder) => readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".html") && path !== "404.html" && !path.startsWith("inspector"));

    async function every_page(address, folder) {
        const page = await new_page({}, address), missing = [];
        page.on("response", (answer) => { if (answer.status() >= 400) missing.push(answer.url()); });
        for (const path of pages_of(folder)) {
            await page.goto(address + path, { waitUntil: "networkidle" });
        }
        check(missing.length === 0, `${pages_of(folder).length} pages in ${base} load all that they ask for` + missing.map((m) => "\n    " + m).join(""));
        await page.goto(address + "manual/queries.html");
        await page.keyboard.press("/");
        await page.fill("dialog.search-box input", "reef_query_new");
        await page.waitForSelector("#search-results li");
        await page.keyboard.press("Enter");
        await page.waitForURL(/\/reef\/reference\/reef_query_new\.html/);
        check((await page.textContent("h1")).length > 0, "the search leads into the folder");
        await page.goto(address + "gallery/page_marbles.html");
        await page.click(".run-box button.first");
        await page.waitForSelector(".stage canvas");
        await page.click("button:text-is('Look inside')");
        await page.frameLocator("iframe.inside").locator("#clock", { hasText: /entities/ }).waitFor();
        check(true, "an example runs in the folder, and the inspector looks into it");
        await page.goto(address + "playground.html");
        await page.waitForSelector(".cm-content");
        await page.click(".playground-bar button.first");
        await page.waitForFunction(() => /ended with 0/.test(document.querySelector(".stage .status")?.textContent ?? ""));
        check((await page.locator(".stage .printed").innerText()).trim() === "1.00 2.00", "the compiler works in the folder, by a server that doesn't know WebAssembly");
        no_errors(page, "the site in a folder");
        await page.context().close();
    }

    async function a_folder_and_a_deploy() {
        const scratch = mkdtempSync(join(tmpdir(), "reef-site-"));
        const [old, tree, anew] = ["old", "tree", "new"].map((name) => join(scratch, name));
        let folder = old;
        try {
            build(root, old);
            const { server, address } = await serve(() => folder, { base, plain: true });
            try {
                await every_page(address, old);
                const tab = async (path) => { const page = await new_page({}, address); await page.goto(address + path); await page.waitForTimeout(500); return page; };
                const [reads, plays, runs, writes] = [await tab("manual/queries.html"), await tab("manual/index.html"), await tab("gallery/undo.html"), await tab("playground.html")];
                await writes.waitForSelector(".cm-content");
                await writes.click(".cm-content");
                await writes.keyboard.press("Control+End");
                await writes.keyboard.insertText("/* written before */\n");
                cpSync(root, tree, { recursive: true, filter: (path) => !["build", "out", ".git", "node_modules"].includes(basename(path)) });
                appendFileSync(join(tree, "docs/manual/worlds-as-values.md"), "\n## Written after the tab was opened\n\nA paragraph.\n");
                const edit = (name, was, is) => { const path = join(tree, "web/theme", name); writeFileSync(path, readFileSync(path, "utf8").replaceAll(was, is)); };
                edit("RunBox.vue", '"Run again"', '"Run anew"');
                edit("machine.mjs", "a division by zero", "a division by 0");
                edit("compile-worker.mjs", "couldn't be loaded", "wasn't loaded");
                build(tree, anew);
                const names = (of) => new Set(readdirSync(join(of, "assets")));
                check([...names(old)].filter((name) => !names(anew).has(name)).length > 2, "the second build has other names of files");
                folder = anew;
                await reads.evaluate(() => { window.was_open = true; document.querySelector("a[href$='manual/worlds-as-values.html']").click(); });
                const found = await reads.waitForFunction(() => document.querySelector("h1")?.textContent.includes("Worlds as values")).catch(() => null);
                check(found && (await reads.textContent("main")).includes("Written after the tab was opened"), "a tab that was open while the site was built anew goes to the new page");
                await plays.evaluate((to) => { const link = document.createElement("a"); link.href = to; document.querySelector("main").append(link); link.click(); }, base + "gallery/what_if.html");
                await plays.waitForSelector(".run-box button.first:not([disabled])");
                await plays.click(".run-box button.first");
                await plays.waitForFunction(() => /ended with 0/.test(document.querySelector(".stage .status")?.textContent ?? ""));
                check((await plays.innerText(".run-box button.first")) === "Run anew", "and runs the example of the new site");
                await picture(plays, "after-a-deploy");
                // Files of workers that this tab hadn't needed before are gone: the page is loaded again.
                const again = (page) => page.waitForFunction(() => Number(sessionStorage.getItem("reloaded")) > 0 && performance.timeOrigin > Number(sessionStorage.getItem("reloaded")));
                await runs.click(".run-box button.first");
                await again(runs);
                await runs.waitForSelector(".run-box button.first:not([disabled])");
                await runs.click(".run-box button.first");
                await runs.waitForFunction(() => /ended with 0/.test(document.querySelector(".stage .status")?.textContent ?? ""));
                check((await runs.innerText(".run-box button.first")) === "Run anew", "an example of a tab that was open runs after the page was loaded again");
                await writes.click(".playground-bar button.first");
                await again(writes);
                await writes.waitForSelector(".playground-note");
                check(/has changed since/.test(await writes.innerText(".playground-note")) && (await writes.innerText(".cm-content")).includes("/* written before */"), "the playground of such a tab keeps the program, and says why it was loaded again");
                await writes.click(".playground-bar button.first");
                await writes.waitForFunction(() => /ended with 0/.test(document.querySelector(".stage .status")?.textContent ?? ""));
                check(true, "and compiles it");
                for (const page of [reads, plays, runs, writes]) await page.context().close();
            } finally { server.close(); }
        } finally { rmSync(scratch, { recursive: true, force: true }); }
    }

    // Over http from another machine a page has no service worker, no cache and no clipboard.
    async function over_http() {
        const { server, address: local } = await serve(out, { base: new URL(address).pathname });
        try {
            const here = local.replace("127.0.0.1", "reef.test"), page = await new_page({}, here);
            await page.goto(here + "playground.html");
            check(!(await page.evaluate(() => window.isSecureContext)), "over http from another machine a page is restricted");
            await page.waitForSelector(".cm-content");
            await page.click(".playground-bar button.first");
            await page.waitForFunction(() => /ended with 0/.test(document.querySelector(".stage .status")?.textContent ?? ""));
            check((await page.locator(".stage .printed").innerText()).trim() === "1.00 2.00", "and the compiler works there");
            await page.click(".playground-bar button:nth-child(3)");
            await page.waitForFunction(() => location.hash.startsWith("#program="));
            check(/address of this page is the link/.test(await page.innerText(".playground-note")), "and programs are shared by the address");
            no_errors(page, "a page over http");
            await page.context().close();
        } finally { server.close(); }
    }

    return { a_folder_and_a_deploy, over_http };
}
