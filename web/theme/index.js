// The theme: that of VitePress without its fonts, in reef's colours, with components of the site.
import DefaultTheme from "vitepress/theme-without-fonts";
import NotFound from "vitepress/dist/client/theme-default/NotFound.vue";
import LatePicture from "./LatePicture.vue";
import { defineAsyncComponent, h } from "vue";
import GameBox from "./GameBox.vue";
import RunLink from "./RunLink.vue";
import TopicFilter from "./TopicFilter.vue";
import { reload_once } from "./recover.mjs";
import "./style.css";

// The service worker, and what this page has loaded without it.
async function begin_worker() {
    if (!("serviceWorker" in navigator)) return;
    navigator.serviceWorker.addEventListener("message", ({ data }) => { if (data === "kept") document.documentElement.dataset.offline = "ready"; });
    try {
        await navigator.serviceWorker.register(import.meta.env.BASE_URL + "sw.js");
        const { active } = await navigator.serviceWorker.ready;
        active.postMessage([location.href.replace(/#.*/, ""), ...performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => name.startsWith(location.origin) && !name.includes("/compiler/"))]);
    } catch { /* not over plain http, or not allowed: the site works without it */ }
}

// Where a page isn't found, VitePress loads the table of pages again and tries it again, in a program that may be older than that page. Another table means another site.
function watch_for_another_site(router) {
    const table = JSON.stringify(window.__VP_HASH_MAP__);
    router.onBeforePageLoad = () => !(JSON.stringify(window.__VP_HASH_MAP__) !== table && reload_once());
}

export default {
    extends: DefaultTheme,
    Layout: () => h(DefaultTheme.Layout, null, { "not-found": () => h("main", null, h(NotFound)) }), // other pages have their own
    enhanceApp({ app, router }) {
        app.component("LatePicture", LatePicture);
        app.component("RunLink", RunLink);
        app.component("GameBox", GameBox);
        app.component("RunBox", defineAsyncComponent(() => import("./RunBox.vue")));
        app.component("Playground", defineAsyncComponent(() => import("./Playground.vue")));
        app.component("TopicFilter", TopicFilter);
        if (typeof window === "undefined") return;
        window.addEventListener("vite:preloadError", reload_once);
        watch_for_another_site(router);
        window.addEventListener("load", begin_worker);
    },
};
