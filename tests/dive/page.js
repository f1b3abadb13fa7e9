// node page.js PAGE-FOLDER [PICTURES-FOLDER [WIDTH HEIGHT]]: plays the page in headless Chromium: start, 20 seconds of scripted
// keys, rewinding, pause, losing, starting again beside the ghost, going on after a reload; then with a finger on a narrow screen.
// Needs npm's playwright-core (where NODE_PATH says) and Chromium (CHROMIUM, or /usr/bin/chromium). Exits with 77, which means
// "skipped", without them.
"use strict";
const fs = require("fs"), http = require("http"), path = require("path");

let chromium;
try {
  ({ chromium } = require("playwright-core"));
} catch {
  console.log("skipped: npm's playwright-core isn't here");
  process.exit(77);
}
const browserPath = process.env.CHROMIUM || "/usr/bin/chromium";
if (!fs.existsSync(browserPath)) {
  console.log("skipped: there is no " + browserPath);
  process.exit(77);
}
const folder = process.argv[2], pictures = process.argv[3];

const server = http.createServer((request, answer) => {
  const name = path.basename(new URL(request.url, "http://x").pathname) || "index.html";
  const file = path.join(folder, name);
  if (!fs.existsSync(file)) return answer.writeHead(404).end();
  answer.writeHead(200, { "content-type": name.endsWith(".js") ? "text/javascript" : "text/html" }).end(fs.readFileSync(file));
});

let failures = 0;
function check(good, what) {
  console.log((good ? "ok      " : "FAILED  ") + what);
  if (!good) failures++;
}

function helpers(page) {
  const state = () => page.evaluate(() => ({
    screen: dive.core._dive_screen(), stage: dive.core._dive_stage(), tick: dive.core._dive_tick(),
    creatures: dive.core._dive_creatures(), ghost: dive.core._dive_has_ghost(),
  }));
  const picture = async (name) => { if (pictures) await page.screenshot({ path: path.join(pictures, name + ".png"), timeout: 120000 }); };
  const press = async (key, ms) => { await page.keyboard.down(key); await page.waitForTimeout(ms); await page.keyboard.up(key); };
  const until = async (test, seconds) => {
    for (let i = 0; i < seconds * 4; i++) {
      const s = await state();
      if (test(s)) return s;
      await page.waitForTimeout(250);
    }
    return state();
  };
  return { state, picture, press, until };
}

async function play(page) {
  const { state, picture, press, until } = helpers(page);
  await picture("page-title");
  await press("Enter", 200);
  check((await until((s) => s.screen === 1, 10)).screen === 1, "Enter starts a dive");
  const before = await state();
  for (let i = 0; i < 5; i++) { // 20 seconds
    await press("KeyD", 1300);
    await press("KeyS", 900);
    await press("KeyA", 1300);
    await page.keyboard.press("KeyE");
    await press("KeyW", 400);
    if (i === 3) await picture("page-play");
  }
  const played = await state();
  check(played.tick > before.tick, `time goes on: tick ${before.tick} to ${played.tick}`);
  await page.keyboard.down("KeyR");
  const back = await until((s) => s.tick < played.tick, 10);
  await picture("page-rewind");
  await page.keyboard.up("KeyR");
  check(back.tick < played.tick, `R turns time back: tick ${played.tick} to ${back.tick}`);
  await press("Escape", 150);
  const paused = await until((s) => s.screen === 2, 5);
  await picture("page-pause");
  const later = await state();
  check(paused.screen === 2 && later.tick === paused.tick, "Escape pauses");
  await press("Escape", 150);
  check((await until((s) => s.screen === 1, 5)).screen === 1, "Escape goes on");

  await press("KeyP", 150);
  check((await until((s) => s.screen === 3, 5)).screen === 3, "P shows two futures");
  await page.waitForTimeout(1500);
  await picture("page-photo");
  await press("KeyP", 150);

  const times = await page.evaluate(() => Object.fromEntries(Object.entries(dive.times).map(([name, list]) => {
    const sorted = [...list].sort((a, b) => a - b);
    return [name, [sorted[sorted.length >> 1].toFixed(2), sorted[Math.floor(sorted.length * 0.99)].toFixed(2)]];
  })));
  console.log("ms, median and 99th percentile:", JSON.stringify(times), "share of the pixels' sides:", await page.evaluate(() => dive.fine()));

  // The bell's air makes a careful diver live long: she swims away from it and waits for her end.
  await page.keyboard.down("KeyS");
  const lost = await until((s) => s.stage === 4, 400);
  await page.keyboard.up("KeyS");
  check(lost.stage === 4, "without air she loses");
  await page.waitForTimeout(3000);
  await picture("page-lost");
  for (let i = 0; i < 20 && (await state()).stage === 4; i++) {
    await press("Enter", 300);
    await page.waitForTimeout(500);
  }
  const again = await state();
  check(again.stage !== 4 && again.ghost === 1, `Enter begins again, beside the ghost (tick ${again.tick})`);
  await press("KeyD", 3000);
  await picture("page-ghost");
  await page.waitForTimeout(6000); // the files are kept every three seconds
  const here = await state();
  await page.reload();
  await page.waitForFunction(() => window.dive !== undefined, null, { timeout: 60000 });
  const loaded = await state();
  check(loaded.tick > 0 && loaded.tick <= here.tick + 600, `after a reload the dive is still there, at tick ${loaded.tick}`);
}

// On a phone: a tap on "dive", a finger that swims, the buttons.
async function play_by_touch(page) {
  const { picture, until } = helpers(page);
  const touch = await page.context().newCDPSession(page);
  const finger = (type, ...points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  const tap = async (x, y) => { await finger("touchStart", [x, y]); await page.waitForTimeout(300); await finger("touchEnd"); };
  const tap_button = async (name) => {
    const box = await page.locator(`[data-control=${name}]`).boundingBox();
    await tap(box.x + box.width / 2, box.y + box.height / 2);
  };
  const shown = async () => page.evaluate(() => [...document.querySelectorAll(".touch")].filter((b) => getComputedStyle(b).display !== "none").length);
  await picture("phone-title");
  check((await page.evaluate(() => dive.core._dive_places())) === 1, "a page has nothing to leave: the title has one item");
  check((await shown()) === 0, "the buttons aren't there before she dives");
  await tap(195, 200); // the name of the game isn't an item of the menu
  check((await until((s) => s.screen === 1, 2)).screen === 0, "a tap beside the menu does nothing");
  await tap(195, 418);
  check((await until((s) => s.screen === 1, 10)).screen === 1, "a tap on the menu starts a dive");
  await finger("touchStart", [120, 650]);
  await finger("touchMove", [170, 690]);
  await until((s) => s.tick > 240, 60);
  await finger("touchEnd");
  await picture("phone-play");
  check((await shown()) === 5, "the buttons are there while she dives");
  await tap_button("pulse");
  await page.waitForTimeout(300);
  const ready = await page.evaluate(() => [Number(document.querySelector("[data-control=pulse]").style.getPropertyValue("--ready")), dive.core._dive_ready(1)]);
  check(ready[0] < 1 && Math.abs(ready[0] - ready[1]) < 0.2, `a button shows how long it rests: ${ready}`);
  await picture("phone-pulse");
  await tap_button("dash");
  await tap_button("pause");
  check((await until((s) => s.screen === 2, 10)).screen === 2, "the button pauses");
  await picture("phone-pause");
  await tap(195, 386);
  check((await until((s) => s.screen === 1, 10)).screen === 1, "a tap on the menu goes on");
}

server.listen(0, "127.0.0.1", async () => {
  const address = `http://127.0.0.1:${server.address().port}/?seed=3`;
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--headless", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", "--autoplay-policy=no-user-gesture-required"],
  });
  try {
    const size = { width: Number(process.argv[4]) || 640, height: Number(process.argv[5]) || 360 };
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    for (const [options, part] of [[{ viewport: size }, play], [phone, play_by_touch]]) {
      const page = await (await browser.newContext(options)).newPage();
      page.on("pageerror", (e) => check(false, "the page: " + (e.stack || e.message)));
      page.on("console", (m) => { if (m.type() === "error") check(false, "console: " + m.text()); });
      await page.goto(address);
      await page.waitForFunction(() => window.dive !== undefined, null, { timeout: 120000 });
      await page.waitForTimeout(1500);
      await part(page);
      await page.close();
    }
  } catch (e) {
    check(false, e.message);
  }
  await browser.close();
  server.close();
  process.exit(failures > 0 ? 1 : 0);
});
