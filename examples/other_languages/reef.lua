-- reef from LuaJIT, by its FFI: every function, type and constant under its C name.
--
--     local reef = require "reef"
--     local C = reef.load("reef-cdef.h", "libreef.so")     -- the output of `scripts/listing --luajit`, and the shared library
--     local w = C.reef_world_new(nil)
--     ...
--     C.reef_world_free(w)
--
-- Structs are cdata, passed and returned by value as in C; ffi.string reads a text from the library. docs/manual/other-languages.md has the
-- rules, above all those for callbacks.
--
-- An error in a callback can't pass through C. It is an error again in the call during which the callback ran, when that returns: of those
-- that are listed here. After other calls, whose observers or hooks may fail, reef.check() says whether there was an error.
local ffi = require "ffi"
local M = {}

local calls_back = {}
for name in ([[reef_tick reef_tick_once reef_tick_phase reef_system_once reef_run reef_flush reef_end reef_world_free reef_world_clear
    reef_history_step reef_history_rewind reef_history_replay reef_history_correct reef_synctest reef_save_to reef_load reef_load_from
    reef_load_bytes reef_diff_apply reef_restore reef_merge reef_visit_entity reef_visit_entities reef_visit_world reef_visit_tables
    reef_visit_systems reef_visit_observers reef_hash_parts reef_query_order reef_sort_storage reef_file_replace]]):gmatch("%S+") do
    calls_back[name] = true
end

local kept = {} -- callbacks, by their pointers
local inside = 0 -- callbacks that run now
local failed -- the first error in a callback: its message, and how many callbacks were running around it

-- Raises the error of a callback that ran during an earlier call, if there was one.
function M.check()
    if failed and failed.inside == inside then
        local message = failed.message
        failed = nil
        error(message, 0)
    end
end

local function checked(...)
    M.check()
    return ...
end

-- Loads a shared library, with the declarations of the same version.
function M.load(declarations, library)
    local file = assert(io.open(declarations))
    ffi.cdef(file:read("*a"))
    file:close()
    local loaded = ffi.load(library)
    M.C = setmetatable({}, {__index = function(C, name)
        local value = loaded[name]
        if calls_back[name] then
            local call = value
            value = function(...) return checked(call(...)) end
            jit.off(value) -- compiled code can't be called back
        end
        rawset(C, name, value)
        return value
    end})
    return M.C
end

local bytes = {
    REEF_BOOL = 1, REEF_I8 = 1, REEF_U8 = 1, REEF_I16 = 2, REEF_U16 = 2, REEF_I32 = 4, REEF_U32 = 4, REEF_I64 = 8, REEF_U64 = 8,
    REEF_F32 = 4, REEF_F64 = 8, REEF_CHAR = 1, REEF_ENTITY = 8,
}

-- Declares a C struct as a component type, with its fields: reef.declare("Position", {{"x", "REEF_F32", "m"}, {"y", "REEF_F32", "m"}}).
-- A field that is an array has its length as a fourth element. The names of its values are a fifth one: {"Mood", {"CALM", 0}, {"ANGRY", 1}},
-- of a bit mask with mask = true. A type without fields is a tag. `more` has other fields of
-- reef_type_desc: reef.declare("Likes", nil, {relation = C.REEF_IS_RELATION}) is a type of relations. Returns the reef_component.
function M.declare(name, fields, more)
    local C = M.C
    local desc, status = ffi.new("reef_type_desc"), ffi.new("reef_status[1]")
    local list = ffi.new("reef_field[?]", fields and #fields or 0) -- a local, so that Lua keeps it until the call
    local kept = {} -- until the call, too
    for key, value in pairs(more or {}) do desc[key] = value end
    desc.name = name
    if fields then
        for i, f in ipairs(fields) do
            local field = list[i - 1]
            field.name, field.unit = f[1], f[3]
            field.kind, field.offset, field.bytes = C[f[2]], ffi.offsetof(name, f[1]), bytes[f[2]] * (f[4] or 1)
            if f[5] then
                local values, names = ffi.new("reef_named_value[?]", #f[5] - 1), ffi.new("reef_names")
                for k = 2, #f[5] do values[k - 2].name, values[k - 2].value = f[5][k][1], f[5][k][2] end
                names.name, names.values, names.count, names.mask = f[5][1], values, #f[5] - 1, f[5].mask or false
                field.names, kept[i] = names, {values, names}
            end
        end
        desc.size, desc.align = ffi.sizeof(name), ffi.alignof(name)
        desc.fields, desc.field_count = list, #fields
    end
    local made = C.reef_type_new(desc, status)
    assert(made.id ~= 0, name .. ": " .. ffi.string(C.reef_status_text(status[0])))
    return made
end

-- Returns a pointer that reef gave as an array of `kind`: reef.array("Position", C.reef_block_inout(b, position)). Its indices are 0 to
-- count - 1.
function M.array(kind, pointer)
    return ffi.cast(kind .. " *", pointer)
end

-- What a callback returns to reef when it fails, by the type of what it returns.
local function failure_of(kind)
    if kind:find("^%s*void%s*%(") then return nil end
    if kind:find("^%s*bool") or kind:find("visitor") or kind == "reef_progress" then return false end
    if kind:find("^%s*reef_status") or kind == "reef_step" then return M.C.REEF_CANCELLED end
    if kind:find("^[^(]*%*") or kind == "reef_read_refusal" then return nil end
    return 0
end

-- Returns a Lua function as a pointer to a C function of a type. For functions with structs as parameters use the second way of
-- docs/manual/other-languages.md. The pointer is kept until M.drop is called with it. When the function fails, it returns false, 0, nil or
-- REEF_CANCELLED to reef, which goes on, and the call during which it ran fails with its message.
function M.callback(kind, call)
    if type(call) ~= "function" then return ffi.cast(kind, call) end -- a pointer that was made already
    local failure = failure_of(kind)
    local function left(good, ...)
        inside = inside - 1
        if good then return ... end
        failed = failed or {message = ..., inside = inside}
        return failure
    end
    local pointer = ffi.cast(kind, function(...)
        inside = inside + 1
        return left(pcall(call, ...))
    end)
    kept[tostring(ffi.cast("void *", pointer))] = pointer
    return pointer
end

-- Frees a pointer that M.callback has made. reef must never call it again: what uses it was removed in all worlds and forks.
function M.drop(pointer)
    local name = tostring(ffi.cast("void *", pointer))
    assert(kept[name], "this is no callback that is kept"):free()
    kept[name] = nil
end

return M
