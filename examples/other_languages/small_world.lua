-- The small world of small_world.c from LuaJIT: luajit small_world.lua DECLARATIONS LIBRARY
local ffi = require "ffi"
local bit = require "bit"
local reef = require "reef"

local C = reef.load(arg[1], arg[2])
local FISH = 1500

ffi.cdef [[
typedef struct { float x, y; } Position;
typedef struct { float x, y; } Velocity;
typedef struct { uint32_t grams; } Mass;
]]

local position = reef.declare("Position", {{"x", "REEF_F32", "m"}, {"y", "REEF_F32", "m"}})
local velocity = reef.declare("Velocity", {{"x", "REEF_F32", "m/s"}, {"y", "REEF_F32", "m/s"}})
local mass = reef.declare("Mass", {{"grams", "REEF_U32", "g"}})
local frozen = reef.declare("Frozen")

local function printf(...) io.write(string.format(...)) end

-- A fish that swims beyond the edge is destroyed.
local function drift(b)
    local p = reef.array("Position", C.reef_block_inout(b, position))
    local v = reef.array("const Velocity", C.reef_block_in(b, velocity))
    for i = 0, b.count - 1 do
        p[i].x = p[i].x + v[i].x * b.dt
        p[i].y = p[i].y + v[i].y * b.dt
        if p[i].x > 1500 then C.reef_cmd_destroy(b, b.entities[i]) end
    end
end

local lost = 0
local function count_lost(n) lost = lost + n.count end

-- LuaJIT can't give structs to callbacks, but an entity is passed like a number of 64 bits, and a component like one of 32 bits.
local function show(_, e, component, _, size)
    local type_name = ffi.string(C.reef_type_name(ffi.new("reef_component", component)))
    printf("  %dv%d has %s, %d bytes\n", tonumber(bit.band(e, 0xFFFFFFFFULL)), tonumber(bit.rshift(e, 32)), type_name, tonumber(size))
    return true
end

-- reef.lua keeps callbacks until they are dropped.
local drift_call = reef.callback("void (*)(reef_block *)", drift)
local count_lost_call = reef.callback("void (*)(const reef_notice *)", count_lost)
local show_call = reef.callback("reef_visitor", reef.callback("bool (*)(void *, uint64_t, uint32_t, const void *, size_t)", show))

local function show_hash(when, w) printf("%s: %s\n", when, bit.tohex(C.reef_hash(w), 16)) end
local function name_of(status) return ffi.string(C.reef_status_name(status)) end

-- Positions count up from 0, there are four speeds, and every tenth fish is frozen.
local function populate(w)
    local fish = ffi.new("reef_entity[?]", FISH)
    local positions, velocities = ffi.new("Position[?]", FISH), ffi.new("Velocity[?]", FISH)
    for i = 0, FISH - 1 do
        positions[i] = {i, 0}
        velocities[i] = {1, i % 4}
    end
    local values = ffi.new("reef_value[2]", {
        {position, C.REEF_VALUE_ARRAY, ffi.sizeof("Position"), positions},
        {velocity, C.REEF_VALUE_ARRAY, ffi.sizeof("Velocity"), velocities},
    })
    C.reef_spawn_many_values(w, FISH, fish, values, 2)
    for i = 0, FISH - 1, 10 do C.reef_add_id(w, fish[i], frozen, nil, nil) end
    C.reef_set_id(w, fish[3], mass, ffi.new("Mass", 250), ffi.sizeof("Mass"))
    C.reef_set_name(w, fish[3], "anna")
    C.reef_remove_id(w, fish[5], velocity)
    return fish
end

local function push(w)
    local q = C.reef_query_new(w, "Position, in Velocity, !Frozen")
    local b = C.reef_begin(w, q)
    while C.reef_next_block(b) do
        local p = reef.array("Position", C.reef_block_inout(b, position))
        local v = reef.array("const Velocity", C.reef_block_in(b, velocity))
        for i = 0, b.count - 1 do p[i].x = p[i].x + 8 * v[i].x end
        printf("a block of %d\n", b.count)
    end
    printf("%d match\n", tonumber(C.reef_query_count(w, q)))
    C.reef_query_free(w, q)
end

local function save_and_load(w)
    local data = ffi.new("reef_bytes")
    local copy = C.reef_world_new(nil)
    C.reef_save_bytes(w, data, nil)
    printf("load: %s\n", name_of(C.reef_load_bytes(copy, data.data, data.size, nil)))
    C.reef_bytes_free(data)
    show_hash("loaded from memory", copy)
    C.reef_world_clear(copy)
    printf("save: %s\n", name_of(C.reef_save(w, "small_world.reef", nil)))
    printf("load: %s\n", name_of(C.reef_load(copy, "small_world.reef", nil)))
    printf("equal: %d\n", C.reef_equal(w, copy, nil) and 1 or 0)
    C.reef_world_free(copy)
end

local w = C.reef_world_new(ffi.new("reef_world_config", {seed = 7}))
local fish = populate(w)
push(w)

C.reef_observer_add(w, "count_lost", count_lost_call, C.REEF_ON_REMOVE, position)
C.reef_system_add(w, "drift", drift_call, "Position, in Velocity; destroys")
for _ = 1, 3 do C.reef_tick(w, 0.5) end
printf("%d lost, %d alive\n", lost, tonumber(C.reef_count_alive(w)))

show_hash("now", w)
local snapshot = C.reef_snapshot_take(w)
C.reef_tick(w, 0.5)
show_hash("a tick later", w)
C.reef_restore(w, snapshot)
C.reef_snapshot_free(snapshot)
show_hash("restored", w)
save_and_load(w)

local anna = C.reef_find(w, "anna")
C.reef_visit_entity(w, anna, show_call, nil)
local numbers = C.reef_random_of(w, 1, anna)
local first = C.reef_plain_random_u32(numbers)
printf("random: %d, %d\n", first, tonumber(C.reef_random_range(numbers, -5, 5)))
C.reef_destroy(w, anna)
printf("destroy again: %s\n", name_of(C.reef_destroy(w, anna)))
local text = ffi.new("char[200]")
C.reef_error_text(w, text, 200)
printf("%s\n", ffi.string(text))
C.reef_print(w, fish[7], ffi.cast("FILE *", io.stdout))
C.reef_world_free(w)
