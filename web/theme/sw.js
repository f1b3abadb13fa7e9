// The service worker: what was visited opens without a network, too. Files whose names change with their content are taken from the cache first; everything else from
// the network, and from the cache only without one, so that nobody sees an old page. The compiler keeps its files by itself (compile-worker.mjs); only the module
// that it imports comes from here.
const kept = "reef-site";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function keep(request, answer) {
    if (answer.ok && answer.type === "basic") await (await caches.open(kept)).put(request, answer.clone()).catch(() => {});
    return answer;
}

async function answer_to(request, unchanging) {
    const old = () => caches.match(request, { ignoreSearch: true });
    if (unchanging) return (await old()) ?? keep(request, await fetch(request));
    try {
        return await keep(request, await fetch(request));
    } catch (error) {
        const found = await old();
        if (found) return found;
        throw error;
    }
}

self.addEventListener("fetch", (event) => {
    const { request } = event, url = new URL(request.url);
    if (request.method !== "GET" || url.origin !== self.location.origin) return;
    if (url.pathname.includes("/compiler/")) {
        if (url.pathname.endsWith(".mjs")) event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
        return;
    }
    event.respondWith(answer_to(request, url.pathname.includes("/assets/")));
});

// What the page had loaded before this worker was there.
self.addEventListener("message", (event) => {
    event.waitUntil(Promise.all(event.data.map(async (url) => {
        if (!(await caches.match(url))) await fetch(url).then((answer) => keep(url, answer)).catch(() => {});
    })).then(() => event.source?.postMessage("kept")));
});
