// The theme: that of VitePress without its fonts, in reef's colours, with components of the site.
import DefaultTheme from "vitepress/theme-without-fonts";
import LatePicture from "./LatePicture.vue";
import TopicFilter from "./TopicFilter.vue";
import "./style.css";

export default {
    extends: DefaultTheme,
    enhanceApp({ app }) {
        app.component("LatePicture", LatePicture);
        app.component("TopicFilter", TopicFilter);
    },
};
