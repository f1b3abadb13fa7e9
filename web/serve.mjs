// node web/serve.mjs FOLDER [PORT [BASE [isolated [PROGRAM]]]]: serves the built site on 127.0.0.1, compressed, until it is ended. Port 0 is any free one; the
// address is printed, and that of the playground with PROGRAM, a file, in it. `isolated` sends the two headers with which a browser gives a page threads.
import { createServer } from "node:http";
import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, join, normalize, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { pathToFileURL } from "node:url";
import { packed as address_of } from "./pages.mjs";

const types = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml",
    ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp", ".wasm": "application/wasm", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
};

// `folder` may be a function, which is asked for each file. `plain`: the server doesn't know the type of WebAssembly.
export async function serve(folder, { port = 0, base = "/", isolated = false, plain = false } = {}) {
    const packed = new Map(); // path and its time: its bytes, compressed
    const server = createServer((request, response) => {
        let path;
        try {
            path = decodeURIComponent(new URL(request.url, "http://x").pathname);
        } catch {
            return void response.writeHead(400).end();
        }
        if (!path.startsWith(base)) return void response.writeHead(404).end("not in this folder\n");
        const whole = resolve(typeof folder === "function" ? folder() : folder);
        let file = normalize(join(whole, path.slice(base.length)));
        if (file !== whole && !file.startsWith(whole + "/")) return void response.writeHead(403).end();
        if (existsSync(file) && statSync(file).isDirectory()) {
            if (!path.endsWith("/")) return void response.writeHead(301, { location: path + "/" }).end();
            file = join(file, "index.html");
        }
        const status = existsSync(file) ? 200 : 404;
        if (status === 404) file = join(whole, "404.html");
        const type = plain && extname(file) === ".wasm" ? "text/plain" : types[extname(file)] ?? "application/octet-stream";
        const head = { "content-type": type, "cache-control": path.includes("/assets/") && status === 200 ? "max-age=31536000, immutable" : "no-cache" };
        if (isolated) Object.assign(head, { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" });
        let bytes = existsSync(file) ? readFileSync(file) : Buffer.from("not found\n");
        if (/^(text|application\/(json|wasm))|svg/.test(type) && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) {
            const key = file + statSync(file).mtimeMs;
            if (!packed.has(key)) packed.set(key, gzipSync(bytes));
            bytes = packed.get(key);
            head["content-encoding"] = "gzip";
        }
        head["content-length"] = bytes.length;
        response.writeHead(status, head).end(request.method === "HEAD" ? undefined : bytes);
    });
    await new Promise((listening, failed) => {
        server.once("error", failed);
        server.listen(port, "127.0.0.1", listening);
    });
    return { server, address: `http://127.0.0.1:${server.address().port}${base}` };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [folder, port = "8018", base = "/", isolated = "", program] = process.argv.slice(2);
    try {
        const { address } = await serve(folder, { port: Number(port), base, isolated: isolated === "isolated" });
        console.log(`==> ${address} (Ctrl-C ends it)`);
        if (program) console.log(`==> ${address}playground.html#program=${address_of(readFileSync(program, "utf8"))}`);
    } catch (error) {
        console.error(error.code === "EADDRINUSE" ? `site: port ${port} is taken, perhaps by another ./site --serve; choose another one: ./site --serve --port ${Number(port) + 1}` : `site: ${error.message}`);
        process.exit(1);
    }
}
