-- reach.lua DECLARATIONS LIBRARY: what is hard to call from another language, from LuaJIT: structs with arrays, unions and functions by
-- value, callbacks that get structs by value, and the exported twins of what is inlined.
local ffi = require "ffi"
local bit = require "bit"
local reef = require "reef"
local C = reef.load(arg[1], arg[2])
jit.off(true, true) -- nearly all here calls back

ffi.cdef "typedef struct { int32_t value; char name[8]; reef_entity friend; } Number; typedef Number Hooked;"
local number = reef.declare("Number", {{"value", "REEF_I32"}, {"name", "REEF_CHAR", nil, 8}, {"friend", "REEF_ENTITY"}})
local w = C.reef_world_new(nil)
local function value(data, kind) return ffi.cast((kind or "Number") .. " *", data)[0] end
local function set_number(e, n) assert(C.reef_set_id(w, e, number, ffi.new("Number", n), ffi.sizeof("Number")) >= 0) end

-- Values with names.
ffi.cdef "typedef struct { int16_t mood; uint8_t wants; } Feels;"
local feels = reef.declare("Feels", {{"mood", "REEF_I16", nil, nil, {"Mood", {"CALM", 0}, {"ANGRY", -3}}},
    {"wants", "REEF_U8", nil, nil, {"Wants", {"FOOD", 1}, {"SLEEP", 2}, mask = true}}})
local known, text = ffi.new("reef_type_info"), ffi.new("char[20]")
assert(C.reef_type_get(feels, known) and C.reef_names_write(known.fields[1].names, 3, text, 20) == 10)
assert(ffi.string(text) == "FOOD|SLEEP" and ffi.string(known.fields[0].names.values[1].name) == "ANGRY")

-- Structs that are answered by value: texts in them, counts, a union.
local e = C.reef_create_entity(w)
set_number(e, 5)
local numbers = C.reef_query_new(w, "either Number, either *")
assert(C.reef_remove_where_id(w, numbers, number, nil) == C.REEF_OK and C.reef_query_free(w, numbers) == C.REEF_OK and C.reef_remove_id(w, e, number) == C.REEF_ABSENT)
local err = C.reef_last_error(w)
assert(err.status == C.REEF_ABSENT and ffi.string(err.operation) == "reef_remove" and err.component.id == number.id)
assert(C.reef_world_stats(w).entities == 1)
local class = ffi.new("reef_script_class", {name = "pilot", size = 4})
local script = C.reef_script_make(class, ffi.new("int32_t[1]", 77))
local s = C.reef_spawn_values(w, C.reef_plain_script_value(script), 1)
assert(ffi.string(C.reef_script_of(w, s).name) == "pilot" and value(C.reef_script_data(w, s), "int32_t") == 77)

-- A hook that gets an entity by value: as a number of 64 bits.
local made
local construct = reef.callback("reef_status (*)(void *, reef_world *, uint64_t, void *, const void *)", function(_, _, entity, slot)
    made = tonumber(bit.band(entity, 0xFFFFFFFFULL))
    value(slot).value = -1
    return C.REEF_OK
end)
local hooks = ffi.new("reef_hooks", {bytes_move = true})
hooks.construct = ffi.cast("reef_status (*)(void *, reef_world *, reef_entity, void *, const void *)", construct)
local desc = ffi.new("reef_type_desc", {name = "Hooked", size = ffi.sizeof("Hooked"), align = 4, hooks = hooks})
local hooked = C.reef_type_new(desc, nil)
assert(C.reef_add_id(w, e, hooked, nil, nil) == C.REEF_OK and made == e.index and value(C.reef_get_id(w, e, hooked)).value == -1)

-- A query's description holds terms; an order's key is a function.
local query = ffi.new("reef_query_desc")
query.terms[0].component, query.terms[0].access = number, C.REEF_IN
query.terms[1].component, query.terms[1].op = hooked, C.REEF_NOT
local q = C.reef_query_make(w, query)
for _, n in ipairs {3, -2, 9} do set_number(C.reef_create_entity(w), n) end
local key = reef.callback("reef_key", function(data) return C.reef_plain_key_i32(value(data, "const Number").value) end)
assert(C.reef_query_order(w, q, ffi.new("reef_order", {component = number, key = key})) == C.REEF_OK)
local row, seen = C.reef_rows(w, q), {}
while C.reef_plain_row_next(row) do
    seen[#seen + 1] = reef.array("const Number", C.reef_block_in(row.block, number))[row.i].value
end
assert(table.concat(seen, " ") == "-2 3 9")

-- References.
set_number(e, 5)
local ref = C.reef_plain_ref_make_id(w, e, number)
assert(value(C.reef_plain_ref_get_id(w, ref), "const Number").value == 5 and not C.reef_plain_ref_is_null(ref))

-- Streams: structs with functions, by value.
local saved, at = {}, 0
local write = reef.callback("reef_status (*)(void *, const void *, size_t)", function(_, data, count)
    saved[#saved + 1] = ffi.string(data, count)
    return C.REEF_OK
end)
local read = reef.callback("reef_status (*)(void *, void *, size_t, size_t *)", function(_, data, count, got)
    local part = saved:sub(at + 1, at + tonumber(count))
    ffi.copy(data, part, #part)
    at = at + #part
    got[0] = #part
    return C.REEF_OK
end)
assert(C.reef_script_know(class) == C.REEF_OK)
assert(C.reef_save_to(w, ffi.new("reef_writer", {write = write}), ffi.new("reef_save_desc", {raw = true})) == C.REEF_OK)
saved = table.concat(saved)
local other = C.reef_world_new(nil)
assert(C.reef_load_from(other, ffi.new("reef_reader", {read = read}), nil) == C.REEF_OK)
assert(#saved > 100 and C.reef_equal(w, other, nil) and C.reef_hash(w) == C.reef_hash(other))
C.reef_world_free(other)

-- Relations (F4): types made at run time, relating, asking in both directions.
ffi.cdef "typedef struct { int32_t coins; } Money; typedef struct { reef_entity target; uint64_t place; Money data; } Owes;"
local money = reef.declare("Money", {{"coins", "REEF_I32"}})
local likes = reef.declare("Likes", nil, {relation = C.REEF_IS_RELATION})
local docked = reef.declare("DockedTo", nil, {relation = C.REEF_IS_RELATION + C.REEF_EXCLUSIVE})
local owes = reef.declare("Owes", nil, {relation = C.REEF_IS_RELATION, data = money})
local alice, bob, moon = C.reef_create_entity(w), C.reef_create_entity(w), C.reef_create_entity(w)
assert(C.reef_relate_id(w, alice, likes, bob, nil, 0) == C.REEF_ADDED and C.reef_relate_id(w, moon, likes, bob, nil, 0) == C.REEF_ADDED)
local sources, found = C.reef_sources_of_id(w, bob, likes), {}
while C.reef_sources_next(sources) do
    for i = 0, sources.count - 1 do found[#found + 1] = sources.sources[i].index - alice.index end
end
assert(table.concat(found, " ") == "0 2" and C.reef_source_count_id(w, bob, likes) == 2)
assert(C.reef_relate_id(w, alice, owes, bob, ffi.new("Money", 30), ffi.sizeof("Money")) == C.REEF_ADDED)
assert(value(C.reef_relation_get_id(w, alice, owes, bob), "const Owes").data.coins == 30)
assert(C.reef_relate_id(w, alice, docked, bob, nil, 0) == C.REEF_ADDED and C.reef_retarget_id(w, alice, docked, bob, moon) == C.REEF_OK)
assert(C.reef_target_id(w, alice, docked).index == moon.index and C.reef_unrelate_id(w, alice, docked, bob) == C.REEF_ABSENT)
C.reef_world_free(w)

-- Callbacks are kept, however they were made, and their errors come out of the call during which they ran.
w = C.reef_world_new(nil)
local ran = {}
for number = 1, 20 do
    C.reef_system_add(w, "adds" .. number, reef.callback("void (*)(reef_block *)", function() ran[#ran + 1] = number end), "")
end
collectgarbage()
collectgarbage()
e = C.reef_create_entity(w)
assert(C.reef_tick(w, 0) == C.REEF_OK and #ran == 20 and ran[20] == 20)
local function message_of(call, ...)
    local good, message = pcall(call, ...)
    assert(not good, "there was no error")
    return message
end
local burning = C.reef_system_add(w, "fails", reef.callback("void (*)(reef_block *)", function()
    C.reef_flush(w) -- a call inside of the callback isn't the one that fails
    error("the reef is on fire")
end), "")
C.reef_system_add(w, "after", reef.callback("void (*)(reef_block *)", function()
    C.reef_flush(w) -- neither is one in a later system
    ran[#ran + 1] = "after"
end), "")
assert(message_of(C.reef_tick, w, 0):find("the reef is on fire") and ran[#ran] == "after")
reef.check() -- it is raised once
assert(tonumber(C.reef_tick_count(w)) == 2)
C.reef_system_remove(w, burning)
assert(C.reef_tick(w, 0) == C.REEF_OK)
local visitor = reef.callback("bool (*)(void *, uint64_t, uint32_t, const void *, size_t)", function() error({"a table"}) end)
assert(message_of(C.reef_visit_entities, w, reef.callback("reef_visitor", visitor), nil)[1] == "a table")
reef.drop(visitor)
local fails = reef.callback("reef_status (*)(void *, reef_world *, uint64_t, void *, const void *)", function() error("no value") end)
local failing = C.reef_type_new(ffi.new("reef_type_desc", {name = "Failing", size = 4,
    hooks = ffi.new("reef_hooks[1]", {{construct = ffi.cast("void *", fails)}})}), nil)
assert(C.reef_add_id(w, e, failing, nil, nil) == C.REEF_CANCELLED and message_of(reef.check):find("no value"))

-- Names are bytes.
assert(C.reef_set_name(w, e, "caf\233") == C.REEF_OK and ffi.string(C.reef_name(w, e)) == "caf\233")
C.reef_world_free(w)
