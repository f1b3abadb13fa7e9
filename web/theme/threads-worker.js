// Runs an example that emscripten compiled with threads (web/threads.mjs), in a worker: run.js?NAME. It says what run-worker.mjs says.
const name = location.search.slice(1), say = (error) => (text) => postMessage({ output: [{ text: text + "\n", error }] });
if (!/^\w+$/.test(name)) throw new Error("no such example");
var Module = {
    print: say(false), printErr: say(true), mainScriptUrlOrBlob: name + ".js",
    onExit: (code) => postMessage({ finished: code }), onAbort: (why) => postMessage({ crashed: "the program was stopped: " + why }),
};
importScripts(name + ".js");
