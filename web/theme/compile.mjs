// One program: by clang's inner compiler and the linker, without the driver (programs.mjs). Used by the page's worker, and by tests in node.
import { begins_with_reef, ticks } from "./flags.mjs";

// What the compiler finds: the headers as they are and compiled beforehand, and what is linked. All of it is bytes, so that nothing is converted in each run.
export function files_of({ headers, reef, reef_page, inside, precompiled }) {
    const bytes = (text) => new TextEncoder().encode(text), all = bytes("#include <reef.h>\n");
    const include = { "reef.h": bytes(headers["reef.h"]), "reef_page.h": bytes(headers["reef_page.h"]), reef: Object.fromEntries(headers.reef.map((name) => [name, all])) };
    return { include, "reef.o": reef, "reef_page.o": reef_page, "inside.o": inside, "reef.pch": precompiled, "all.h": all };
}

function joined(parts) {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { whole.set(part, at); at += part.length; }
    return whole;
}

// `program`: its bytes, or null; `text`: what clang and the linker say. Both write to their standard output ("-"): a file of the package takes pieces of 4 KiB and is
// copied as a whole for each, which was half of the time of a run.
export async function compile_program(clang, plan, files, source) {
    const said = [], collect = (to) => (bytes) => { if (bytes) to.push(bytes.slice()); };
    const output = async (words, given) => {
        const written = [];
        await clang.runLLVM(words.map((word, i) => (words[i - 1] === "-o" ? "-" : word)), given, { stdout: collect(written), stderr: collect(said), fetchProgress: () => {}, decodeASCII: false });
        return joined(written);
    };
    const header = begins_with_reef(source) ? ["-include-pch", "reef.pch", "-fno-validate-pch"] : [], [clang_name, cc1, ...rest] = plan.compile;
    let program = null;
    try {
        const object = await output([clang_name, cc1, ...header, ...rest], { ...files, "main.c": source });
        program = await output(ticks(source) ? plan.link_ticks : plan.link, { ...files, "main.o": object });
    } catch (error) {
        if (!(error instanceof clang.Exit)) throw error;
    }
    return { program, text: new TextDecoder().decode(joined(said)) };
}

// The messages of clang: [{line, column, severity, text, word: what isn't declared}], lines from 1; 0 where it names none. What says nothing about the program is left out: how reef's macros are expanded,
// what was said before, and what else clang says of a line after a component that isn't declared.
const of_a_macro = /^expanded from |^'reef_\w+_by_REEF_COMPONENT_/;
const not_declared = /^use of undeclared identifier 'reef_\w+_by_REEF_COMPONENT_(\w+)'.*$/;
export function messages_of(text) {
    const found = [], said = new Set();
    let line_not_declared = 0, left_out = false; // a note is left out with the message that it belongs to
    for (const line of text.split("\n")) {
        const message = /^(?:([^:\s]+):(\d+):(\d+): )?(?:[\w-]+: )?(fatal error|error|warning|note): (.*)$/.exec(line);
        if (!message) continue;
        const here = message[1] === "main.c", at = here ? Number(message[2]) : 0;
        if (message[4] === "note") {
            if (left_out || of_a_macro.test(message[5])) continue;
        } else {
            left_out = at > 0 && at === line_not_declared || said.has(line);
            if (left_out) continue;
            said.add(line);
        }
        const word = not_declared.exec(message[5])?.[1];
        if (word) line_not_declared = at;
        message[5] = message[5].replace(not_declared, "'$1' isn't declared as a component: REEF_COMPONENT($1) or REEF_TAG($1) has to stand before this");
        found.push({ line: at, column: here ? Number(message[3]) : 0, severity: message[4].replace("fatal ", ""), word, text: (message[1] && !here ? message[1] + ":" + message[2] + ": " : "") + message[5] });
    }
    return found;
}
