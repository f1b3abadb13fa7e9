"""check_layout.py LISTING LIBRARY: sizes and offsets of all structs in ctypes are C's. Prints a program in Lua that proves the same of LuaJIT."""
import ctypes
import json
import sys

import reef

r = reef.load(sys.argv[1], sys.argv[2])
with open(sys.argv[1], encoding="utf-8") as file:
    records = [t for t in json.load(file)["types"] if t["kind"] in ("struct", "union") and not t["internal"]]


def named(fields):
    for field in fields:
        yield from [field] if field["name"] else named(field["fields"])


def offset_of(record, name):
    """Also of a member of an anonymous union."""
    value = record()
    for field, kind in record._fields_:
        if field == name:
            return getattr(record, field).offset
        if field in getattr(record, "_anonymous_", ()) and any(f[0] == name for f in kind._fields_):
            return getattr(record, field).offset + getattr(kind, name).offset
    raise AttributeError(name + " of %r" % value)


print('local ffi, reef = require "ffi", require "reef"\nreef.load(arg[1], arg[2])\nlocal names = 0\nlocal function same(what, a, b)\n'
      '    names = names + 1\n    if a ~= b then error(what .. ": " .. a .. ", in C " .. b) end\nend')
count = 0
for entry in records:
    record = getattr(r, entry["name"])
    assert ctypes.sizeof(record) == entry["size"] and ctypes.alignment(record) == entry["align"], entry["name"]
    print('same("%s", ffi.sizeof("%s"), %d)' % (entry["name"], entry["name"], entry["size"]))
    for field in named(entry["fields"]):
        assert offset_of(record, field["name"]) == field["offset"], "%s.%s" % (entry["name"], field["name"])
        print('same("%s.%s", ffi.offsetof("%s", "%s"), %d)' % (entry["name"], field["name"], entry["name"], field["name"], field["offset"]))
        count += 1
print('assert(names == %d)' % (count + len(records)))
assert count > 300
