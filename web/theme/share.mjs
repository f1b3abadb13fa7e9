// A program in the address of the playground, behind the #: compressed, in letters that addresses have. No server sees it.

export const most_source = 200 * 1024; // characters that a link may unpack to
const version_pattern = /^[\w.-]{1,20}$/;

async function through(stream, bytes, most) {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
    let sum = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        sum += value.length;
        if (sum > most) { await reader.cancel(); throw new Error(`the program in this link is larger than ${most / 1024} KiB`); }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const in_letters = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const from_letters = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

export async function hash_of(source, version) {
    return `#program=${in_letters(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(source), 4 * most_source))}&reef=${version}`;
}

// What an address asks for: {source, version} or {example}, or {} for nothing. Throws with a text for the reader.
export async function read_hash(hash) {
    const asked = new URLSearchParams(hash.replace(/^#/, ""));
    const version = version_pattern.test(asked.get("reef") ?? "") ? asked.get("reef") : null;
    if (/^\w+$/.test(asked.get("example") ?? "")) return { example: asked.get("example") };
    if (!asked.get("program")) return {};
    let bytes;
    try {
        bytes = await through(new DecompressionStream("deflate-raw"), from_letters(asked.get("program")), most_source);
    } catch (error) {
        throw /larger/.test(error.message) ? error : new Error("the program in this link is damaged: perhaps a part of the address is missing");
    }
    return { source: new TextDecoder().decode(bytes), version };
}
