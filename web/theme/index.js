// The theme: that of VitePress without its fonts, in reef's colours, with components of the site.
import DefaultTheme from "vitepress/theme-without-fonts";
import LatePicture from "./LatePicture.vue";
import { defineAsyncComponent } from "vue";
import RunLink from "./RunLink.vue";
import TopicFilter from "./TopicFilter.vue";
import "./style.css";

export default {
    extends: DefaultTheme,
    enhanceApp({ app }) {
        if (typeof window !== "undefined") window.addEventListener("vite:preloadError", () => location.reload()); // the site was built anew since this tab was opened
        app.component("LatePicture", LatePicture);
        app.component("RunLink", RunLink);
        app.component("RunBox", defineAsyncComponent(() => import("./RunBox.vue")));
        app.component("Playground", defineAsyncComponent(() => import("./Playground.vue")));
        app.component("TopicFilter", TopicFilter);
    },
};
