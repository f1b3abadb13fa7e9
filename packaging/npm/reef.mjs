// reef for JavaScript: every exported function of C under its own name, and what a language without C's memory needs beside them.
//
//   handles      reef_entity, reef_query, reef_system_id ... are BigInts; reef_component is a number; pointers are numbers
//   texts        strings in and out
//   descriptions an object where C reads a struct by pointer: {text: "Position"} for a const reef_query_desc *
//   functions    a function of JavaScript where reef calls back
//   blocks       Block: the rows of a loop or system, whose components are typed arrays over reef's own memory
//
// Nothing is copied between the rows and JavaScript, and nothing is hidden: a call here is the call of C. What C says of lifetimes holds.
// interface.mjs, which is made of reef's headers, has the functions, structs, callbacks and constants.
import { callbacks, constants, functions, structs, version } from "./interface.mjs";

export { version };

// ---- loading ----

const NO_SYSTEM = 52; // ENOSYS of WASI: there are no files; reef answers with its status for that

/** What reef asks of the system: time, and two streams to print to. All else answers that it isn't there. */
function system(of) {
    const lines = ["", "", ""];
    const decoder = new TextDecoder();
    const fd_write = (file, vectors, count, written) => {
        if (file !== 1 && file !== 2) return NO_SYSTEM;
        const view = new DataView(of().memory.buffer);
        let bytes = 0;
        for (let i = 0; i < count; i++) {
            const at = view.getUint32(vectors + 8 * i, true), length = view.getUint32(vectors + 8 * i + 4, true);
            lines[file] += decoder.decode(new Uint8Array(view.buffer, at, length), { stream: true });
            bytes += length;
        }
        const whole = lines[file].split("\n");
        lines[file] = whole.pop();
        for (const line of whole) (file === 1 ? console.log : console.error)(line);
        view.setUint32(written, bytes, true);
        return 0;
    };
    const known = {
        fd_write,
        reef_javascript_now: () => Date.now(),
        clock_time_get: (clock, precision, at) => {
            const ns = clock === 0 ? Date.now() * 1e6 : performance.now() * 1e6;
            new DataView(of().memory.buffer).setBigUint64(at, BigInt(Math.floor(ns)), true);
            return 0;
        },
        emscripten_notify_memory_growth: () => {},
        proc_exit: (status) => {
            throw new Error("reef ended the program: " + status);
        },
    };
    return (module, name) => known[name] ?? (() => (module === "env" ? -NO_SYSTEM : NO_SYSTEM));
}

async function compiled(source) {
    if (source instanceof WebAssembly.Module) return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
    const url = source === undefined ? new URL("reef.wasm", import.meta.url) : new URL(source, globalThis.location?.href ?? import.meta.url);
    if (url.protocol === "file:") {
        const { readFile } = await import("node:fs/promises");
        return WebAssembly.compile(await readFile(url));
    }
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`reef: ${url} can't be fetched: ${answer.status} ${answer.statusText}`);
    return WebAssembly.compile(await answer.arrayBuffer()); // not compileStreaming, so that the server needn't know the type of .wasm
}

/** Makes an instance of reef, with types and worlds of its own. `source`: the address or bytes of reef.wasm; nothing: beside this file. */
export async function load(source) {
    const module = await compiled(source);
    let exports;
    const provide = system(() => exports);
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = provide(from, name);
    exports = (await WebAssembly.instantiate(module, imports)).exports;
    exports._initialize?.();
    return new Reef(exports);
}

// ---- numbers in memory ----

const NUMBERS = {
    bool: [1, Uint8Array], i8: [1, Int8Array], u8: [1, Uint8Array], i16: [2, Int16Array], u16: [2, Uint16Array],
    i32: [4, Int32Array], u32: [4, Uint32Array], i64: [8, BigInt64Array], u64: [8, BigUint64Array],
    f32: [4, Float32Array], f64: [8, Float64Array],
};
const KINDS = { // of fields: reef_kind, and the array of their values
    bool: ["REEF_BOOL", "bool"], i8: ["REEF_I8", "i8"], u8: ["REEF_U8", "u8"], i16: ["REEF_I16", "i16"], u16: ["REEF_U16", "u16"],
    i32: ["REEF_I32", "i32"], u32: ["REEF_U32", "u32"], i64: ["REEF_I64", "i64"], u64: ["REEF_U64", "u64"],
    f32: ["REEF_F32", "f32"], f64: ["REEF_F64", "f64"], char: ["REEF_CHAR", "u8"], entity: ["REEF_ENTITY", "u64"],
};
const STACK_MOST = 16384; // larger arguments get memory of their own for the call

const encoder = new TextEncoder(), decoder = new TextDecoder();

/** The word of WebAssembly for a word of interface.mjs: how a value is passed. */
function passed(word) {
    const [kind, name] = word.split(" ");
    if (kind === "struct") return structs[name].kind === "single" ? passed(structs[name].fields[0][1]) : "i32";
    if (kind === "u64") return "i64";
    return kind in { i64: 1, f32: 1, f64: 1 } ? kind : "i32";
}

/** A module whose only function is an imported one: so a function of JavaScript gets a type, and a place in the table. */
function typedFunction(result, parameters, call) {
    const code = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c };
    const type = [0x60, parameters.length, ...parameters.map((p) => code[p]), ...(result ? [1, code[result]] : [0])];
    const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, type.length + 1, 1, ...type, 2, 7, 1, 1, 0x65, 1, 0x66, 0, 0, 7, 5, 1, 1, 0x66, 0, 0];
    return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), { e: { f: call } }).exports.f;
}

// ---- an instance ----

export class Reef {
    #exports;
    #view;
    #mark = []; // memory of arguments that was too much for the stack
    #types = new Map(); // by id of the component
    #free = []; // places in the table
    #failure = null; // what a callback has thrown

    constructor(exports) {
        this.#exports = exports;
        Object.assign(this, constants);
        for (const [name, [result, ...parameters]] of Object.entries(functions)) this[name] = this.#function(name, result, parameters);
    }

    // ---- memory ----

    /** reef's memory. When it grows, the buffer is another one, and earlier arrays are empty: take them anew after calls that may allocate. */
    get buffer() {
        return this.#exports.memory.buffer;
    }
    #data() {
        if (this.#view?.buffer !== this.buffer) this.#view = new DataView(this.buffer);
        return this.#view;
    }
    /** `count` numbers at an address, without a copy: view(Float32Array, pointer, 3). null for NULL. */
    view(array, pointer, count) {
        return pointer ? new array(this.buffer, pointer, count) : null;
    }
    /** Memory of your own; `release` frees it. */
    allocate(bytes) {
        const pointer = this.#exports.malloc(bytes) >>> 0;
        if (!pointer) throw new RangeError(`reef: no memory for ${bytes} bytes`);
        new Uint8Array(this.buffer, pointer, bytes).fill(0);
        return pointer;
    }
    release(pointer) {
        this.#exports.free(pointer);
    }
    /** The text at an address. */
    string(pointer) {
        if (!pointer) return null;
        const bytes = new Uint8Array(this.buffer);
        return decoder.decode(bytes.slice(pointer, bytes.indexOf(0, pointer)));
    }
    /** The struct of a type at an address, as an object. */
    read(struct, pointer) {
        const { kind, fields, size } = structs[struct];
        const view = this.#data();
        if (kind === "single") return this.#load(fields[0][1], pointer);
        if (kind === "handle") {
            let handle = 0n;
            for (let at = size - 4; at >= 0; at -= 4) handle = (handle << 32n) | BigInt(view.getUint32(pointer + at, true));
            return handle;
        }
        const object = {};
        for (const [name, word, offset, count] of fields) {
            if (word === "chars") {
                const bytes = new Uint8Array(this.buffer, pointer + offset, count), end = bytes.indexOf(0);
                object[name] = decoder.decode(bytes.slice(0, end < 0 ? count : end));
            } else if (count) object[name] = Array.from({ length: count }, (_, i) => this.#load(word, pointer + offset + i * this.#size(word)));
            else object[name] = this.#load(word, pointer + offset);
        }
        return object;
    }
    /** Writes an object (or a handle) as a struct; members that aren't given are 0. Texts and what it points to must be addresses. */
    write(struct, pointer, value) {
        this.#write(struct, pointer, value, () => {
            throw new TypeError(`reef: a ${struct} that stays in memory takes addresses`);
        });
    }

    #size(word) {
        const [kind, name] = word.split(" ");
        return kind === "struct" ? structs[name].size : (NUMBERS[kind]?.[0] ?? 4);
    }
    #load(word, at) {
        const [kind, name] = word.split(" ");
        const view = this.#data();
        switch (kind) {
        case "bool": return view.getUint8(at) !== 0;
        case "i8": return view.getInt8(at);
        case "u8": return view.getUint8(at);
        case "i16": return view.getInt16(at, true);
        case "u16": return view.getUint16(at, true);
        case "i32": return view.getInt32(at, true);
        case "i64": return view.getBigInt64(at, true);
        case "u64": return view.getBigUint64(at, true);
        case "f32": return view.getFloat32(at, true);
        case "f64": return view.getFloat64(at, true);
        case "text": return this.string(view.getUint32(at, true));
        case "struct": return this.read(name, at);
        case "block": return this.#block(view.getUint32(at, true));
        default: return view.getUint32(at, true);
        }
    }
    #write(struct, pointer, value, point) {
        const { kind, fields, size } = structs[struct];
        if (kind === "single") return this.#store(fields[0][1], pointer, value, point);
        if (kind === "handle") {
            let rest = BigInt(value ?? 0);
            for (let at = 0; at < size; at += 4, rest >>= 32n) this.#data().setUint32(pointer + at, Number(rest & 0xffffffffn), true);
            return;
        }
        new Uint8Array(this.buffer, pointer, size).fill(0);
        const left = new Set(Object.keys(value ?? {}));
        for (const [name, word, offset, count] of fields) {
            if (!left.delete(name)) continue;
            const member = value[name];
            if (word === "chars") {
                const bytes = encoder.encode(member);
                if (bytes.length > count) throw new RangeError(`reef: ${struct}.${name} holds ${count} bytes`);
                new Uint8Array(this.buffer, pointer + offset, count).set(bytes);
            } else if (count) {
                if (member.length > count) throw new RangeError(`reef: ${struct}.${name} holds ${count} values`);
                member.forEach((one, i) => this.#store(word, pointer + offset + i * this.#size(word), one, point));
            } else this.#store(word, pointer + offset, member, point);
        }
        if (left.size) throw new TypeError(`reef: ${struct} has no ${[...left].join(", ")}`);
    }
    #store(word, at, value, point) {
        const [kind, name] = word.split(" ");
        if (kind === "struct") return this.#write(name, at, value, point);
        const given = passed(word) === "i32" && typeof value !== "number" && typeof value !== "boolean" ? this.#pointer(word, value, point) : value;
        const view = this.#data(); // after #pointer, which may take memory
        switch (kind) {
        case "bool": case "i8": case "u8": return view.setUint8(at, Number(given));
        case "i16": case "u16": return view.setUint16(at, given, true);
        case "i64": case "u64": return view.setBigUint64(at, BigInt.asUintN(64, BigInt(given)), true);
        case "f32": return view.setFloat32(at, given, true);
        case "f64": return view.setFloat64(at, given, true);
        default: return view.setUint32(at, given, true);
        }
    }

    // ---- calls ----

    /** Memory for the running call. */
    #scratch(bytes) {
        if (bytes <= STACK_MOST) return this.#exports.stackAlloc((bytes + 15) & ~15) >>> 0;
        const pointer = this.allocate(bytes);
        this.#mark.push(pointer);
        return pointer;
    }
    /** Bytes with a zero behind them, which ends a text. */
    #bytes(bytes, point) {
        const pointer = point(bytes.length + 1);
        const to = new Uint8Array(this.buffer, pointer, bytes.length + 1);
        to.set(bytes);
        to[bytes.length] = 0;
        return pointer;
    }
    /** An address for what stands where C has a pointer: a text, bytes, an object, a list, a block, a function. */
    #pointer(word, value, point = (bytes) => this.#scratch(bytes)) {
        const [kind, name] = word.split(" ");
        if (value === null || value === undefined) return 0;
        if (typeof value === "number") return value;
        if (typeof value === "boolean") return Number(value);
        if (value instanceof Block) return value.pointer;
        if (kind === "callback" && typeof value === "function") return this.callback(name, value);
        if (kind === "text" && typeof value === "string") return this.#bytes(encoder.encode(value), point);
        if (kind === "pointer") {
            if (ArrayBuffer.isView(value)) return this.#bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), point);
            if (name) {
                const list = Array.isArray(value) ? value : [value], { size } = structs[name];
                const pointer = point(Math.max(size * list.length, 1));
                list.forEach((one, i) => this.#write(name, pointer + i * size, one, point));
                return pointer;
            }
        }
        throw new TypeError(`reef: ${typeof value} where ${word} is wanted`);
    }
    /** How an argument is given: a function for each word, so that calls needn't look at it. */
    #taker(word) {
        const [kind, name] = word.split(" ");
        if (kind === "i64" || kind === "u64") return (value) => BigInt(value ?? 0);
        if (kind !== "struct") return passed(word) === "i32" ? (value) => (typeof value === "number" ? value : this.#pointer(word, value)) : Number;
        const { kind: form, size } = structs[name];
        if (form === "single") return (value) => value ?? 0;
        if (size === 8 && form === "handle") {
            return (value) => {
                const pointer = this.#exports.stackAlloc(16) >>> 0;
                this.#data().setBigUint64(pointer, BigInt(value ?? 0), true);
                return pointer;
            };
        }
        const point = (bytes) => this.#scratch(bytes);
        return (value) => {
            const pointer = this.#scratch(size);
            this.#write(name, pointer, value, point);
            return pointer;
        };
    }
    /** The same for what a call answers. */
    #giver(word) {
        const [kind, name] = word.split(" ");
        if (kind === "i32" || kind === "i64" || kind === "f32" || kind === "f64") return (value) => value;
        if (kind === "bool") return (value) => value !== 0;
        if (kind === "pointer" || kind === "u32") return (value) => value >>> 0;
        if (kind === "struct" && structs[name].kind === "handle" && structs[name].size === 8) return (value) => this.#data().getBigUint64(value >>> 0, true);
        return (value) => this.#result(word, value);
    }
    #result(word, value) {
        const [kind, name] = word.split(" ");
        switch (kind) {
        case "void": return undefined;
        case "bool": return value !== 0;
        case "text": return this.string(value >>> 0);
        case "u64": return BigInt.asUintN(64, value);
        case "block": return this.#block(value >>> 0);
        case "struct":
            return structs[name].kind === "single" ? this.#result(structs[name].fields[0][1], value) : this.read(name, value >>> 0);
        case "i32": case "i64": case "f32": case "f64": return value;
        default: return value >>> 0;
        }
    }
    #block(pointer) {
        return pointer ? new Block(this, pointer, false) : null;
    }
    #function(name, result, parameters) {
        const call = this.#exports[name];
        const [kind, struct] = result.split(" ");
        const large = kind === "struct" && structs[struct].kind !== "single"; // returned in memory of the caller's
        const takers = parameters.map((word) => this.#taker(word)), give = this.#giver(result), first = large ? 1 : 0;
        return (...given) => {
            if (given.length !== parameters.length) throw new TypeError(`${name} takes ${parameters.length} arguments, not ${given.length}`);
            const stack = this.#exports.stackSave(), marked = this.#mark.length;
            let own = 0;
            try {
                if (struct === "reef_block") own = this.allocate(structs.reef_block.size);
                const values = new Array(first + takers.length);
                if (large) values[0] = own || this.#scratch(structs[struct].size);
                for (let i = 0; i < takers.length; i++) values[first + i] = takers[i](given[i]);
                const answer = call(...values);
                if (this.#failure) this.#thrown();
                if (own) {
                    const block = new Block(this, own, true);
                    own = 0;
                    return block;
                }
                return give(large ? values[0] : answer);
            } finally {
                if (own) this.release(own);
                while (this.#mark.length > marked) this.release(this.#mark.pop());
                this.#exports.stackRestore(stack);
            }
        };
    }
    /** An exception of a callback can't pass through reef: it is thrown when the call that led there is done. */
    #thrown() {
        const { error } = this.#failure;
        this.#failure = null;
        throw error;
    }

    // ---- being called ----

    /** The address of a function for reef: callback("reef_visitor", (context, entity, component, data, size) => true). `releaseCallback` frees
     * its place. (Where a function is given in a call or an object, this is done, and the place stays taken.) */
    callback(type, call) {
        const signature = callbacks[type];
        if (!signature) throw new TypeError(`reef: there is no type of function ${type}`);
        const [result, ...parameters] = signature;
        const guarded = (...given) => {
            try {
                const answer = call(...given.map((value, i) => this.#result(parameters[i], value)));
                if (result === "bool") return answer === undefined || answer ? 1 : 0;
                return passed(result) === "i64" ? BigInt(answer ?? 0) : Number(answer ?? 0);
            } catch (error) {
                this.#failure ??= { error };
                return passed(result) === "i64" ? 0n : 0;
            }
        };
        const table = this.#exports.__indirect_function_table;
        const place = this.#free.pop() ?? table.grow(1);
        table.set(place, typedFunction(result === "void" ? null : passed(result), parameters.map(passed), guarded));
        return place;
    }
    releaseCallback(place) {
        this.#exports.__indirect_function_table.set(place, null);
        this.#free.push(place);
    }

    // ---- component types ----

    /** Makes a component type: declare("Position", {x: "f32", y: {kind: "f32", unit: "m"}}); without fields a tag. A kind is bool, i8 ... u64,
     * f32, f64, entity, or an array of one: "f32[3]", "char[16]". `more`: other members of reef_type_desc. Answers the reef_component. */
    declare(name, fields = {}, more = {}) {
        let size = 0, align = 1;
        const made = Object.entries(fields).map(([field, text]) => {
            const { kind, unit = null, lowest = 0, highest = 0 } = typeof text === "string" ? { kind: text } : text;
            const [, base, length] = /^(\w+)(?:\[(\d+)\])?$/.exec(kind) ?? [];
            if (!(base in KINDS)) throw new TypeError(`reef: ${name}.${field} can't be ${kind}`);
            const [number, array] = KINDS[base], bytes = NUMBERS[array][0];
            // Each number lies at a multiple of its size (an entity, too), so that typed arrays reach it.
            const offset = Math.ceil(size / bytes) * bytes, count = Number(length ?? 1);
            size = offset + bytes * count;
            align = Math.max(align, bytes);
            return { name: field, kind: constants[number], array, offset, bytes: bytes * count, count, unit, lowest, highest };
        });
        size = Math.ceil(size / align) * align;
        const rows = made.map(({ array: _array, count: _count, ...field }) => field);
        const status = this.allocate(4);
        try {
            const id = this.reef_type_new({ name, size, align, fields: rows, field_count: rows.length, ...more }, status);
            if (!id) throw new Error(`reef: ${name}: ${this.reef_status_text(this.#data().getInt32(status, true))}`);
            this.#types.set(id, { name, size, fields: made });
            return id;
        } finally {
            this.release(status);
        }
    }
    /** How values of a type lie in memory, as `declare` made it: {name, size, fields: [{name, array, offset, count ...}]}. */
    layout(component) {
        const known = this.#types.get(component);
        if (!known) throw new TypeError(`reef: type ${component} wasn't made by declare`);
        return known;
    }
    /** The values at an address as one array: of its numbers if all fields of the type are of one kind, else of its bytes. */
    values(component, pointer, count = 1) {
        const { size, fields } = this.layout(component);
        const array = fields.length && fields.every((f) => f.array === fields[0].array) ? NUMBERS[fields[0].array] : NUMBERS.u8;
        return this.view(array[1], pointer, (size / array[0]) * count);
    }
    /** One field of the values at an address: value i is array[i * stride]. */
    field(component, name, pointer, count = 1) {
        const { size, fields } = this.layout(component);
        const field = fields.find((f) => f.name === name);
        if (!field) throw new TypeError(`reef: there is no field ${name}`);
        const [bytes, array] = NUMBERS[field.array];
        const stride = size / bytes;
        return pointer ? { array: this.view(array, pointer + field.offset, stride * (count - 1) + field.count), stride } : null;
    }
    /** A value as bytes, from its fields' numbers in their order, or texts for fields of characters. */
    pack(component, numbers) {
        const { name, size, fields } = this.layout(component);
        const bytes = new Uint8Array(size), rest = [...numbers];
        for (const field of fields) {
            if (field.kind === constants.REEF_CHAR) {
                bytes.set(encoder.encode(rest.shift() ?? "").slice(0, field.bytes), field.offset);
                continue;
            }
            const [one, array] = NUMBERS[field.array];
            const to = new array(field.count);
            for (let i = 0; i < field.count && rest.length; i++) to[i] = field.array.endsWith("64") && field.array[0] !== "f" ? BigInt(rest.shift()) : rest.shift();
            bytes.set(new Uint8Array(to.buffer, 0, one * field.count), field.offset);
        }
        if (rest.length) throw new TypeError(`reef: too many numbers for ${name}`);
        return bytes;
    }
    #given(value) {
        const [component, ...numbers] = Array.isArray(value) ? value : [value];
        const data = this.pack(component, numbers);
        return { component, size: data.length, data };
    }

    // ---- entities, loops, bytes ----

    /** reef_spawn_values with [component, number, ...] for each value, or a component alone for zeros or a tag. */
    spawn(world, ...values) {
        return this.must(world, this.reef_spawn_values(world, values.map((v) => this.#given(v)), values.length));
    }
    /** reef_set_id with the numbers of the value. */
    set(world, entity, component, ...numbers) {
        const data = this.pack(component, numbers);
        return this.must(world, this.reef_set_id(world, entity, component, data, data.length));
    }
    /** The value of an entity for reading, as an array over reef's memory; null: it hasn't got the component. */
    get(world, entity, component) {
        return this.values(component, this.reef_get_id(world, entity, component));
    }
    /** The same for writing. */
    mut(world, entity, component) {
        return this.values(component, this.reef_mut_id(world, entity, component));
    }
    /** The blocks that a query matches: for (const b of reef.blocks(world, query)). `query`: a handle or a text. A break ends the loop. */
    *blocks(world, query) {
        const block = typeof query === "string" ? this.reef_begin_text(world, query) : this.reef_begin(world, query);
        try {
            while (block.next()) yield block;
        } finally {
            block.end();
        }
    }
    /** What a function writes to a text of C's: text((buffer, size) => reef.reef_query_text(world, query, buffer, size)). */
    text(write) {
        const length = write(0, 0), pointer = this.allocate(length + 1);
        try {
            write(pointer, length + 1);
            return this.string(pointer);
        } finally {
            this.release(pointer);
        }
    }
    /** What a function writes to reef_bytes, as a copy: bytes(world, (to) => reef.reef_save_bytes(world, to, null)). */
    bytes(world, write) {
        const to = this.allocate(structs.reef_bytes.size);
        try {
            this.must(world, write(to));
            const { data, size } = this.read("reef_bytes", to);
            return new Uint8Array(this.buffer, data, size).slice();
        } finally {
            this.reef_bytes_free(to);
            this.release(to);
        }
    }
    /** Throws the world's last error if the answer of a call is a failure: a negative status, a null handle, NULL. Otherwise the answer. */
    must(world, answer) {
        if (typeof answer === "bigint" ? answer === 0n : answer === null || answer < 0) {
            throw new Error("reef: " + this.text((buffer, size) => this.reef_error_text(world, buffer, size)));
        }
        return answer;
    }
}

// ---- blocks ----

const at = Object.fromEntries(structs.reef_block.fields.map(([name, , offset]) => [name, offset]));

/** Rows of a loop, of a system or of an observer. Its arrays are good until the next block, and until reef's memory grows. */
export class Block {
    #reef;
    #own;
    constructor(reef, pointer, own) {
        this.#reef = reef;
        this.pointer = pointer;
        this.#own = own;
    }
    #word(name, type) {
        return new type(this.#reef.buffer, this.pointer + at[name], 1)[0];
    }
    /** Number of rows. */
    get count() {
        return this.#word("count", Uint32Array);
    }
    /** Time step of a system, in seconds. */
    get dt() {
        return this.#word("dt", Float32Array);
    }
    get world() {
        return this.#word("world", Uint32Array);
    }
    /** The rows' entities. */
    get entities() {
        return this.#reef.view(BigUint64Array, this.#word("entities", Uint32Array), this.count);
    }
    /** The rows' values for reading: one array of numbers if all fields are of one kind, else of bytes. null: not in this block. */
    in(component) {
        return this.#reef.values(component, this.#reef.reef_block_in(this, component), this.count);
    }
    /** The same for writing. */
    inout(component) {
        return this.#reef.values(component, this.#reef.reef_block_inout(this, component), this.count);
    }
    /** One field of the rows' values: {array, stride}; that of row i is array[i * stride]. */
    fieldIn(component, name) {
        return this.#reef.field(component, name, this.#reef.reef_block_in(this, component), this.count);
    }
    fieldInout(component, name) {
        return this.#reef.field(component, name, this.#reef.reef_block_inout(this, component), this.count);
    }
    /** Goes on to the next block; false: the loop is done. */
    next() {
        return this.pointer !== 0 && this.#reef.reef_next_block(this);
    }
    /** Ends a loop. (A loop that came to its end may be ended as well.) */
    end() {
        if (!this.#own || this.pointer === 0) return;
        this.#reef.reef_end(this);
        this.#reef.release(this.pointer);
        this.pointer = 0;
    }
}
