// The first page: what reef is, in the words of README.md, and the ways in.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packed } from "./pages.mjs";

// A picture that is loaded when the reader comes near it.
function late(site, name, about) {
    site.public_picture(name);
    return `<LatePicture src="/pictures/${name}" about="${about}" />`;
}

export function home_page(root, site) {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const sentence = /^\*\*([\s\S]*?)\*\*$/m.exec(readme)[1].replace(/\s+/g, " ").replace(/^An/, "an");
    const [, program, source] = /<!-- program: first -->\n(```c\n([\s\S]*?\n)```)/.exec(readme);
    const output = /<!-- output: first -->\n```\n([\s\S]*?)\n```/.exec(readme)[1];
    const topics = [];
    for (const line of readFileSync(join(root, "docs/topics.md"), "utf8").split("\n")) {
        const heading = /^## (.*)/.exec(line);
        if (heading) topics.push([heading[1], 0]);
        else if (line.startsWith("| ") && !line.startsWith("| looking for")) topics.at(-1)[1]++;
    }
    const why = /## Why this one\?\n\n((?:\|.*\n)+)\n([\s\S]*?)\n\n## /.exec(readme);
    const figures = /## Figures\n\n([\s\S]*?)\n\n((?:\|.*\n)+)/.exec(readme);
    const slug = (text) => text.toLowerCase().replace(/[^a-z0-9_ -]/g, "").replace(/ /g, "-");
    return `---
layout: page
sidebar: false
title: reef
titleTemplate: an entity component system in C11
---

<main class="home vp-doc">
<div class="hero">
<div class="hero-text">

# reef

<p class="hero-sentence">${sentence[0].toUpperCase() + sentence.slice(1)}</p>

<p class="hero-links"><a class="button first" href="./start/first-hour.html">The first hour</a><a class="button" href="./topics.html">What you may want to do</a><a class="button" href="./playground.html">Write and run it here</a></p>

</div>
<div class="hero-program">

<div>

${program}

<RunLink to="${packed(source)}" />

</div>

<div class="output" data-title="Output">

\`\`\`txt
${output}
\`\`\`

</div>

</div>
</div>

## Where to go

<div class="topic-cards">
${topics.filter(([, count]) => count).map(([text, count]) => `<a href="./topics.html#${slug(text)}"><strong>${text.replace("What doesn't exist yet", "What isn’t there yet")}</strong><span>${count} ${count === 1 ? "topic" : "topics"}</span></a>`).join("\n")}
</div>

## A world is a value

Fork a running world, play both sides, compare them, go back in time. The inspector does it in a page beside your program, and
[Dive](./gallery/dive.md) is a game made of it.

<div class="pictures">

${late(site, "dive-futures.jpg", "Dive: two futures of one moment, side by side")}
${late(site, "inspector-whatif.png", "The inspector plays two forks of a world, and shows where they differ")}

</div>

## Figures

${site.converted(figures[1] + "\n\n" + figures[2], "README.md", "index.md")}

## Beside others

${site.converted(why[1] + "\n" + why[2], "README.md", "index.md")}

</main>
`;
}

// The game, which is built by ./play --web and not here.
export function dive_page(site, plays) {
    const picture = (name) => site.link("", "gallery/dive.md", `docs/pictures/${name}`);
    return `---
description: A game in which time runs backward
prev: false
next: false
---

# Dive

A game with 10,000 creatures, in which time runs backward: the player turns ten seconds back, swims beside the ghost of the last attempt, and sees
two futures played side by side. [The page about it](../start/a-game.md) walks through its source.
${plays ? '\n<GameBox src="/dive/index.html" about="Dive, a game" />\n\nThe arrow keys or WASD swim, the space bar dashes, E sends a pulse, R turns time back, P shows two futures.\n' : ""}
![A swarm in the light of the lamp](${picture("dive-swarm.jpg")})

![Two futures of the same moment, side by side](${picture("dive-futures.jpg")})

\`./play\` opens it in a window; \`./play --web\` builds its page and serves it.
`;
}

export const playground_page = `---
layout: page
sidebar: false
title: Playground
description: Write C with reef, and run it in this page
search: false
---

<main>

<h1 class="playground-title">Playground</h1>

<Playground />

<p class="playground-about">The program is compiled in this page by clang and lld, as WebAssembly with the checked build of reef, and runs in a worker that reaches neither
the network nor what the browser stores. With <code>reef_page_run</code> it ticks and draws, and can be rewound and forked: <a href="./manual/playground.html">what a program may do here</a>. New to
reef? <a href="./start/first-hour.html">The first hour</a>, and <a href="./start/cheatsheet.html">the everyday calls on a page</a>, <a href="./start/coming-from-flecs.html">coming from flecs</a>.</p>

</main>
`;
