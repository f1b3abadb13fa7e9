// Must compile as it is; and each line after an @ts-expect-error must not.
import { load, type Block, type reef_entity } from "reef-ecs";

const reef = await load();
const Position = reef.declare("Position", { x: "f32", y: { kind: "f32", unit: "m" } });
const world = reef.reef_world_new({ seed: 1n });
const bob: reef_entity = reef.spawn(world, [Position, 1, 2]);
const alive: boolean = reef.reef_is_alive(world, bob);
const hash: bigint = reef.reef_hash(world);
const query = reef.reef_query_make(world, { terms: [{ component: Position, access: reef.REEF_IN }] as any });
reef.reef_system_add(world, "move", (block: Block) => void block.inout<Float32Array>(Position).fill(0), "Position");
for (const block of reef.blocks(world, query)) block.in<Float32Array>(Position)[0].toFixed();
const name: string | null = reef.reef_name(world, bob);
// @ts-expect-error: a world is no entity
reef.reef_is_alive(world, world);
// @ts-expect-error: a query is no entity
reef.reef_is_alive(world, query);
// @ts-expect-error: there is no such function
reef.reef_is_alife(world, bob);
// @ts-expect-error: a text is no world
reef.reef_hash("world");
// @ts-expect-error: a snapshot is no world
reef.reef_hash(reef.reef_snapshot_take(world));
// @ts-expect-error: no such kind
reef.declare("Wrong", { x: "f16" });
void [alive, hash, name];
