// Programs in the built site, in Chromium: examples at a click, the playground, its compiler, links that hold a program, going back and forking.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { messages_of } from "../../web/theme/compile.mjs";
import { Machine } from "../../web/theme/machine.mjs";
import { hash_of, most_source, read_hash } from "../../web/theme/share.mjs";

const page_program = (body, before = "") => `#include <reef.h>\n#include <stdio.h>\n#include <stdlib.h>\n${before}\nint main(void)\n{\n    reef_world *w = reef_world_new(NULL);\n${body}\n}\n`;

// A program of WebAssembly that does nothing but import a function.
function importing(module, name) {
    const text = (t) => [t.length, ...Buffer.from(t)], section = (number, bytes) => [number, bytes.length, ...bytes];
    return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section(1, [1, 0x60, 0, 0]), ...section(2, [1, ...text(module), ...text(name), 0, 0])]);
}

export function parts({ address, new_page, picture, check, overflow, root, out, project, serve, quick }) {
    const status = (page, text) => page.waitForFunction((t) => new RegExp(t).test(document.querySelector(".stage .status")?.textContent ?? ""), text);
    const printed = (page) => page.locator(".stage .printed").allInnerTexts().then((all) => all.join(""));
    const tick = (page) => page.locator(".stage .time output").innerText().then((text) => Number(text.replace(/\D/g, "")));
    const at_tick = (page, t) => page.waitForFunction((n) => document.querySelector(".stage .time output").textContent === "tick " + n, t);
    const pause = async (page) => { await page.click(".stage button:text-is('Pause')"); await page.waitForSelector(".stage button:text-is('Play')"); }; // said by the worker: nothing is played any more
    const no_errors = (page, what) => check(page.errors.length === 0, `${what} has no errors` + page.errors.map((e) => "\n    " + e).join(""));

    // In node: every example prints what its file says, and hashes are those of all other machines.
    async function machine() {
        const run = async (path) => {
            let text = "";
            const m = new Machine((part, error) => { if (!error) text += part; });
            await m.start(readFileSync(path));
            return text;
        };
        let count = 0;
        for (const name of readdirSync(join(out, "programs")).filter((n) => n.endsWith(".wasm"))) {
            const expected = join(root, "examples", name.replace(".wasm", ".expected"));
            if (!existsSync(expected)) continue;
            count++;
            const text = await run(join(out, "programs", name));
            if (text !== readFileSync(expected, "utf8")) check(false, `${name} prints something else`);
        }
        check(count >= 15, `${count} examples print what their files say`);
        check((await run(join(project, "programs/hash_scene.wasm"))) === readFileSync(join(root, "tests/state/hash_scene.expected"), "utf8"), "hashes are those of all other machines");
    }

    // In node: what a program may import, and what a link may hold.
    async function limits() {
        const refused = async (module, name) => new Machine(() => {}).start(importing(module, name)).then(() => "", (error) => error.message);
        check(/undefined symbol: fetch/.test(await refused("env", "fetch")), "a program gets no function of the page that isn't listed");
        check(/doesn't give/.test(await refused("page", "fetch")), "nor one of another module");
        if (!quick) {
            const files = readdirSync(join(out, "compiler")).map((name) => [name, statSync(join(out, "compiler", name)).size]).sort((x, y) => y[1] - x[1]);
            check(files[0][1] <= 24 << 20, `no file of the compiler is larger than 24 MiB: ${files[0].join(" has ")} bytes`);
        }
        const source = "int main(void) { /* ü */ }\n", link = await hash_of(source, "0.1.0");
        const read = await read_hash(link);
        check(read.source === source && read.version === "0.1.0", "a link holds the program and reef's version");
        const largest = "x".repeat(most_source);
        check((await read_hash(await hash_of(largest, "0.1.0"))).source === largest, "a link holds a program of 200 KiB");
        const bomb = deflateRawSync(Buffer.alloc(64 << 20, 120), { level: 9 }).toString("base64url");
        for (const [what, text] of [["one byte more", deflateRawSync(Buffer.from(largest + "x")).toString("base64url")], [`${bomb.length >> 10} KiB that unpack to 64 MiB`, bomb]]) {
            const said = await read_hash("#program=" + text).then(() => "", (error) => error.message);
            check(/larger than 200 KiB/.test(said), `a link of ${what} is refused: ${said}`);
        }
        const undeclared = "error: use of undeclared identifier 'reef_declared_by_REEF_COMPONENT_Healt'; did you mean 'reef_declared_by_REEF_COMPONENT_Health'?\n" +
            "/include/reef.h:891:32: note: expanded from macro 'reef_id'\n<scratch space>:35:1: note: expanded from here\nmain.c:1:1: note: 'reef_declared_by_REEF_COMPONENT_Health' declared here\n";
        const told = messages_of(`main.c:3:5: ${undeclared}main.c:3:9: error: expected ')'\nmain.c:3:5: note: to match this '('\nmain.c:3:5: ${undeclared}main.c:4:5: error: unknown type name 'a'\nmain.c:4:5: error: unknown type name 'a'\n`);
        check(told.length === 2 && told[0].line === 3 && /^'Healt' isn't declared as a component/.test(told[0].text) && told[1].line === 4,
            `a component that isn't declared is named, once, without reef's macros: ${told.map((m) => m.text).join("; ")}`);
        const damaged = await read_hash(link.replace(/=(.{12})/, "=")).then(() => "", (error) => error.message);
        check(/damaged/.test(damaged), "a link that lacks a part is told");
    }

    // Dive, which has a page of its own in a frame; without emscripten it isn't there.
    async function dive() {
        if (!existsSync(join(out, "dive/index.html"))) { console.log("        Dive wasn't built (no emscripten): its page has pictures only"); return; }
        const page = await new_page();
        await page.goto(address + "gallery/dive.html");
        await page.waitForSelector(".game-box button.first");
        await page.waitForTimeout(500);
        check(page.bytes < 1e6, "Dive isn't loaded before somebody plays it");
        const click = Date.now();
        await page.click(".game-box button.first");
        const game = page.frameLocator(".game-box iframe");
        await game.locator("#message").waitFor({ state: "detached" });
        console.log(`        Dive runs ${Date.now() - click} ms after the click`);
        const frame = page.frames().find((f) => /\/dive\//.test(f.url())), of = (what) => frame.evaluate((name) => window.dive.core["_dive_" + name](), what);
        await page.waitForFunction(() => document.activeElement?.tagName === "IFRAME");
        for (let i = 0; i < 20 && (await of("screen")) !== 1; i++) { await page.keyboard.press("Enter", { delay: 200 }); await page.waitForTimeout(300); }
        check((await of("screen")) === 1, "Enter begins a dive in the gallery: the frame has the keys");
        await page.keyboard.down("KeyD");
        const at = await of("tick");
        for (let i = 0; i < 100 && (await of("tick")) < at + 40; i++) await page.waitForTimeout(200);
        await page.keyboard.up("KeyD");
        check((await of("tick")) >= at + 40, "and it plays");
        await picture(page, "gallery-dive");
        no_errors(page, "Dive");
        await page.context().close();
    }

    // Served with the headers for threads, nothing is lost: frames, workers and the compiler's parts have them as well.
    async function isolated() {
        const { server, address: here } = await serve(out, { base: new URL(address).pathname, isolated: true });
        try {
            const page = await new_page({}, here);
            await page.goto(here + "gallery/page_rollback.html");
            check(await page.evaluate(() => window.crossOriginIsolated), "with its headers a page is isolated");
            await page.click(".run-box button.first");
            await page.waitForSelector(".stage canvas");
            await page.click("button:text-is('Look inside')");
            await page.frameLocator("iframe.inside").locator("#clock", { hasText: /entities/ }).waitFor();
            check(true, "an example runs there, and the inspector looks into it");
            if (existsSync(join(out, "threads/fireworks.js"))) {
                let threads = 0;
                server.on("request", (request) => { if (/fireworks\.worker\.js/.test(request.url)) threads++; });
                await page.goto(here + "gallery/fireworks.html");
                await page.click("button:text-is('Run with threads')");
                await status(page, "ended with 0");
                check((await printed(page)).trim() === readFileSync(join(root, "examples/fireworks.expected"), "utf8").trim(), "an example plays the same on one to four threads");
                check(threads > 0, `and its threads are workers of the browser (${threads} asked for their script)`);
                await picture(page, "threads-desk-light");
                await page.click("button:text-is('Run again')");
                await page.waitForFunction(() => /ended with 0 after/.test(document.querySelector(".stage .status")?.textContent));
                const other = await new_page();
                await other.goto(address + "gallery/fireworks.html");
                await other.waitForSelector(".run-note");
                check(await other.locator("button:text-is('Run with threads')").count() === 0, "a page that isn't isolated has no button for threads, and says why");
                await other.context().close();
            } else console.log("        examples with threads weren't built (no emscripten)");
            no_errors(page, "an isolated page");
            await page.context().close();
        } finally { server.close(); }
    }

    async function examples() {
        const page = await new_page();
        await page.goto(address + "gallery/what_if.html");
        await page.waitForSelector(".run-box button.first:not([disabled])");
        const begin = Date.now();
        await page.click(".run-box button.first");
        await status(page, "ended with 0");
        console.log(`        an example runs to its end ${Date.now() - begin} ms after the click`);
        check((await printed(page)).trim() === readFileSync(join(root, "examples/what_if.expected"), "utf8").trim(), "an example prints what its file says");
        await page.goto(address + "gallery/page_flock.html");
        await page.waitForSelector(".run-box button.first:not([disabled])");
        const click = Date.now();
        await page.click(".run-box button.first");
        await page.waitForSelector(".stage canvas");
        console.log(`        an example draws ${Date.now() - click} ms after the click`);
        await page.waitForFunction(() => Number(document.querySelector(".stage .time output").textContent.replace(/\D/g, "")) > 60);
        await picture(page, "flock-desk-light");
        await page.goto(address + "gallery/");
        const cards = await page.evaluate(async () => Promise.all([...document.querySelectorAll(".gallery-cards img")].map(async (i) => { i.loading = "eager"; await i.decode(); return i.naturalWidth; })));
        check(cards.length >= 5 && cards.every((width) => width > 0), `the gallery begins with ${cards.length} pictures`);
        no_errors(page, "the gallery");
        await page.context().close();
    }

    // Rewind and fork: hashes say whether it is the same world.
    async function fork_and_rewind() {
        const page = await new_page({ colorScheme: "dark" });
        await page.goto(address + "gallery/page_marbles.html");
        await page.click(".run-box button.first");
        await page.waitForFunction(() => Number(document.querySelector(".stage .time output")?.textContent.replace(/\D/g, "")) > 100);
        const hash = (i = 0) => page.locator(".stage figcaption code").nth(i).innerText();
        await pause(page);
        const [at, was] = [await tick(page), await hash()];
        for (let i = 1; i <= 5; i++) { await page.click(".stage button:text-is(\"Step\")"); await at_tick(page, at + i); }
        check((await hash()) !== was, "Step plays one tick");
        await page.evaluate((t) => { const r = document.querySelector(".stage .time input"); r.value = t; r.dispatchEvent(new Event("input")); r.dispatchEvent(new Event("change")); }, at);
        await page.waitForFunction((h) => document.querySelector(".stage figcaption code").textContent === h, was);
        check((await tick(page)) === at, "going back brings the state of that tick, to the bit");
        await page.click(".stage button:text-is(\"Fork\")");
        await page.click(".stage button:text-is(\"Step\")");
        await page.waitForSelector(".stage .worlds.two");
        check((await hash(0)) === (await hash(1)) && (await page.innerText(".differences")).includes("same"), "a fork plays as its world does");
        await page.evaluate(() => { const r = document.querySelectorAll(".stage .sliders input")[1]; r.value = 40; r.dispatchEvent(new Event("input")); });
        await page.click(".stage button:text-is(\"Play\")");
        await page.waitForFunction(() => /\d+ entities differ/.test(document.querySelector(".differences")?.textContent));
        check((await hash(0)) !== (await hash(1)), "a slider of the fork makes it another world");
        await page.waitForFunction(() => document.querySelectorAll(".differing li").length > 3);
        check(/another value.*→/.test(await page.innerText(".differing")), "what differs is listed while both play");
        await picture(page, "fork-desk-dark");
        no_errors(page, "the marbles");
        await page.context().close();
    }

    // The inspector's own page over the world of the program, which the program's worker answers.
    async function inspector() {
        const page = await new_page();
        await page.goto(address + "gallery/page_marbles.html");
        await page.click(".run-box button.first");
        await page.waitForFunction(() => Number(document.querySelector(".stage .time output")?.textContent.replace(/\D/g, "")) > 60);
        await page.click("button:text-is('Look inside')");
        const inside = page.frameLocator("iframe.inside"), tab = (name) => inside.locator(`#tabs button[data-tab=${name}]`).click();
        const says = async (selector, text, what) => {
            const found = await inside.locator(selector, { hasText: text }).first().waitFor().then(() => true, () => false);
            check(found, what);
        };
        await says("#clock", /16\d entities/, "the inspector's page knows the world of the program");
        await page.waitForTimeout(800);
        await picture(page, "inspector-overview");
        await tab("entities");
        await inside.locator("#query").fill("Position, Velocity");
        await says("#view", "160", "entities are found by a query");
        await tab("systems");
        await says("#view", "roll", "systems are shown");
        await tab("tree");
        await tab("types");
        await says("#view", "Velocity", "types are shown");

        await inside.locator("#pause").click();
        await page.waitForSelector(".stage button:text-is('Play')");
        check(true, "the inspector pauses the program");
        const at = await tick(page);
        await inside.locator("#step").click();
        await at_tick(page, at + 1);
        check(true, "and steps it");
        await tab("changes");
        await inside.locator("#who").click();
        await says("#view .chip.by", "roll", "changes say which system made them");
        await picture(page, "inspector-changes");

        await tab("sql");
        await inside.locator("#view textarea").first().fill("select count(*) as marbles, sum(x) from Position");
        await inside.locator("#run-sql").click();
        await says("#view td", "160", "SQL is answered in the page, by the tables of the world");
        await picture(page, "inspector-sql");

        await tab("whatif");
        await inside.locator("#view select").first().selectOption("destroy all");
        await inside.locator("#whatif-query").fill("Marble");
        await inside.locator("#view button", { hasText: "Add this edit" }).click();
        await inside.locator("#play-whatif").click();
        await says("#futures", "What is different at the end?", "a what-if is played with two futures side by side");
        await page.waitForTimeout(600);
        await picture(page, "inspector-whatif");

        for (let i = 0; i < 5; i++) await inside.locator("#ticks").press("ArrowLeft");
        await inside.locator("#viewing button", { hasText: "Go on from here" }).click();
        await page.waitForFunction((t) => Number(document.querySelector(".stage .time output").textContent.replace(/\D/g, "")) < t, at).catch(() => {});
        check((await tick(page)) < at, "the inspector sets the program back, and the stage follows");

        await page.click(".stage button:text-is('Fork')");
        await page.click(".stage button:text-is('Step')");
        await page.waitForSelector(".stage .worlds.two");
        await page.click("button:text-is('Look into the fork')");
        await says("#clock", /16\d entities/, "the inspector looks into the fork");
        await tab("entities");
        await inside.locator("#query").fill("");
        await inside.locator("#entities .line:not(.waits)").nth(3).click();
        await inside.locator("#side button", { hasText: "Destroy" }).click();
        await page.waitForTimeout(500);
        await page.click("button:text-is('Compare both')");
        await says("#view", /[1-9]\d* change/, "an edit of the fork alone is a difference, which is shown");
        await page.click(".stage button:text-is('Step')");
        await page.waitForFunction(() => /only in the world/.test(document.querySelector(".differing")?.textContent));
        check(true, "and listed beside the worlds");
        await picture(page, "inspector-compare");
        no_errors(page, "the inspector in the page");
        await page.context().close();

        // A program with a loop of its own: it runs to its end, and then one looks into what was recorded.
        const other = await new_page({ colorScheme: "dark" });
        await other.goto(address + "gallery/collide.html");
        await other.click(".run-box button.first");
        await status(other, "ended with 0");
        await other.click("button:text-is('Look inside')");
        await other.frameLocator("iframe.inside").locator("#clock", { hasText: "entit" }).waitFor();
        await other.frameLocator("iframe.inside").locator("#tabs button[data-tab=changes]").click();
        await other.waitForTimeout(1500);
        await picture(other, "inspector-after-the-end");
        check(/recorded|Recording|Record/i.test(await other.frameLocator("iframe.inside").locator("#record").innerText()), "what a program recorded is there after its end");
        no_errors(other, "the inspector after the end");
        await other.context().close();
    }

    // Each example that draws, at a click.
    async function drawings() {
        for (const name of ["page_flock", "page_marbles", "page_rollback", "page_living_reef"]) {
            const page = await new_page();
            await page.goto(address + `gallery/${name}.html`);
            await page.waitForSelector(".run-box button.first:not([disabled])");
            const click = Date.now();
            await page.click(".run-box button.first");
            await page.waitForSelector(".stage canvas");
            console.log(`        ${name} draws ${Date.now() - click} ms after the click`);
            const moves = await page.waitForFunction(() => Number(document.querySelector(".stage .time output").textContent.replace(/\D/g, "")) > 40).then(() => true, () => false);
            check(moves, `${name} ticks`);
            await picture(page, name);
            no_errors(page, name);
            await page.context().close();
        }
    }

    async function playground() {
        const page = await new_page();
        await page.goto(address + "playground.html");
        await page.waitForSelector(".cm-content");
        await picture(page, "playground-desk-light");
        const before = page.bytes;
        const run = async (source) => {
            await page.click(".cm-content");
            await page.keyboard.press("Control+A");
            await page.keyboard.insertText(source);
            await page.click(".playground-bar button.first");
        };
        check(before < 2e6, "the compiler isn't loaded before somebody runs something");
        const cold = Date.now();
        await page.click(".playground-bar button.first");
        await page.waitForTimeout(400);
        await picture(page, "playground-loading");
        await status(page, "ended with 0");
        console.log(`        the first run took ${((Date.now() - cold) / 1000).toFixed(1)} s, and loaded ${(page.bytes / 1e6).toFixed(1)} MB`);
        check((await printed(page)).trim() === "1.00 2.00", "the first program prints 1.00 2.00");
        // Another program each time: at once, and after a pause in which the compiler has looked at it.
        const edit = async (text) => { await page.click(".cm-content"); await page.keyboard.press("Control+End"); await page.keyboard.insertText(text + "\n"); };
        for (const [pause, what] of [[0, "at once"], [0, "at once"], [3000, "after a pause of 3 s"]]) {
            await page.waitForTimeout(3000);
            await edit(`/* ${Math.random()} */`);
            await page.waitForTimeout(pause);
            const warm = Date.now();
            await page.click(".playground-bar button.first");
            await page.waitForFunction(() => document.querySelector(".compiler-state").textContent.includes("compiled in") && /ended with 0/.test(document.querySelector(".stage .status").textContent));
            console.log(`        another run, ${what}, took ${((Date.now() - warm) / 1000).toFixed(2)} s (${await page.innerText(".compiler-state")})`);
        }
        await edit("int x = y;");
        await page.waitForSelector(".messages .error");
        check(/undeclared identifier 'y'/.test(await page.innerText(".messages .error")), "an error stands there while somebody types");
        await picture(page, "playground-ran-light");

        await run(page_program("    int x = 1\n    reef_spwan(w, 0);"));
        await page.waitForSelector(".messages .error:has-text(\"expected ';'\")");
        const message = await page.innerText(".messages .error");
        check(await page.locator("button:text-is('Look inside')").count() === 0, "a program that isn't compiled leaves nothing of the one before");
        check(/line 8/.test(message) && /expected ';'/.test(message), `an error stands at its line: ${message}`);
        check(await page.locator(".cm-lint-marker-error").count() > 0, "and beside it in the editor");
        await picture(page, "playground-error-light");

        await run(page_program("    reef_add(w, reef_create(w), Healt);"));
        await page.waitForSelector(".messages .error:has-text(\"isn't declared as a component\")");
        check(await page.locator(".messages li").count() === 1, "a component that isn't declared is one message at its line");
        await picture(page, "playground-not-declared-light");

        await run(page_program("    unsigned n = 0;\n    for (;;) if (++n % 400000000 == 0) puts(\"still here\");"));
        await page.waitForFunction(() => !document.querySelector(".playground-bar button:nth-child(2)").disabled && /compiled in/.test(document.querySelector(".compiler-state").textContent));
        check((await page.evaluate(() => 1 + 1)) === 2, "an endless loop doesn't hang the page");
        await page.click(".playground-bar button:nth-child(2)");
        await status(page, "stopped");
        check(true, "an endless loop is stopped");

        const crashes = [
            ["a NULL of reef_get", page_program("    reef_entity e = reef_create(w);\n    printf(\"%g\\n\", (double)reef_get(w, e, Position)->x);", "typedef struct { float x; } Position;\nREEF_COMPONENT(Position);"), /NULL/],
            ["a stack that is used up", page_program("    (void)w;\n    return deep(1) > 0;", "static int deep(int n) { volatile char big[1000]; big[0] = (char)n; return n < 0 ? 0 : deep(n + 1) + big[0]; }"), /stack|memory/],
            ["memory that is used up", page_program("    for (int i = 0; i < 100000; i++) if (reef_entity_is_null(reef_spawn(w, reef_with(Big, .first = 1)))) { char why[200]; reef_error_text(w, why, sizeof why); puts(why); return 0; }", "typedef struct { int first; char bytes[8000]; } Big;\nREEF_COMPONENT(Big);"), /reef_spawn: no memory/],
            ["output without end", page_program("    (void)w;\n    for (;;) puts(\"again and again and again\");"), /more than a page shows/],
        ];
        for (const [what, source, told] of crashes) {
            await run(source);
            await page.waitForFunction(() => /compiled in/.test(document.querySelector(".compiler-state").textContent)); // what the program before printed is gone
            await page.waitForFunction((t) => new RegExp(t, "i").test(document.querySelector(".stage .printed")?.innerText ?? ""), told.source).catch(() => {});
            const text = await printed(page);
            check(told.test(text), `${what} is shown and survived: ${text.slice(-140).trim()} ${(await page.locator(".messages").allInnerTexts()).join("")}`);
            if (what.startsWith("a NULL")) await picture(page, "playground-crash-light");
        }
        await run(page_program("    (void)w;\n    not_there();", "void not_there(void);"));
        await page.waitForFunction(() => /not_there/.test(document.querySelector(".playground")?.innerText.replace(/void not_there|not_there\(\)/g, "") ?? ""));
        check(/undefined symbol: not_there/.test(await page.innerText(".playground")), "a function that is nowhere is told");

        await run(page_program("    puts(\"<b>text</b> \\xc3\\xbc\");\n    reef_world_free(w);"));
        await page.waitForFunction(() => /text/.test(document.querySelector(".stage .printed")?.innerText ?? ""));
        check((await printed(page)).trim() === "<b>text</b> ü", "output is text, never HTML");

        await page.click(".playground-bar button:nth-child(3)");
        await page.waitForFunction(() => location.hash.startsWith("#program="));
        const link = page.url();
        await page.context().setOffline(true);
        await edit("/* offline */");
        await page.click(".playground-bar button.first");
        await page.waitForFunction(() => /compiled in/.test(document.querySelector(".compiler-state").textContent) && /ended with 0/.test(document.querySelector(".stage .status").textContent));
        check(true, "the compiler goes on without a network");
        await page.reload();
        await page.waitForSelector(".cm-content");
        await page.click(".playground-bar button.first");
        await status(page, "ended with 0");
        check((await printed(page)).trim() === "<b>text</b> ü", "and starts again without one");
        no_errors(page, "the playground without a network");
        await page.context().close();

        const other = await new_page({ colorScheme: "dark" });
        await other.goto(link);
        await other.waitForSelector(".cm-content");
        check((await other.innerText(".cm-content")).includes("<b>text</b>"), "a link opens the program in another profile");
        await other.waitForTimeout(500);
        check(await other.isVisible(".stage .hint") && await other.locator(".stage .printed").count() === 0, "and doesn't run it");
        await other.goto(link.replace(/reef=.*/, "reef=0.0.7"));
        await other.reload();
        await other.waitForSelector(".playground-note");
        check(/written for reef 0\.0\.7/.test(await other.innerText(".playground-note")), "a link of another version says so");
        await other.goto(address + "playground.html#program=damaged!");
        await other.reload();
        await other.waitForSelector(".playground-note");
        check(/damaged/.test(await other.innerText(".playground-note")), "a damaged link is told");
        await other.goto(address + "playground.html#example=page_flock");
        await other.reload();
        await other.waitForFunction(() => document.querySelector(".cm-content")?.innerText.includes("A flock in a page"));
        await other.waitForTimeout(300);
        await picture(other, "playground-desk-dark");
        no_errors(other, "the playground");
        await other.context().close();

        const phone = await new_page({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
        await phone.goto(address + "playground.html");
        await phone.waitForSelector(".cm-content");
        check((await overflow(phone)) <= 0, "the playground fits on a phone");
        await picture(phone, "phone-playground");
        await phone.goto(address + "gallery/page_marbles.html");
        await phone.click(".run-box button.first");
        await phone.waitForSelector(".stage canvas");
        await phone.click(".stage button:text-is(\"Fork\")");
        await phone.waitForSelector(".stage .worlds.two");
        await phone.locator(".stage").scrollIntoViewIfNeeded();
        await phone.waitForTimeout(600);
        check((await overflow(phone)) <= 0, "a fork fits on a phone");
        await picture(phone, "phone-fork");
        await phone.context().close();
    }

    return { machine, limits, dive, isolated, examples, fork_and_rewind, inspector, drawings, playground };
}
