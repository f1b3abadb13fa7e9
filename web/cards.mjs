// The pictures at the head of the gallery: what the examples that draw have drawn after some ticks, played while the site is built.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Machine } from "./theme/machine.mjs";

const ticks = 150;

// Shapes as machine.mjs reads them, six numbers each, as a drawing. Lines of one colour and width that follow each other are one path.
function drawing(shapes, { width, height }) {
    const colours = new Uint32Array(shapes.buffer), short = (x) => Number(x.toFixed(1)), parts = [];
    let pen = "", lines = "";
    const end_lines = () => { if (lines) parts.push(`<path d="${lines}" ${pen}/>`); lines = ""; };
    for (let k = 0; k < shapes.length; k += 6) {
        const [x0, y0, x1, y1, wide] = shapes.subarray(k, k + 5), colour = "#" + (colours[k + 5] & 0xffffff).toString(16).padStart(6, "0");
        if (wide <= 0) {
            end_lines();
            parts.push(`<circle cx="${short(x0)}" cy="${short(y0)}" r="${Number(Math.max(0, x1).toFixed(2))}" fill="${colour}"/>`);
            continue;
        }
        const now = `stroke="${colour}" stroke-width="${Number(wide.toFixed(2))}"`;
        if (now !== pen) end_lines();
        pen = now;
        lines += `M${short(x0)} ${short(y0)}L${short(x1)} ${short(y1)}`;
    }
    end_lines();
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" fill="none" stroke-linecap="round"><rect width="100%" height="100%" fill="#071821"/>${parts.join("")}</svg>\n`;
}

async function draw(program) {
    const machine = new Machine(() => {});
    await machine.start(readFileSync(program));
    let shapes = null;
    for (let i = 0; i < ticks; i++) ({ shapes } = machine.play(0));
    return drawing(shapes, machine.view);
}

const card = (page, picture, title, about) => `<a href="./${page}.html"><img src="/pictures/${picture}" alt="" width="320" height="180" loading="lazy" /><strong>${title}</strong><span>${about}</span></a>`;

// The head of the gallery's page. examples: {name, title, source} of those that draw.
export async function gallery_cards(site, public_folder, examples) {
    mkdirSync(join(public_folder, "pictures"), { recursive: true });
    site.public_picture("dive-swarm.jpg");
    const cards = [card("dive", "dive-swarm.jpg", "Dive", "A game in which time runs backward.")];
    for (const { name, title, source } of examples) {
        writeFileSync(join(public_folder, "pictures", name + ".svg"), await draw(join(public_folder, "programs", name + ".wasm")));
        const about = /^\/\*([\s\S]*?)\*\//.exec(source)[1].replace(/^ \* ?/gm, "").replace(/\s+/g, " ").trim();
        const [, sentence] = /^(?:[^.:]*: )?(.*?\.)(\s|$)/.exec(about); // without "A flock in a page:"
        cards.push(card(name, name + ".svg", title, (sentence[0].toUpperCase() + sentence.slice(1)).replace(/</g, "&lt;")));
    }
    return `<div class="gallery-cards">\n${cards.join("\n")}\n</div>\n\n`;
}
