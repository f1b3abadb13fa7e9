// The package in node and in a page: everything that reef.mjs does beside calling C. Every failure is thrown.
export async function test(load) {
    let checks = 0;
    const is = (got, wanted, what) => {
        checks++;
        const show = (x) => JSON.stringify(x, (_, v) => (typeof v === "bigint" ? `${v}n` : ArrayBuffer.isView(v) ? [...v].map(String) : v));
        if (show(got) !== show(wanted)) throw new Error(`${what}: ${show(got)} and not ${show(wanted)}`);
    };
    const throws = (call, part, what) => {
        checks++;
        try {
            call();
        } catch (error) {
            if (String(error.message).includes(part)) return;
            throw new Error(`${what}: it says "${error.message}"`);
        }
        throw new Error(`${what}: nothing was thrown`);
    };
    const reef = await load();
    const world = reef.reef_world_new({ seed: 7n });

    // Types: of each kind, arrays, texts, entities, tags.
    const Position = reef.declare("Position", { x: { kind: "f32", unit: "m", lowest: -1, highest: 1 }, y: "f32" });
    const Mixed = reef.declare("Mixed", { flag: "bool", deep: "f64", id: "u64", small: "i8", list: "u16[3]", name: "char[8]", friend: "entity" });
    const Tag = reef.declare("Tag");
    const Far = reef.declare("Far", { depth: "f32" }, { home: reef.REEF_SPARSE });
    const Apart = reef.declare("Apart", { a: "f32", b: "f32" }, { home: reef.REEF_SPLIT });
    is(reef.layout(Mixed).size, 48, "size of a struct");
    is(reef.layout(Mixed).fields.map((f) => f.offset), [0, 8, 16, 24, 26, 32, 40], "offsets of a struct");
    throws(() => reef.declare("Position", { x: "f64" }), "Position", "another type of the same name");
    throws(() => reef.declare("Wrong", { x: "f16" }), "f16", "no such kind");

    // Handles, texts and values.
    const bob = reef.spawn(world, [Position, 1, 2], Tag);
    const ann = reef.spawn(world, [Mixed, 1, 0.5, 2n ** 63n, -3, 7, 8, 9, "Ännchen", bob]);
    is(typeof bob, "bigint", "an entity");
    is(reef.reef_is_alive(world, bob), true, "it lives");
    is(reef.reef_is_alive(world, 0n), false, "null doesn't");
    is(reef.reef_set_name(world, bob, "böb"), reef.REEF_OK, "a name");
    is(reef.reef_name(world, bob), "böb", "a name beyond ASCII");
    is(reef.reef_name(world, ann), null, "no name");
    is(reef.reef_find(world, "böb"), bob, "by name");
    is(reef.get(world, bob, Position), new Float32Array([1, 2]), "a value");
    is(reef.get(world, ann, Position), null, "no value");
    reef.mut(world, bob, Position)[1] = 5;
    is(reef.get(world, bob, Position)[1], 5, "a written value");
    const at = reef.reef_get_id(world, ann, Mixed);
    is(reef.field(Mixed, "deep", at).array[0], 0.5, "f64");
    is(reef.field(Mixed, "id", at).array[0], 2n ** 63n, "u64");
    is(reef.field(Mixed, "small", at).array[0], -3, "i8");
    is([...reef.field(Mixed, "list", at).array], [7, 8, 9], "an array");
    is(reef.string(at + 32), "Ännchen", "characters");
    is(reef.field(Mixed, "friend", at).array[0], bob, "an entity in a value");
    throws(() => reef.spawn(world, [Position, 1, 2, 3]), "too many", "too many numbers");
    throws(() => reef.set(world, 0n, Position, 1, 2), "reef:", "an entity that isn't there");
    throws(() => reef.reef_is_alive(world), "2 arguments", "an argument is missing");
    throws(() => reef.reef_query_make(world, { txt: "Position" }), "txt", "a member that isn't there");
    throws(() => reef.must(world, reef.reef_query_new(world, "Positon")), "Position", "reef's message");

    // Loops: by text, by an object; ended early; over values outside of the table; over fields apart.
    for (let i = 0; i < 3000; i++) reef.spawn(world, [Position, i, i], [Apart, i, 1]);
    for (let i = 0; i < 20; i++) reef.set(world, reef.spawn(world, Tag), Far, i);
    let rows = 0, blocks = 0;
    for (const b of reef.blocks(world, "Position")) {
        is(b.in(Position).length, b.count * 2, "an array of a block");
        is(b.entities.length, b.count, "the entities of a block");
        rows += b.count;
        blocks++;
    }
    is([rows, blocks], [3001, 4], "a loop");
    const query = reef.reef_query_make(world, { terms: [{ component: Position, access: reef.REEF_IN }, { component: Tag, op: reef.REEF_NOT }] });
    is(reef.text((buffer, size) => reef.reef_query_text(world, query, buffer, size)), "in Position, !Tag", "the text of a query");
    is(reef.reef_query_count(world, query), 3000n, "a query of terms");
    for (const b of reef.blocks(world, query)) {
        is(b.fieldIn(Position, "y").array[2], 1, "a field");
        break;
    }
    is(reef.reef_destroy(world, reef.spawn(world, Tag)), reef.REEF_OK, "a loop that was left by break has ended");
    let sum = 0;
    for (const b of reef.blocks(world, "in Far")) for (const depth of b.in(Far)) sum += depth;
    is(sum, 190, "values outside of the table");
    is(reef.reef_query_free(world, query), reef.REEF_OK, "a freed query");

    // Being called: systems, visitors, observers; what they throw.
    let seen = 0;
    reef.must(world, reef.reef_system_add(world, "move", (b) => {
        const p = b.inout(Position);
        for (let i = 0; i < p.length; i += 2) p[i] += b.dt;
        seen += b.count;
    }, "Position"));
    reef.must(world, reef.reef_tick(world, 0.5));
    is(seen, 3001, "a system");
    is(reef.get(world, bob, Position)[0], 1.5, "what it wrote");
    const found = [];
    const visit = reef.callback("reef_visitor", (_context, entity, component, _data, size) => {
        found.push([entity === bob, reef.reef_type_name(component), size]);
    });
    reef.reef_visit_entity(world, bob, visit, 0);
    reef.releaseCallback(visit);
    is(found, [[true, "Position", 8], [true, "Tag", 0]], "a visitor");
    throws(() => reef.reef_visit_entity(world, bob, () => { throw new Error("enough"); }, 0), "enough", "an exception in a callback");
    is(reef.reef_is_alive(world, bob), true, "after an exception");

    // Worlds as values.
    const fork = reef.reef_fork(world), before = reef.reef_hash(world);
    is(reef.reef_hash(fork), before, "the hash of a fork");
    reef.mut(fork, bob, Position)[0] = 100;
    is([reef.get(world, bob, Position)[0], reef.reef_hash(fork) === before, reef.reef_hash(world) === before], [1.5, false, true], "a fork is another world");
    const bytes = reef.bytes(fork, (to) => reef.reef_save_bytes(fork, to, null));
    const loaded = reef.reef_world_new(null);
    reef.must(loaded, reef.reef_load_bytes(loaded, bytes, bytes.length, null));
    is(reef.reef_hash(loaded), reef.reef_hash(fork), "saved and loaded");
    bytes[bytes.length >> 1] ^= 1;
    throws(() => reef.must(loaded, reef.reef_load_bytes(loaded, bytes, bytes.length, null)), "reef:", "a damaged file");
    is(reef.reef_save(world, "nowhere", null) < 0, true, "there are no files");

    // Memory that grows: earlier arrays are empty, new ones aren't; large arguments.
    const early = reef.get(world, bob, Position);
    const many = reef.reef_world_new(null);
    const data = new Float32Array([1, 2]);
    const out = reef.allocate(8 * 400000);
    reef.must(many, reef.reef_spawn_many_values(many, 400000, out, { component: Position, size: 8, data }, 1));
    const last = reef.view(BigUint64Array, out, 400000)[399999];
    is([early.length, reef.get(world, bob, Position)[1], reef.get(many, last, Position)[1]], [0, 5, 2], "memory that has grown");
    is(reef.reef_count_alive(many), 400000n, "many entities");
    reef.release(out);
    for (const w of [many, loaded, fork, world]) reef.reef_world_free(w);

    const other = await load();
    is(other.reef_type_find("Position"), 0, "another instance knows none of these types");
    return checks;
}
