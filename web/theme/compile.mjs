// One program: by clang's inner compiler and the linker, without the driver (programs.mjs). Used by the page's worker, and by tests in node.
import { begins_with_reef, ticks } from "./flags.mjs";

// What the compiler finds: the headers as they are and compiled beforehand, and what is linked.
export function files_of({ headers, reef, reef_page, inside, precompiled }) {
    const include = { "reef.h": headers["reef.h"], "reef_page.h": headers["reef_page.h"], reef: Object.fromEntries(headers.reef.map((name) => [name, "#include <reef.h>\n"])) };
    return { include, "reef.o": reef, "reef_page.o": reef_page, "inside.o": inside, "reef.pch": precompiled, "all.h": "#include <reef.h>\n" };
}

// `program`: its bytes, or null; `text`: what clang and the linker say.
export async function compile_program(clang, plan, files, source) {
    const said = [], hear = (bytes) => { if (bytes) said.push(bytes.slice()); };
    const options = { stdout: hear, stderr: hear, fetchProgress: () => {} };
    const header = begins_with_reef(source) ? ["-include-pch", "reef.pch", "-fno-validate-pch"] : [], [clang_name, cc1, ...rest] = plan.compile;
    let program = null;
    try {
        const compiled = await clang.runLLVM([clang_name, cc1, ...header, ...rest], { ...files, "main.c": source }, options);
        program = (await clang.runLLVM(ticks(source) ? plan.link_ticks : plan.link, { ...files, "main.o": compiled["main.o"] }, options))["main.wasm"];
    } catch (error) {
        if (!(error instanceof clang.Exit)) throw error;
    }
    return { program, text: await new Blob(said).text() };
}
