// page.mjs NAME=ADDRESS ...: the tests of the inspector's page; see run. The addresses: scene and many of tests/inspector/scene.c, with few
// entities and with many; reef and dive, of the examples. pictures=FOLDER: draws the pictures of the manual, too.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

const given = Object.fromEntries(process.argv.slice(2).map(x => [x.slice(0, x.indexOf("=")), x.slice(x.indexOf("=") + 1)]));
const { scene, many, reef, dive, pictures } = given;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failures = 0;

async function open(address, { width = 1280, height = 800, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  page.reported = [];
  page.on("console", m => { if (m.type() === "error" && !/status of 4(00|09)/.test(m.text())) page.reported.push(m.text()); });
  page.on("pageerror", e => page.reported.push(e.message));
  await page.goto(address);
  await page.waitForSelector(".card");
  return page;
}

async function test(name, f) {
  try {
    await f();
    console.log("ok      " + name);
  } catch (e) {
    failures++;
    console.log("FAILED  " + name + "\n" + e.stack);
  }
}

// The answer of the interface, with the page's token.
const ask = (page, path) => page.evaluate(p => fetch("/api/" + p, { headers: { Authorization: "Bearer " + sessionStorage.getItem("reef.token") } }).then(r => r.json()), path);
const until = async (f, what) => {
  for (let i = 0; i < 200; i++) { if (await f()) return; await new Promise(r => setTimeout(r, 50)); }
  assert.fail("not in time: " + what);
};
const tab = (page, name) => page.locator("#tabs button", { hasText: name }).click();
const field = (page, component, name) => page.locator(`#side input[aria-label="${component} ${name}"]`);

if (scene) {
  const page = await open(scene);

  await test("the_page_shows_the_program", async () => {
    assert.equal(await page.locator("#title").textContent(), "A scene <i>");
    assert.doesNotMatch(page.url(), /token/); // it isn't in the address any more
    await until(async () => (await page.locator(".card", { hasText: "Entities" }).locator(".big").textContent()) === "502", "the number of entities");
    await page.reload(); // the tab has kept the token
    await page.waitForSelector(".card");
  });

  await test("an_entity_is_found_by_a_query", async () => {
    await page.locator("#record").click();
    await page.keyboard.press("/");
    await page.locator("#query").pressSequentially("Vig", { delay: 20 });
    await page.waitForSelector(".offers .chosen");
    await page.keyboard.press("Tab"); // the completion
    assert.equal(await page.locator("#query").inputValue(), "Vigor");
    await page.locator("#query").pressSequentially(", !Blessed");
    await until(async () => (await page.locator(".line").count()) === 1, "one entity");
    assert.match(await page.locator(".line .c-name").textContent(), /hero <b>"&'/); // a name is text, never markup
    await page.locator(".line").first().click();
    await field(page, "Vigor", "points").waitFor();
  });

  await test("a_key_opens_a_view_and_types_nothing", async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("1");
    await page.locator(".card").first().waitFor();
    await page.keyboard.press("2");
    await page.locator("#query").waitFor();
    assert.equal(await page.locator("#query").inputValue(), "Vigor, !Blessed"); // as it was left
  });

  await test("a_list_shows_the_values_that_differ", async () => {
    await page.locator("#query").fill("");
    await until(async () => (await page.locator(".line").count()) > 10, "rows");
    const heads = page.locator(".heads .c-value");
    await until(async () => (await heads.count()) > 0 && /^Placex m/.test((await heads.allTextContents()).join()), "the place"); // y and the speed are the same in all rows
    assert.doesNotMatch((await heads.allTextContents()).join(), /Speed|Placey/);
    assert.match(await page.locator(".shared").textContent(), /Place.*Speed/);
    assert.match(await page.locator(".line").nth(1).textContent(), /mover \d/);
    assert.deepEqual(await page.locator(".line").nth(1).locator(".chip").allTextContents(), []); // nothing beside these
  });

  await test("the_target_of_a_relation_has_its_name", async () => {
    await page.locator("#query").fill("Vigor, !Blessed");
    await until(async () => (await page.locator(".line").count()) === 1, "the hero");
    await page.locator(".line").first().click();
    const target = page.locator("#side .component", { hasText: "ChildOf" }).locator(".field").first();
    await target.waitFor();
    assert.match(await target.textContent(), /saint\s+501v1/);
  });

  await test("the_tree_opens_on_a_relation_that_has_members", async () => {
    await tab(page, "Tree");
    await page.locator(".node", { hasText: "saint" }).waitFor();
    assert.match(await page.locator("select[aria-label=Relation] option:checked").textContent(), /^ChildOf \(1\)/);
  });

  await test("the_program_is_paused_and_a_field_edited", async () => {
    await until(async () => (await ask(page, "overview")).tick > 130, "130 ticks");
    await page.locator("#pause").click();
    await until(async () => (await ask(page, "overview")).paused, "the pause");
    await page.waitForTimeout(300);
  });

  let tick;
  await test("a_hundred_ticks_ago_the_old_value_was_there", async () => {
    tick = (await ask(page, "overview")).tick;
    await page.locator("#ticks").focus();
    for (let i = 0; i < 10; i++) await page.keyboard.press("Shift+ArrowLeft");
    await until(async () => (await page.locator("#viewing").textContent()).includes("tick " + (tick - 100)), "the tick");
    await until(async () => (await field(page, "Vigor", "points").inputValue()) === String(100000 - (tick - 100)), "the old value");
    assert.ok(await field(page, "Vigor", "points").isDisabled()); // the past can't be edited
    await page.keyboard.press("Escape");
  });

  await test("the_system_that_changed_it_is_named", async () => {
    await page.keyboard.press("Escape"); // now
    await tab(page, "Entities");
    await page.locator("#query").fill("Vigor, !Blessed");
    await until(async () => (await page.locator(".line").count()) === 1, "the hero");
    await page.locator(".line").first().click();
    await page.getByText("Who changed it?").click();
    await page.locator("#who").click();
    await page.waitForSelector("td .chip.by");
    const by = await page.locator("table").last().locator("td .chip.by").allTextContents();
    assert.deepEqual(by, ["burn"]);
    await page.getByText("with the same result").waitFor();
    // the saint is healed as well, in every tenth tick
    const tenth = tick - tick % 10;
    await page.locator("#changes-id").fill("");
    await page.locator("select[aria-label=Component]").selectOption("Vigor"); // the list shows 300 changes, and 500 entities move
    await page.locator("#to").fill(String(tenth));
    await page.locator("#from").fill(String(tenth - 1));
    await page.locator("#who").click();
    const row = page.locator("tr", { hasText: "saint" });
    await until(async () => (await row.locator(".chip.by").allTextContents()).join() === "burn,heal", "burn and heal");
  });

  await test("a_field_is_edited_in_its_range", async () => {
    await page.locator("#side input[aria-label='Vigor points']").fill("1234567"); // more than the range allows
    await page.keyboard.press("Enter");
    await page.waitForSelector("#toast.show");
    assert.match(await page.locator("#toast").textContent(), /expected 0 \.\.\. 1e\+06/);
    await page.locator("#side input[aria-label='Vigor points']").fill("777");
    await page.keyboard.press("Enter");
    await until(async () => (await ask(page, "entities?q=Vigor,!Blessed&show=Vigor")).rows[0].values.Vigor.points === 777, "the edit");
  });

  await test("a_value_with_names_is_chosen", async () => {
    const mood = page.locator("#side select[aria-label='Temper mood']"), wants = page.locator("#side [aria-label='Temper wants']");
    const value = async () => (await ask(page, "entities?q=Temper&show=Temper")).rows[0].values.Temper;
    assert.equal(await mood.inputValue(), "SAD");
    await mood.selectOption("ANGRY");
    await until(async () => (await value()).mood === "ANGRY", "the mood");
    await wants.locator("label", { hasText: "FOOD" }).locator("input").uncheck();
    await until(async () => (await value()).wants === "COMPANY", "one want less");
    await wants.locator("label", { hasText: "SLEEP" }).locator("input").check();
    await until(async () => (await value()).wants === "SLEEP|COMPANY", "one want more");
  });

  await test("one_system_is_stepped_then_a_tick", async () => {
    const before = (await ask(page, "overview")).tick;
    await page.locator("#step-system").click();
    await until(async () => /after move \(1 of 3\)/.test(await page.locator("#viewing").textContent()), "move");
    await page.locator("#step-system").click();
    await until(async () => /after burn \(2 of 3\)/.test(await page.locator("#viewing").textContent()), "burn");
    await until(async () => (await field(page, "Vigor", "points").inputValue()) === "776", "the value in the middle of the tick");
    assert.equal((await ask(page, "overview")).tick, before);
    assert.equal((await ask(page, "entities?q=Vigor,!Blessed&show=Vigor")).rows[0].values.Vigor.points, 777);
    await page.locator("#step").click();
    await until(async () => (await ask(page, "overview")).tick === before + 1, "the tick");
    await until(async () => (await field(page, "Vigor", "points").inputValue()) === "776", "the value behind the tick");
  });

  await test("what_was_played_again_stands_beside_what_was", async () => {
    await tab(page, "What if");
    const replayed = page.locator("#replayed");
    await replayed.getByText("ticks 10 to 40 again").waitFor();
    await until(async () => /entities502 → 532 \(\+30, \+6\.0%\)/.test(await replayed.textContent()), "both ends");
    assert.match(await replayed.textContent(), /the old rules.*the new rules/);
    await page.locator("#futures-query").fill("Place, !Speed; Vigor");
    await page.locator("#futures-query").press("Enter");
    await until(async () => /Place, !Speed0 → 30 \(\+30\).*Vigor2 → 2 \(0, 0\.0%\)/.test(await replayed.textContent()), "what is counted");
    if (pictures) {
      const p = await open(scene, { height: 540 });
      await tab(p, "What if");
      await p.locator("#futures-query").fill("Place, !Speed; Vigor");
      await p.locator("#futures-query").press("Enter");
      await p.getByText("Vigor").first().waitFor();
      await p.waitForTimeout(500);
      await p.screenshot({ path: `${pictures}/inspector-replayed.png` });
      await p.context().close();
    }
    await replayed.getByText("What is different now?").click();
    await page.locator("tr.group", { hasText: /30 entities.*made/ }).waitFor();
    await tab(page, "What if");
  });

  await test("two_futures_are_played", async () => {
    await tab(page, "What if");
    await page.locator("#whatif-query").fill("Speed");
    await page.getByText("Add this edit").click();
    await page.locator("[aria-label='Queries to count']").fill("Place");
    await page.locator("[aria-label='Ticks']").fill("20");
    await page.locator("[aria-label='Ticks']").blur();
    await page.locator("#play-whatif").click();
    await page.getByText("20 of 20 ticks").waitFor();
    assert.match(await page.locator("#futures").textContent(), /entities502 → 2 \(-500, -99\.6%\)/);
    await page.getByText("What is different at the end?").click();
    const head = page.locator("tr.group", { hasText: /500 entities.*destroyed.*with / }); // equal changes are one line, which opens
    await head.waitFor();
    assert.equal(await page.locator("tr.inside:visible").count(), 0);
    await head.click();
    assert.equal(await page.locator("tr.inside:visible", { hasText: "mover" }).count(), 50);
    await page.getByText("450 more").first().waitFor();
    await head.click();
    assert.equal(await page.locator("tr.inside:visible").count(), 0);
  });

  if ((await ask(page, "overview")).sql) await test("statements_in_sql_are_run_and_remembered", async () => {
    const input = page.locator("#sql"), answers = page.locator("#answers");
    const run = async text => { await input.fill(text); await input.press("Enter"); };
    await tab(page, "SQL");
    await run("select id, name from entities join Vigor using (id) order by points limit 1");
    await answers.locator("td", { hasText: `hero <b>"&'` }).waitFor(); // a name is text, never markup
    assert.equal(await input.inputValue(), "");
    await answers.locator("td a").first().click(); // an id opens its entity
    await field(page, "Vigor", "points").waitFor();
    assert.match(await page.locator("#side").textContent(), /^500v1/);
    await run("select points from Vigor order by 1");
    await answers.getByText("2 rows").waitFor();
    await run("selekt 1");
    await answers.getByRole("alert").waitFor();
    assert.match(await answers.textContent(), /syntax error/);
    await run("update Vigor set points = 555 where query = 'Vigor, !Blessed'");
    await answers.getByText("1 row changed").waitFor();
    assert.equal((await ask(page, "entities?q=Vigor,!Blessed&show=Vigor")).rows[0].values.Vigor.points, 555);
    await until(async () => (await field(page, "Vigor", "points").inputValue()) === "555", "the value beside it");
    await run("update Vigor set points = 9999999");
    await answers.getByText("points has the range").waitFor();
    // the history, by the arrow keys; what was being typed comes back behind it
    await input.fill("select 'draft'");
    for (const wanted of ["update Vigor set points = 9999999", "update Vigor set points = 555 where query = 'Vigor, !Blessed'", "selekt 1", "select points from Vigor order by 1"]) {
      await input.press("ArrowUp");
      assert.equal(await input.inputValue(), wanted);
    }
    await input.press("Enter");
    await answers.getByText("2 rows").waitFor();
    await input.fill("select 'draft'");
    await input.press("ArrowUp");
    assert.equal(await input.inputValue(), "select points from Vigor order by 1");
    await input.press("ArrowDown");
    assert.equal(await input.inputValue(), "select 'draft'");
    await input.fill("select 1;\nselect 2");
    await input.press("ArrowUp"); // within the text
    assert.equal(await input.inputValue(), "select 1;\nselect 2");
    await page.reload(); // it is kept
    await input.waitFor();
    await input.press("ArrowUp");
    assert.equal(await input.inputValue(), "select points from Vigor order by 1");
    // the past can be asked, and not changed
    await input.fill("");
    await input.blur();
    await page.keyboard.press("Shift+ArrowLeft");
    await until(async () => (await page.locator("#viewing").textContent()).includes("tick "), "a tick of the past");
    await run("select count(*) from Vigor where points = 555");
    await answers.locator("td", { hasText: /^0$/ }).waitFor();
    await run("update Vigor set points = 1");
    await answers.getByText("only the world as it is now can be changed").waitFor();
    await input.blur();
    await page.keyboard.press("Escape");
  });

  await test("events_are_shown_and_lead_to_their_entities", async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    if ((await ask(page, "overview")).paused) await page.locator("#pause").click();
    await tab(page, "Events");
    await until(async () => (await page.locator("#view tbody tr").count()) >= 4, "events of two ticks");
    const row = page.locator("#view tbody tr").first();
    assert.match(await row.textContent(), /Burnt.*who \d+v1.*left \d+/);
    await row.locator("a").click();
    await field(page, "Vigor", "points").waitFor();
    await page.locator("#pause").click();
    await page.keyboard.press("Escape");
  });

  await test("the_tick_in_which_a_condition_became_true_is_looked_at", async () => {
    await tab(page, "Entities");
    await page.locator("#query").fill("Vigor, !Blessed");
    await until(async () => (await page.locator(".line").count()) === 1, "the hero");
    await page.locator(".line").first().click();
    await page.locator("#side .component", { hasText: "Vigor" }).locator(".pin").click();
    const now = Number(await field(page, "Vigor", "points").inputValue()), tick = (await ask(page, "overview")).tick;
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await tab(page, "Overview");
    await page.locator("input[aria-label='Bound of points']").fill(String(now + 7)); // one point less in each tick
    await page.locator("input[aria-label='Bound of points']").press("Enter");
    await until(async () => (await page.locator("#viewing").textContent()).includes("tick " + (tick - 6)), "the tick");
    await page.locator("input[aria-label='Bound of points']").blur();
    await page.keyboard.press("Escape");
  });

  await test("every_view_opens_by_its_key_at_every_width", async () => {
    const count = await page.locator("#tabs button").count();
    assert.ok(count >= 8);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (let k = 1; k <= count; k++) {
        await page.keyboard.press("Escape");
        await page.keyboard.press("Escape");
        await page.keyboard.press(String(k % 10));
        await page.waitForTimeout(250);
        assert.ok((await page.locator("#view").textContent()).length > 20);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `view ${k} is ${wide} px wide`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.equal(await page.evaluate(() => document.querySelectorAll("#view b > b, i > i").length), 0);
  });

  await test("nothing_is_reported_on_the_console", async () => assert.deepEqual(page.reported, []));

  await test("without_the_token_the_page_knows_nothing", async () => {
    const other = await (await browser.newContext()).newPage();
    assert.equal((await other.goto(new URL(scene).origin + "/")).status(), 200);
    await other.getByText("The token of this page is missing").waitFor();
    assert.notEqual(await other.locator("#title").textContent(), "A scene <i>");
    await other.context().close();
  });

  await test("no_other_server_of_this_machine_gets_the_token", async () => {
    const seen = [], token = new URLSearchParams(new URL(scene).hash.slice(1)).get("token");
    const server = createServer((asked, answer) => { seen.push(asked.url + JSON.stringify(asked.headers)); answer.setHeader("Content-Type", "text/html"); answer.end("<p>another"); });
    await new Promise(f => server.listen(0, "127.0.0.1", f));
    const other = await page.context().newPage(), address = `http://127.0.0.1:${server.address().port}/`;
    await other.goto(scene); // the tab has the token, then goes to another port
    await other.waitForSelector(".card");
    await other.goto(address);
    assert.ok(seen.length > 0 && token.length >= 16);
    assert.ok(seen.every(text => !text.includes(token)), seen.join("\n"));
    assert.equal(await other.evaluate(() => sessionStorage.length + document.cookie.length), 0);
    assert.deepEqual(await page.context().cookies(), []);
    await other.close();
    server.close();
  });

  await test("spans_are_saved_as_a_file", async () => {
    await tab(page, "Systems");
    await page.getByText("Record spans").click();
    await page.getByText("Stop recording spans").waitFor();
    await page.waitForTimeout(300);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByText("Save as a trace").click()]);
    assert.equal(file.suggestedFilename(), "reef-trace.json");
    const bytes = await (await import("node:fs/promises")).readFile(await file.path(), "utf8");
    assert.ok(Array.isArray(JSON.parse(bytes).traceEvents ?? JSON.parse(bytes)));
    await page.getByText("Stop recording spans").click();
  });

  await test("nothing_is_reported_on_the_console_at_the_end", async () => assert.deepEqual(page.reported, []));
}

if (many) {
  const p = await open(many);
  const total = (await ask(p, "overview")).entities, last = total - 1;
  const row = id => p.locator(".line", { has: p.locator(".c-id", { hasText: new RegExp(`^${id}v1$`) }) });
  // How far below a row the list ends, in pixels. (The lines are made anew every second, so one look has to do.)
  const below = id => p.evaluate(id => {
    const line = [...document.querySelectorAll(".line")].find(l => l.firstChild.textContent === id + "v1");
    const list = document.getElementById("entities"), box = list.getBoundingClientRect();
    return line ? box.top + list.clientTop + list.clientHeight - line.getBoundingClientRect().bottom : NaN;
  }, id);
  await test(`a_list_of_${total}_is_scrolled_to_its_end`, async () => {
    await tab(p, "Entities");
    await p.locator("#query").fill("Place, in Speed");
    await until(async () => (await p.locator(".under b").textContent()).replace(/\D/g, "") === String(total - 2), "their number"); // two don't move
    await p.locator("#entities").focus();
    await p.keyboard.press("End");
    const end = total - 3;
    await row(end).waitFor();
    assert.ok(Math.abs(await below(end)) < 3, "the last row is at the bottom");
    assert.ok((await p.locator(".line").count()) < 60, "only what is in view is in the page");
    await row(end).click();
    await field(p, "Place", "x").waitFor();
    assert.equal(await p.locator("#side b.mono").textContent(), `${end}v1`);
    await p.locator("#entities").focus();
    for (let k = 0; k < 30; k++) await p.keyboard.press("ArrowUp");
    await until(async () => (await p.locator("#side b.mono").textContent()) === `${end - 30}v1`, "30 rows up by keyboard");
    const rest = await below(end - 30);
    assert.ok(rest > -1 && rest < 700, `the chosen row is ${rest} px above the end of the list`);
  });
  await test("a_row_in_the_middle_is_scrolled_to", async () => {
    for (const part of [0.9, 0.5, 0.01]) {
      const i = Math.floor(part * last);
      await p.evaluate(part => { const l = document.getElementById("entities"); l.scrollTop = part * (l.scrollHeight - l.clientHeight); }, part);
      await until(async () => {
        const ids = (await p.locator(".line .c-id").allTextContents()).map(t => parseInt(t));
        return ids.length && ids.every(n => Math.abs(n - i) < 100);
      }, "rows around " + i);
    }
  });
  await test("the_first_rows_of_a_query_are_shown_within_50_ms", async () => {
    const ms = await p.evaluate(async () => {
      const times = [];
      for (let k = 0; k < 15; k++) {
        const begin = performance.now();
        await (await fetch("/api/entities?q=Place,in%20Speed&show=Place,Speed&limit=100&offset=" + (k % 2 ? 0 : 150000), { headers: { Authorization: "Bearer " + sessionStorage.getItem("reef.token") } })).json();
        times.push(performance.now() - begin);
      }
      return Math.min(...times); // what else the machine does is left out
    });
    console.log(`        ${ms.toFixed(1)} ms in the browser`);
    assert.ok(ms < 50 || process.env.REEF_SLOW_MACHINE, `${ms} ms`);
  });
  await test("rows_stay_while_they_are_fetched_again", async () => {
    const waits = await p.evaluate(async () => {
      let most = 0;
      for (const end = performance.now() + 2500; performance.now() < end; await new Promise(r => setTimeout(r, 20))) most = Math.max(most, document.querySelectorAll(".line.waits").length);
      return most;
    });
    assert.equal(waits, 0);
  });
  await test("nothing_is_reported_on_the_console_with_many", async () => assert.deepEqual(p.reported, []));
  await p.close();
}

// The programs with --inspect: what they do in a tick is played again with the same result.
for (const [name, address] of Object.entries({ reef, dive })) {
  if (!address) continue;
  await test(`${name}_is_looked_into`, async () => {
    const p = await open(address);
    if (name === "reef") {
      await tab(p, "Tree"); // ChildOf has no members there
      await p.locator(".node", { hasText: "Lutjanus bohar" }).waitFor();
      // What it costs is said before it begins, since all of this world changes in each tick; and the bound can be changed.
      await p.keyboard.press("r");
      const dialog = p.locator("#recording");
      await dialog.getByText(/A tick changes about .*MiB of this world.*then the oldest states are dropped/).waitFor();
      assert.ok(!(await p.locator("#record.on").count()), "nothing is recorded yet");
      await dialog.locator("input").fill("600");
      await dialog.getByText("Record", { exact: true }).click();
      await p.locator("#record.on").waitFor();
      await tab(p, "Overview");
      await p.locator("#recorded").getByText(/recorded states of at most 600, about .* a tick/).waitFor();
      assert.equal(await p.locator("#recorded input").inputValue(), "600");
      await p.locator("#toast", { hasText: "The bound of 600 MiB is reached" }).waitFor({ timeout: 60000 });
      await p.locator("#recorded input").fill("800");
      await p.locator("#recorded input").press("Enter");
      await until(async () => (await ask(p, "recording")).bound === 800 << 20, "the new bound");
      await p.locator("#recorded input").blur();
    } else if (!(await ask(p, "overview")).error) await p.locator("#record.on").waitFor({ timeout: 500 }).catch(() => p.keyboard.press("r"));
    const begin = (await ask(p, "overview")).tick;
    await until(async () => (await ask(p, "overview")).tick > begin + 20, "20 ticks");
    await p.keyboard.press(" ");
    await until(async () => (await ask(p, "overview")).paused, "the pause");
    await p.waitForTimeout(400);
    const tick = (await ask(p, "overview")).tick;
    await p.keyboard.press(".");
    await until(async () => (await ask(p, "overview")).tick === tick + 1, "one tick");
    await tab(p, "Changes");
    await p.waitForTimeout(500);
    // A busy machine may not come by within the two seconds that a request waits; and in every fiftieth tick of the living reef, the
    // program takes a census between two ticks, which is outside of the systems. So there are some tries.
    for (let tries = 4; tries > 0; tries--) {
      await p.locator("#who").click();
      if (await p.getByText("with the same result").waitFor({ timeout: 5000 }).then(() => true, () => false)) break;
      assert.ok(tries > 1, "not with the same result: " + (await p.locator("#changes").textContent()).slice(0, 200));
      await p.locator("button[title='One tick back']").click();
    }
    assert.ok((await p.locator("td .chip.by").count()) > 3, "systems are named");
    for (let k = 1; k <= 8; k++) { await p.keyboard.press("Escape"); await p.keyboard.press(String(k)); await p.waitForTimeout(200); }
    await p.keyboard.press(" ");
    assert.deepEqual(p.reported, []);
    if (!pictures || name !== "reef") await p.close();
  });
}

if (reef && pictures) {
  const shot = (p, name) => p.screenshot({ path: `${pictures}/inspector-${name}.png` });
  const p = await open(reef, { width: 1180, height: 700, dark: true });
  await p.waitForTimeout(4000);
  if (!(await p.locator("#record.on").count())) {
    await p.keyboard.press("r");
    await p.locator("#recording").getByText("Record", { exact: true }).click();
  }
  await tab(p, "Entities");
  await p.locator("#query").fill("Position, Energy, Hunter, !Resting");
  await p.waitForTimeout(1500);
  await p.locator("button", { hasText: "Watch" }).click();
  await p.locator(".line").nth(3).click();
  await p.locator("#side .component", { hasText: "Energy" }).getByText("pin").click();
  await p.waitForTimeout(5000);
  await shot(p, "entities");
  await p.keyboard.press("Escape");
  await p.keyboard.press("Escape");
  await tab(p, "Overview");
  await p.waitForTimeout(4000);
  await shot(p, "overview");
  await p.locator("#pause").click();
  await p.waitForTimeout(700);
  await tab(p, "Systems");
  await p.locator("g.node", { hasText: "feed" }).click();
  await p.waitForTimeout(1800);
  await shot(p, "systems");
  await tab(p, "Changes");
  await p.waitForTimeout(1500);
  await p.locator("#who").click();
  await p.getByText("who did it").waitFor();
  if (!(await p.getByText("with the same result").count())) { // the tick behind a census
    await p.locator("button[title='One tick back']").click();
    await p.waitForTimeout(700);
    await p.locator("#who").click();
    await p.getByText("with the same result").waitFor();
  }
  await p.waitForTimeout(500);
  await shot(p, "changes");
  await tab(p, "What if");
  await p.locator("#whatif-query").fill("Hunter");
  await p.getByText("Add this edit").click();
  await p.locator("[aria-label='Queries to count']").fill("Hunter; Species, !Hunter");
  await p.locator("[aria-label='Ticks']").fill("100");
  await p.locator("[aria-label='Ticks']").blur();
  await p.locator("#play-whatif").click();
  await p.getByText("100 of 100 ticks").waitFor({ timeout: 60000 });
  await p.waitForTimeout(1200);
  await shot(p, "whatif");
  assert.deepEqual(p.reported, []);
}
await browser.close();
console.log(failures ? `${failures} failed` : "all passed");
process.exit(failures ? 1 : 0);
