// moving.mjs ADDRESS FOLDER TICK: the frames of docs/pictures/time-travel.webp, for scripts/pictures --moving. At ADDRESS is the inspector of the
// game, whose window is the whole display. It plays on to TICK, as the recorded dive says; then each frame is a picture of the window and one of the page, made at the same time.
// The page is used by its own buttons. What is added to it is the arrow of a mouse, which Chromium without a window doesn't draw.
import { spawn } from "node:child_process";
import { chromium } from "playwright-core";

const [address, folder, until] = process.argv.slice(2);
const width = 400, height = 500;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const page = await (await browser.newContext({ viewport: { width, height }, colorScheme: "dark" })).newPage();
const words = await (await browser.newContext({ viewport: { width: 2 * width, height: 30 } })).newPage();
page.setDefaultTimeout(60000);
await page.goto(address);
await page.waitForSelector(".card");
const api = (path, body) => page.evaluate(async ([path, body]) => (await fetch("/api/" + path, { method: body ? "POST" : "GET", body: body && JSON.stringify(body),
  headers: { Authorization: "Bearer " + sessionStorage.getItem("reef.token"), "Content-Type": "application/json" } })).json(), [path, body]);

while ((await api("overview")).tick < Number(until)) await page.waitForTimeout(200);

await page.evaluate(() => {
  const arrow = document.createElement("div");
  arrow.id = "arrow";
  arrow.innerHTML = '<svg width="22" height="26" viewBox="0 0 22 26"><path d="M2 1 L2 20 L7 16 L11 24 L15 22 L11 14 L18 14 Z" fill="#fff" stroke="#000" stroke-width="1.6"/></svg>';
  arrow.style.cssText = "position:fixed;z-index:99;pointer-events:none;left:0;top:0";
  document.body.append(arrow);
});

let frames = 0, at = { x: 330, y: 380 };
const run = (command, ...more) => new Promise((good, bad) => spawn(command, more, { stdio: "inherit" }).on("exit", code => code ? bad(new Error(command + " failed")) : good()));
async function frame() {
  const n = String(frames++).padStart(3, "0");
  await page.evaluate(({ x, y }) => { document.getElementById("arrow").style.transform = `translate(${x}px, ${y}px)`; }, at);
  await Promise.all([
    page.screenshot({ path: `${folder}/page-${n}.png` }),
    words.screenshot({ path: `${folder}/words-${n}.png` }),
    run("ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-video_size", `${width}x${height}`, "-i", process.env.DISPLAY, "-frames:v", "1", `${folder}/game-${n}.png`),
  ]);
}
const hold = async n => { for (let i = 0; i < n; i++) await frame(); };
const say = text => words.setContent(`<body style="margin:0;background:#0b121c;color:#dbe6f0;font:600 16px/30px 'DejaVu Sans',sans-serif;text-align:center">${text}</body>`);
async function moveTo(x, y, steps = 4) {
  const from = { ...at };
  for (let k = 1; k <= steps; k++) {
    const part = k / steps, soft = part * part * (3 - 2 * part);
    at = { x: from.x + (x - from.x) * soft, y: from.y + (y - from.y) * soft };
    await frame();
  }
}
async function click(what, place = null) {
  const box = await what.boundingBox(), x = place ? box.x + place.x * box.width : box.x + box.width / 2, y = place ? box.y + place.y * box.height : box.y + box.height / 2;
  await moveTo(x, y);
  await page.mouse.click(x, y);
}

await say("A game, and the inspector of its world");
await hold(16);
await say("Pause, and click a tick of the past");
await click(page.locator("#pause"));
await page.mouse.move(0, 0);
await hold(3);
await click(page.locator("#ticks"), { x: 0.25, y: 0.5 });
await page.getByText("looking at tick").waitFor();
await page.mouse.move(0, 0);
await hold(8);
await say("Go on from there: the world is what it was");
await click(page.getByText("Go on from here"));
await page.waitForTimeout(400);
await hold(7);
await click(page.locator("#pause"));
await hold(14);
await say("What if? Two forks are played beside it, one of them without the fish");
await page.locator("#tabs button", { hasText: "What if" }).click();
await page.locator("#whatif-query").fill("Bystander");
await page.getByText("Add this edit").click();
await page.locator("[aria-label='Queries to count']").fill("Bystander");
await page.locator("[aria-label='Ticks']").fill("900");
await page.locator("[aria-label='Ticks']").blur();
await page.evaluate(() => { document.getElementById("play-whatif").scrollIntoView({ block: "center" }); });
await click(page.locator("#play-whatif"));
await page.locator("#futures canvas").first().waitFor();
await page.evaluate(() => { document.getElementById("futures").scrollIntoView({ block: "start" }); });
at = { x: 380, y: 470 };
for (let n = 0; n < 14; n++) await frame();
await page.getByText("900 of 900 ticks").waitFor();
await hold(10);
await browser.close();
console.log(frames + " frames");
