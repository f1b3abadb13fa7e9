// How programs of the page are compiled and linked: by the site's build, and by the page itself.

// NULL is a valid address in WebAssembly, so clang checks pointers and indices; a trap ends the program.
export const compile_arguments = ["-std=c11", "-O1", "-ffp-contract=off", "-DREEF_NO_THREADS", "-DREEF_CHECKED", "-DREEF_IN_A_PAGE", "-Wall", "-Wextra", "-fsanitize=null,bounds",
    "-fsanitize-trap=null,bounds", "-fno-caret-diagnostics", "-fdiagnostics-color=never"];

const for_the_page = ["play", "shapes", "ticks", "back", "fork", "join", "differences", "print", "schedule", "alive", "hash"].map((name) => "--export=reef_page_" + name);

// The stack is at the lowest addresses, so that a program that overflows it ends. Memory has an end, too.
export function link_arguments(source) {
    const base = ["-z", "stack-size=1048576", "--stack-first", "--strip-all", "--max-memory=268435456"];
    return source.includes("reef_page.h") ? [...base, ...for_the_page, "--export=malloc", "--export=free", "--export=fflush", "--import-undefined"] : base;
}

// What a program may import, and nothing else.
export const page_imports = ["reef_page_take_over", "reef_page_show", "reef_page_slid"];
