// The search: whole identifiers are words, and so are their parts. It runs in the page, over what search-index.mjs made.

export function words_of(text) {
    const words = [];
    for (const [word] of text.toLowerCase().matchAll(/[a-z0-9_]+/g)) {
        words.push(word);
        if (word.includes("_")) words.push(...word.split("_").filter(Boolean));
    }
    return words;
}

const weights = [20, 8, 1]; // of a word in the page's title, in the heading, in the text

// Prepares an index for search: for each word, in which sections it stands, and how much it counts there.
export function prepare(index) {
    const words = new Map(); // word: Map of section: weight
    index.sections.forEach(([page, heading, , text], section) => {
        [index.pages[page][0], heading, text].forEach((part, i) => {
            for (const word of words_of(part)) {
                let found = words.get(word);
                if (!found) words.set(word, (found = new Map()));
                const before = found.get(section) ?? 0;
                if (i < 2 || before % weights[1] < 4) found.set(section, before + weights[i]);
            }
        });
    });
    return { index, words, sorted: [...words.keys()].sort() };
}

function beginning_with(prepared, start) {
    const { sorted } = prepared;
    let low = 0, high = sorted.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle] < start) low = middle + 1; else high = middle;
    }
    const found = [];
    for (; low < sorted.length && sorted[low].startsWith(start) && found.length < 60; low++) found.push(sorted[low]);
    return found;
}

// The best sections for what was typed: [{title, heading, address, text, score}]. All words must be there; the last one may be a beginning.
export function search(prepared, typed, most = 12) {
    const asked = [...typed.toLowerCase().matchAll(/[a-z0-9_]+/g)].map(([word]) => word);
    if (asked.length === 0) return [];
    const { index, words } = prepared, count = index.sections.length;
    let scores = null;
    asked.forEach((word, i) => {
        const now = new Map();
        const candidates = i === asked.length - 1 ? beginning_with(prepared, word) : words.has(word) ? [word] : beginning_with(prepared, word);
        for (const candidate of candidates) {
            const found = words.get(candidate);
            const factor = Math.log(1 + count / found.size) * (candidate === word ? 1 : 0.35);
            for (const [section, weight] of found) {
                const score = weight / (weight + 4) * factor;
                if (score > (now.get(section) ?? 0)) now.set(section, score);
            }
        }
        if (scores === null) { scores = now; return; }
        for (const section of scores.keys()) {
            if (now.has(section)) scores.set(section, scores.get(section) + now.get(section)); else scores.delete(section);
        }
    });
    const whole = asked.join(" ");
    const results = [...scores].map(([section, score]) => {
        const [page, heading, anchor, text] = index.sections[section];
        const [title, address, is_function] = index.pages[page];
        if (title.toLowerCase() === whole) score += is_function ? 1000 : 50; // the very name first
        else if (is_function && title.toLowerCase().startsWith(whole)) score += 8 - title.length / 10;
        if (heading.toLowerCase() === whole) score += 20;
        if (!heading && !is_function) score += 1; // the page before its sections
        return { title, heading, address: address + (anchor ? "#" + anchor : ""), text, score, is_function };
    });
    return results.sort((a, b) => b.score - a.score || a.title.localeCompare(b.title)).slice(0, most);
}

// Whole words of the text around the first word asked for.
export function around(text, typed, length = 140) {
    const asked = typed.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
    const low = text.toLowerCase();
    const at = Math.max(0, Math.min(...asked.map((word) => low.indexOf(word)).filter((i) => i >= 0), Infinity));
    const first = Number.isFinite(at) && at > 50 ? text.indexOf(" ", at - 50) + 1 : 0; // there is a space, unless a word has 50 letters
    const end = first + length < text.length ? text.lastIndexOf(" ", first + length) : text.length, last = end > first ? end : first + length;
    return (first > 0 ? "… " : "") + text.slice(first, last).trim() + (last < text.length ? " …" : "");
}
