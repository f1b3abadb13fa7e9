// How programs of the page are compiled and linked: by the site's build, and by the page itself.

// NULL is a valid address in WebAssembly, so clang checks pointers and indices; a trap ends the program. Without optimization clang takes two thirds of the time, also the
// first time, and the examples' ticks are as fast within a tenth: reef's own code, which is optimized, has most of their time (2026-11-30).
export const compile_arguments = ["-std=c11", "-O0", "-ffp-contract=off", "-DREEF_NO_THREADS", "-DREEF_CHECKED", "-DREEF_IN_A_PAGE", "-Wall", "-Wextra", "-fsanitize=null,bounds",
    "-fsanitize-trap=null,bounds", "-fno-caret-diagnostics", "-fdiagnostics-color=never"];

// Programs that tick are linked with what looks inside of them (web/inside.c); the others needn't be.
export const ticks = (source) => /\breef_tick(_once)?\b|\breef_page\.h\b/.test(source);

const for_the_page = ["play", "shapes", "ticks", "back", "fork", "join", "differences", "alive", "hash", "ask", "answer", "answer_size", "may_play", "is_seen"].map((name) => "--export=reef_page_" + name);

// The stack is at the lowest addresses, so that a program that overflows it ends. Memory has an end, too.
export function link_arguments(source) {
    const base = ["-z", "stack-size=1048576", "--stack-first", "--strip-all", "--max-memory=268435456"];
    const wrapped = ["reef_tick", "reef_tick_once", "reef_world_free"].map((name) => "--wrap=" + name);
    return ticks(source) ? [...base, ...wrapped, ...for_the_page, "--export=malloc", "--export=free", "--export=fflush", "--import-undefined"] : base;
}

// The objects that are linked with a program.
export const objects_of = (source) => (ticks(source) ? ["reef.o", "reef_page.o", "inside.o"] : ["reef.o"]);

// What the page's headers were compiled to beforehand stands for the first thing that a program includes, unless it says something before that.
export const begins_with_reef = (source) => /^(\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*#\s*include\s*[<"](reef|reef_page|reef\/[\w]+)\.h[>"]/.test(source);

// What a program may import, and nothing else.
export const page_imports = ["reef_page_take_over", "reef_page_show", "reef_page_slid", "reef_page_ticked"];
