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
local ffi = require "ffi"
local M = {}

-- Loads a shared library, with the declarations of the same version.
function M.load(declarations, library)
    local file = assert(io.open(declarations))
    ffi.cdef(file:read("*a"))
    file:close()
    M.C = ffi.load(library)
    return M.C
end

local bytes = {
    REEF_BOOL = 1, REEF_I8 = 1, REEF_U8 = 1, REEF_I16 = 2, REEF_U16 = 2, REEF_I32 = 4, REEF_U32 = 4, REEF_I64 = 8, REEF_U64 = 8,
    REEF_F32 = 4, REEF_F64 = 8, REEF_CHAR = 1, REEF_ENTITY = 8,
}

-- Declares a C struct as a component type, with its fields: reef.declare("Position", {{"x", "REEF_F32", "m"}, {"y", "REEF_F32", "m"}}).
-- A field that is an array has its length as a fourth element. A type without fields is a tag. `more` has other fields of
-- reef_type_desc: reef.declare("Likes", nil, {relation = C.REEF_IS_RELATION}) is a type of relations. Returns the reef_component.
function M.declare(name, fields, more)
    local C = M.C
    local desc, status = ffi.new("reef_type_desc"), ffi.new("reef_status[1]")
    local list = ffi.new("reef_field[?]", fields and #fields or 0) -- a local, so that Lua keeps it until the call
    for key, value in pairs(more or {}) do desc[key] = value end
    desc.name = name
    if fields then
        for i, f in ipairs(fields) do
            local field = list[i - 1]
            field.name, field.unit = f[1], f[3]
            field.kind, field.offset, field.bytes = C[f[2]], ffi.offsetof(name, f[1]), bytes[f[2]] * (f[4] or 1)
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

-- Returns a Lua function as a pointer to a C function of a type. For functions with structs as parameters use the second way of
-- docs/manual/other-languages.md. Keep the pointer for as long as reef may call it.
function M.callback(kind, call)
    return ffi.cast(kind, call)
end

return M
