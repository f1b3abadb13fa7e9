// The picture of the benchmark's table: how long each row takes in reef beside the program written by hand. It is drawn from the table of the page, so it says what the table says.

const head = /^\| row \| unit \| 4 KiB: reef \|.*\n\|[-:|]+\|\n((?:\|.*\n)+)/m;
const wide = 606, left = 164, right = 556, row_height = 17, top = 26;
const low = 0.0625, high = 20; // of the scale, which is logarithmic
const ticks = [["1/16", 0.0625], ["1/8", 0.125], ["1/4", 0.25], ["1/2", 0.5], ["1", 1], ["2", 2], ["4", 4], ["8", 8], ["16", 16]];

const place = (ratio) => left + (right - left) * Math.log(Math.min(high, Math.max(low, ratio)) / low) / Math.log(high / low);
const short = (x) => Number(x.toFixed(1));

// {name, small, large: the ratios with both sizes of pages, must: NaN where it isn't one of the ratio} of the rows that have a baseline.
export function rows_of(text) {
    const lines = head.exec(text)?.[1].trim().split("\n") ?? [];
    return lines.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim())).filter((cells) => Number(cells[4]) > 0 && cells[10] !== "speedup")
        .map((cells) => ({ name: cells[0], small: Number(cells[4]), large: Number(cells[7]), must: cells[10] === "ratio" ? Number(cells[8]) : NaN }));
}

function picture(rows) {
    const bottom = top + rows.length * row_height, parts = [];
    for (const [text, at] of ticks) parts.push(`<line x1="${short(place(at))}" x2="${short(place(at))}" y1="${top - 6}" y2="${bottom}" class="${at === 1 ? "even" : "grid"}"/><text x="${short(place(at))}" y="${top - 11}" text-anchor="middle">${text}</text>`);
    rows.forEach(({ name, small, large, must }, i) => {
        const y = top + i * row_height, [from, to] = [place(1), place(small)].sort((a, b) => a - b), kind = small <= 1 ? "faster" : "slower";
        parts.push(`<text x="${left - 8}" y="${y + 12}" text-anchor="end">${name}</text>`,
            `<rect x="${short(from)}" y="${y + 3}" width="${short(Math.max(1, to - from))}" height="11" class="${kind}"/>`, `<circle cx="${short(place(large))}" cy="${y + 8.5}" r="3.2"/>`,
            must >= low ? `<line x1="${short(place(must))}" x2="${short(place(must))}" y1="${y + 1}" y2="${y + 16}" class="must"/>` : "",
            `<text x="${right + 8}" y="${y + 12}">${small}</text>`);
    });
    return `<figure class="figures"><div class="figures-picture" tabindex="0"><svg viewBox="0 0 ${wide} ${bottom + 4}" width="${wide}" height="${bottom + 4}" role="img" aria-label="The ratios of the table below, a bar for each row">${parts.join("")}</svg></div>` +
        `<figcaption>How many times as long as the program written by hand each row takes: the column <em>ratio</em> of the table below. Bars: pages of 4 KiB, to the left of 1 faster and to the right slower; dots: pages of 2 MiB; upright lines: <em>must</em>. A bar that the scale is too short for ends at its edge.</figcaption></figure>`;
}

export function with_picture(text) {
    const rows = rows_of(text);
    return rows.length ? text.replace(head, (table) => `${picture(rows)}\n\n${table}`) : text;
}
