-- reload.lua DECLARATIONS LIBRARY HOT: what reload.py does, from LuaJIT: a world is held while its rules, a module in C, are replaced.
local ffi = require "ffi"
local reef = require "reef"
local C = reef.load(arg[1], arg[2])

ffi.cdef [[
typedef struct reef_hot_code reef_hot_code;
reef_hot_code *reef_hot_open(reef_world *world, const char *path, const void *desc, char *reason);
int reef_hot_poll(reef_hot_code *hot);
const char *reef_hot_text(const reef_hot_code *hot);
uint32_t reef_hot_libraries(const reef_hot_code *hot);
void reef_hot_close(reef_hot_code *hot);
typedef struct { float x, y; } Position;
]]
local hot = ffi.load(arg[3])
local SAME, LOADED, REFUSED = 0, 1, 2

local function put(name)
    assert(os.execute("cp " .. name .. " aside.so && mv aside.so rules.so"))
end

local position = reef.declare("Position", {{"x", "REEF_F32"}, {"y", "REEF_F32"}})
local w = C.reef_world_new(nil)
local reason = ffi.new("char[1024]")
put("one.so")
local code = hot.reef_hot_open(w, "./rules.so", nil, reason)
assert(code ~= nil, ffi.string(reason))
local first = C.reef_type_find("Hunter")

local function poll(wanted)
    local got = hot.reef_hot_poll(code)
    assert(got == wanted, got .. ": " .. ffi.string(hot.reef_hot_text(code)))
end

-- A field of Hunter, by the description that the type has now.
local kinds = {[tonumber(C.REEF_F32)] = "float", [tonumber(C.REEF_F64)] = "double", [tonumber(C.REEF_I16)] = "int16_t", [tonumber(C.REEF_U8)] = "uint8_t"}
local function field(e, name)
    local info, hunter = ffi.new("reef_type_info"), C.reef_type_find("Hunter")
    assert(C.reef_type_get(hunter, info))
    for i = 0, info.field_count - 1 do
        local f = info.fields[i]
        if ffi.string(f.name) == name then
            local value = ffi.cast("const char *", C.reef_get_id(w, e, hunter)) + f.offset
            return tonumber(ffi.cast("const " .. kinds[tonumber(f.kind)] .. " *", value)[0])
        end
    end
    error("no field " .. name)
end

local seen = 0
local function move(b)
    local p = reef.array("Position", C.reef_block_inout(b, position))
    for i = 0, b.count - 1 do p[i].x = p[i].x + 1 end
    seen = seen + b.count
end
C.reef_system_add(w, "move", reef.callback("void (*)(reef_block *)", move), "Position")
local entities = ffi.new("reef_entity[?]", 100)
for i = 0, 99 do
    entities[i] = C.reef_create_entity(w)
    C.reef_set_id(w, entities[i], position, ffi.new("Position", i, 0), ffi.sizeof("Position"))
    C.reef_add_id(w, entities[i], first, nil, nil)
end
local q = C.reef_query_new(w, "Position, in Hunter")
C.reef_tick(w, 1)
assert(field(entities[7], "power") == 1)

put("two.so") -- another number
poll(LOADED)
assert(C.reef_type_find("Hunter").id == first.id and hot.reef_hot_libraries(code) == 1)
C.reef_tick(w, 1)
assert(field(entities[7], "power") == 11)

put("three.so") -- another layout
poll(LOADED)
collectgarbage()
assert(C.reef_type_find("Hunter").id ~= first.id and C.reef_get_id(w, entities[7], first) == nil)
assert(field(entities[7], "power") == 11 and field(entities[7], "mood") == 0)
C.reef_tick(w, 1)
assert(field(entities[7], "power") == 111 and seen == 300 and tonumber(C.reef_query_count(w, q)) == 100)
poll(SAME)
hot.reef_hot_close(code)
C.reef_tick(w, 1)
assert(field(entities[7], "power") == 111 and seen == 400)
C.reef_world_free(w)
