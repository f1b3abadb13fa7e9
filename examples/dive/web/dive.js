// The page of the game. The core (dive_core.js) is the same C as in the window; this file reads keys, draws the array of
// sprites that the core leaves in its memory with WebGL 2, and plays its sounds.
"use strict";

const CONTROLS = { hold: 1, dash: 2, pulse: 4, rewind: 8, up: 16, down: 32, left: 64, right: 128, confirm: 256, pause: 512, photo: 1024,
  point: 2048 };
const KEYS = {
  KeyW: CONTROLS.up, ArrowUp: CONTROLS.up, KeyS: CONTROLS.down, ArrowDown: CONTROLS.down,
  KeyA: CONTROLS.left, ArrowLeft: CONTROLS.left, KeyD: CONTROLS.right, ArrowRight: CONTROLS.right,
  Space: CONTROLS.dash | CONTROLS.confirm, Enter: CONTROLS.confirm, KeyE: CONTROLS.pulse,
  ShiftLeft: CONTROLS.hold, ShiftRight: CONTROLS.hold, KeyR: CONTROLS.rewind, Backspace: CONTROLS.rewind,
  KeyP: CONTROLS.photo, Escape: CONTROLS.pause,
};

// ---- drawing ----

function compile(gl, core, vertex, fragment) {
  const text = (number) => core.UTF8ToString(core._dive_shader(number));
  const head = "#version 300 es\nprecision highp float;\nprecision highp int;\n" + text(0);
  const program = gl.createProgram();
  for (const [kind, number] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, head + text(number));
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const at = {};
  for (const name of ["camera", "lamp", "cone", "mood", "bell", "lights", "tints"]) at[name] = gl.getUniformLocation(program, name);
  return { program, at };
}

class Painter {
  constructor(canvas, core) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.canvas = canvas;
    this.core = core;
    this.gl = gl;
    this.floor = compile(gl, core, 1, 2);
    this.sprite = compile(gl, core, 3, 4);
    this.buffer = gl.createBuffer();
    this.empty = gl.createVertexArray();
    this.array = gl.createVertexArray();
    const side = core._dive_noise_side(), noise = core._dive_noise();
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, side, side, 0, gl.RGBA, gl.UNSIGNED_BYTE, core.HEAPU8.subarray(noise, noise + side * side * 4));
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.enable(gl.BLEND);
    gl.enable(gl.SCISSOR_TEST);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  use(shader, p) { // p: the words of a pass (sprite.h), as floats
    const gl = this.gl, places = new Float32Array(32), tints = new Float32Array(32);
    gl.useProgram(shader.program);
    gl.uniform4f(shader.at.camera, p[7], p[8], 1 / p[9], 1 / p[10]);
    gl.uniform4f(shader.at.lamp, p[11], p[12], p[13], p[14]);
    gl.uniform4f(shader.at.cone, p[15], p[16], this.isSea ? 1 : 0, p[21]);
    gl.uniform4f(shader.at.mood, p[19], p[20], p[22], 0);
    gl.uniform2f(shader.at.bell, p[17], p[18]);
    for (let i = 0; i < 8; i++) {
      places.set(p.subarray(23 + i * 8, 27 + i * 8), i * 4);
      tints.set(p.subarray(27 + i * 8, 30 + i * 8), i * 4);
    }
    gl.uniform4fv(shader.at.lights, places);
    gl.uniform4fv(shader.at.tints, tints);
  }

  attributes(first) {
    const gl = this.gl, at = first * 32;
    for (const [number, count, kind, fraction, offset] of [[0, 4, gl.FLOAT, false, 0], [1, 2, gl.FLOAT, false, 16],
      [2, 4, gl.UNSIGNED_BYTE, true, 24], [3, 4, gl.UNSIGNED_BYTE, false, 28]]) {
      gl.enableVertexAttribArray(number);
      gl.vertexAttribPointer(number, count, kind, fraction, 32, at + offset);
      gl.vertexAttribDivisor(number, 1);
    }
  }

  draw() {
    const gl = this.gl, core = this.core, wide = this.canvas.width, high = this.canvas.height;
    const sprites = core._dive_sprites(), words = core._dive_pass_words();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, core.HEAPU8.subarray(sprites, sprites + core._dive_sprite_count() * 32), gl.STREAM_DRAW);
    for (let i = 0; i < core._dive_pass_count(); i++) {
      const from = core._dive_passes() / 4 + i * words;
      const p = core.HEAPF32.subarray(from, from + words), [first, count, sea] = core.HEAPU32.subarray(from, from + 3);
      const box = [Math.floor(p[3] * wide), Math.floor((1 - p[4] - p[6]) * high), Math.floor(p[5] * wide), Math.floor(p[6] * high)];
      gl.viewport(...box);
      gl.scissor(...box);
      this.isSea = sea !== 0;
      if (this.isSea) {
        gl.bindVertexArray(this.empty);
        this.use(this.floor, p);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      }
      if (count === 0) continue;
      gl.bindVertexArray(this.array);
      this.attributes(first);
      this.use(this.sprite, p);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    }
  }
}

// ---- sounds: browsers allow them after the first key ----

class Speaker {
  constructor(core) {
    this.core = core;
    this.context = null;
  }

  open() {
    if (this.context) return;
    const core = this.core;
    this.context = new AudioContext();
    this.loud = this.context.createGain();
    this.loud.gain.value = 0.5;
    this.loud.connect(this.context.destination);
    this.buffers = [];
    for (let i = 0; i < core._dive_sound_kinds(); i++) {
      const length = core._dive_sound_length(i);
      if (length === 0) continue;
      const samples = core._dive_sound_make(i) / 4;
      this.buffers[i] = this.context.createBuffer(1, length, 44100);
      this.buffers[i].copyToChannel(core.HEAPF32.slice(samples, samples + length), 0);
    }
    this.start(core._dive_sound_hum(), 0.5, 0, true);
  }

  start(what, volume, pan, repeats) {
    if (!this.buffers[what]) return;
    const source = this.context.createBufferSource(), gain = this.context.createGain(), side = this.context.createStereoPanner();
    source.buffer = this.buffers[what];
    source.loop = repeats;
    gain.gain.value = volume;
    side.pan.value = pan;
    source.connect(gain).connect(side).connect(this.loud);
    source.start();
  }

  play() {
    if (!this.context) return;
    const from = this.core._dive_sounds() / 4;
    for (let i = 0; i < this.core._dive_sound_count(); i++)
      this.start(this.core.HEAPU32[from + i * 3], this.core.HEAPF32[from + i * 3 + 1], this.core.HEAPF32[from + i * 3 + 2], false);
  }
}

// ---- keys, pointer, touch, game pads ----

class Hands {
  constructor(canvas, speaker) {
    this.held = 0;
    this.pressed = 0;
    this.pointer = { x: 0, y: 0 }; // where on the screen a mouse or a finger was last
    this.aims = false;   // the lamp follows the pointer: a mouse has moved
    this.stick = null;   // a finger that swims: {id, x, y, dx, dy}
    this.pads = 0;
    this.byTouch = matchMedia("(pointer: coarse)").matches; // or a finger has touched the sea
    addEventListener("keydown", (e) => {
      speaker.open();
      const control = KEYS[e.code];
      if (!control) return;
      e.preventDefault();
      if (!e.repeat) this.press(control, true);
    });
    addEventListener("keyup", (e) => this.press(KEYS[e.code] || 0, false));
    addEventListener("blur", () => { this.held = 0; });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("pointermove", (e) => {
      if (e.pointerType === "touch") return this.swim(e);
      this.point(e);
      this.aims = true;
    });
    canvas.addEventListener("pointerdown", (e) => {
      speaker.open();
      canvas.focus();
      this.point(e);
      if (e.pointerType !== "touch") return this.press(e.button === 0 ? CONTROLS.dash | CONTROLS.point : CONTROLS.pulse, true);
      this.byTouch = true;
      this.aims = false;
      this.stick = { id: e.pointerId, x: e.clientX, y: e.clientY, dx: 0, dy: 0 };
      this.press(CONTROLS.point, true);
    });
    const up = (e) => {
      if (e.pointerType !== "touch") return this.press(e.button === 0 ? CONTROLS.dash | CONTROLS.point : CONTROLS.pulse, false);
      if (this.stick && this.stick.id === e.pointerId) this.stick = null;
      this.press(CONTROLS.point, false);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    for (const button of document.querySelectorAll(".touch")) {
      button.addEventListener("pointerdown", (e) => { e.preventDefault(); this.press(CONTROLS[button.dataset.control], true); });
      button.addEventListener("pointerup", () => this.press(CONTROLS[button.dataset.control], false));
    }
  }

  press(control, down) {
    if (down) this.pressed |= control, this.held |= control;
    else this.held &= ~control;
  }

  point(e) {
    this.pointer.x = e.clientX / innerWidth;
    this.pointer.y = e.clientY / innerHeight;
  }

  swim(e) {
    if (!this.stick || this.stick.id !== e.pointerId) return;
    const full = Math.min(innerWidth, innerHeight) * 0.12;
    this.stick.dx = Math.max(-1, Math.min(1, (e.clientX - this.stick.x) / full));
    this.stick.dy = Math.max(-1, Math.min(1, (e.clientY - this.stick.y) / full));
  }

  // Writes where to, and returns {held, pressed, aims}.
  read(way) {
    const axis = (more, less) => ((this.held & more) !== 0 ? 1 : 0) - ((this.held & less) !== 0 ? 1 : 0);
    way.fill(0);
    way[0] = axis(CONTROLS.right, CONTROLS.left);
    way[1] = axis(CONTROLS.down, CONTROLS.up);
    if (this.stick) way[0] = this.stick.dx, way[1] = this.stick.dy;
    const pad = [...(navigator.getGamepads ? navigator.getGamepads() : [])].find((p) => p && p.connected);
    if (pad) {
      const dead = (x) => (Math.abs(x) > 0.2 ? x : 0);
      if (dead(pad.axes[0]) || dead(pad.axes[1])) way[0] = pad.axes[0], way[1] = pad.axes[1], this.aims = false;
      way[2] = dead(pad.axes[2]), way[3] = dead(pad.axes[3]);
      const meanings = [CONTROLS.dash | CONTROLS.confirm, CONTROLS.rewind, CONTROLS.pulse, 0, CONTROLS.rewind, CONTROLS.hold, CONTROLS.rewind, 0,
        CONTROLS.photo, CONTROLS.pause, 0, 0, CONTROLS.up, CONTROLS.down, CONTROLS.left, CONTROLS.right];
      const down = pad.buttons.reduce((all, b, i) => (b.pressed ? all | (meanings[i] || 0) : all), 0);
      this.pressed |= down & ~this.pads;
      this.held = (this.held & ~(this.pads & ~down)) | down;
      this.pads = down;
    }
    way[4] = this.pointer.x, way[5] = this.pointer.y;
    const read = { held: this.held, pressed: this.pressed, aims: this.aims, byTouch: this.byTouch };
    this.pressed = 0;
    return read;
  }
}

// ---- files: the core keeps the dive and the scores in /dive, and the browser keeps that ----

const FILES = ["dive.reef", "inputs", "scores"];

function bringFiles(core) {
  core.FS.mkdir("/dive");
  for (const name of FILES) {
    const text = localStorage.getItem("dive/" + name);
    if (text) core.FS.writeFile("/dive/" + name, Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  }
}

function keepFiles(core) {
  for (const name of FILES) {
    try {
      let text = "";
      const bytes = core.FS.readFile("/dive/" + name);
      for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
      localStorage.setItem("dive/" + name, btoa(text));
    } catch { /* there is no such file yet, or no room: then this dive can't be gone on with */ }
  }
}

// ---- the buttons for fingers: there while she dives, and those that rest say for how long ----

function showButtons(core) {
  const dives = core._dive_screen() === 1;
  for (const button of document.querySelectorAll(".touch")) {
    const rests = ["dash", "pulse"].indexOf(button.dataset.control);
    button.style.display = dives || (core._dive_screen() === 3 && button.dataset.control === "photo") ? "block" : "none";
    if (rests >= 0) button.style.setProperty("--ready", core._dive_ready(rests));
  }
}

// ---- all together ----

async function main() {
  const canvas = document.getElementById("sea"), core = await DiveCore();
  const asked = new URLSearchParams(location.search);
  try { bringFiles(core); } catch { /* no localStorage */ }
  if (!core._dive_begin(Number(asked.get("seed")) || (Date.now() & 0x7fffffff))) throw new Error("out of memory");
  const painter = new Painter(canvas, core), speaker = new Speaker(core), hands = new Hands(canvas, speaker);
  const way = core._dive_way() / 4, times = { core: [], draw: [], frame: [] };
  const note = (list, ms) => { list.push(ms); if (list.length > 600) list.shift(); };
  document.getElementById("message").remove();
  canvas.focus();
  let last = performance.now(), kept = last;
  let fine = 1, slow = 0; // a slow graphics card draws fewer pixels
  const frame = (now) => {
    slow = now - last > 30 ? slow + 1 : Math.max(0, slow - 0.25);
    if (slow > 20 && fine > 0.6) fine *= 0.75, slow = 0;
    const scale = Math.min(devicePixelRatio || 1, 2) * fine;
    const wide = Math.round(canvas.clientWidth * scale), high = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== wide || canvas.height !== high) canvas.width = wide, canvas.height = high;
    const read = hands.read(core.HEAPF32.subarray(way, way + 6)), begin = performance.now();
    if (!core._dive_frame(Math.max(0, (now - last) / 1000), wide / high, read.held, read.pressed, read.aims, read.byTouch, way * 4)) throw new Error("out of memory");
    if (read.byTouch) showButtons(core);
    const played = performance.now();
    painter.draw();
    speaker.play();
    note(times.core, played - begin), note(times.draw, performance.now() - played), note(times.frame, now - last);
    last = now;
    if (now - kept > 3000) keepFiles(core), kept = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.dive = { core, times, fine: () => fine }; // for tests
}

main().catch((e) => {
  const message = document.getElementById("message") || document.body.appendChild(Object.assign(document.createElement("div"), { id: "message" }));
  message.textContent = "Dive can't begin: " + e.message;
  throw e;
});
