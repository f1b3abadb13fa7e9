// The types of reef.mjs; interface.d.mts, which is made of reef's headers, has the functions, structs and constants of C.
import type { Callback, Callbacks, Constants, Functions, Pointer, reef_component, reef_entity, reef_query, reef_status, reef_type_desc } from "./interface.mjs";

export * from "./interface.mjs";

/** The version of reef. */
export const version: string;

/** Makes an instance of reef, with types and worlds of its own. `source`: the address or bytes of reef.wasm; nothing: beside reef.mjs. */
export function load(source?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module): Promise<Reef>;

export type Numbers =
    | Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array;
type FieldKind = "bool" | "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64" | "char" | "entity";
type Kind = FieldKind | `${FieldKind}[${number}]`;
export interface FieldText {
    kind: Kind;
    unit?: string;
    lowest?: number;
    highest?: number;
}
export interface Layout {
    name: string;
    /** bytes of a value */
    size: number;
    fields: { name: string; kind: number; array: string; offset: number; bytes: number; count: number }[];
}
/** A component with its numbers, or alone: zeros, or a tag. */
export type Value = reef_component | readonly [reef_component, ...(number | bigint | string)[]];
/** One field of many values: that of value i is array[i * stride]. */
export interface Strided<A extends Numbers = any> {
    array: A;
    stride: number;
}

export interface Reef extends Functions, Constants {}
/** An instance of reef: the functions of C, and what JavaScript needs beside them. */
export class Reef {
    private constructor();
    /** reef's memory. When it grows, the buffer is another one, and earlier arrays are empty: take them anew after calls that may allocate. */
    readonly buffer: ArrayBuffer;
    view<A>(array: new (buffer: ArrayBuffer, offset: number, length: number) => A, pointer: number, count: number): A | null;
    /** Memory of your own; `release` frees it. */
    allocate(bytes: number): Pointer<any>;
    release(pointer: number): void;
    string(pointer: number): string | null;
    read(struct: string, pointer: number): any;
    write(struct: string, pointer: number, value: any): void;
    /** The address of a function for reef. releaseCallback frees its place. */
    callback<T extends keyof Callbacks>(type: T, call: Callbacks[T]): Callback<T>;
    releaseCallback(place: Callback<any>): void;
    /** Makes a component type: declare("Position", {x: "f32", y: {kind: "f32", unit: "m"}}); without fields a tag. */
    declare(name: string, fields?: Record<string, Kind | FieldText>, more?: Partial<reef_type_desc>): reef_component;
    layout(component: reef_component): Layout;
    /** The values at an address as one array: of its numbers if all fields of the type are of one kind, else of its bytes. */
    values<A extends Numbers = any>(component: reef_component, pointer: number, count?: number): A | null;
    field<A extends Numbers = any>(component: reef_component, name: string, pointer: number, count?: number): Strided<A> | null;
    pack(component: reef_component, numbers: readonly (number | bigint | string)[]): Uint8Array;
    spawn(world: Pointer<"reef_world">, ...values: Value[]): reef_entity;
    set(world: Pointer<"reef_world">, entity: reef_entity, component: reef_component, ...numbers: (number | bigint | string)[]): reef_status;
    get<A extends Numbers = any>(world: Pointer<"reef_world">, entity: reef_entity, component: reef_component): A | null;
    mut<A extends Numbers = any>(world: Pointer<"reef_world">, entity: reef_entity, component: reef_component): A | null;
    /** The blocks that a query matches: for (const b of reef.blocks(world, query)). */
    blocks(world: Pointer<"reef_world">, query: reef_query | string): IterableIterator<Block>;
    text(write: (buffer: Pointer<"char">, size: number) => number): string;
    bytes(world: Pointer<"reef_world">, write: (to: Pointer<"reef_bytes">) => reef_status): Uint8Array;
    /** Throws the world's last error if the answer of a call is a failure. Otherwise the answer. */
    must<T>(world: Pointer<"reef_world">, answer: T): T;
}

/** Rows of a loop, of a system or of an observer. Its arrays are good until the next block, and until reef's memory grows. */
export class Block {
    private constructor();
    readonly pointer: Pointer<"reef_block">;
    readonly count: number;
    readonly dt: number;
    readonly world: Pointer<"reef_world">;
    readonly entities: BigUint64Array;
    in<A extends Numbers = any>(component: reef_component): A;
    inout<A extends Numbers = any>(component: reef_component): A;
    fieldIn<A extends Numbers = any>(component: reef_component, name: string): Strided<A>;
    fieldInout<A extends Numbers = any>(component: reef_component, name: string): Strided<A>;
    next(): boolean;
    end(): void;
}
