"""reload.py LISTING LIBRARY HOT: Python holds a world while its rules, a module in C, are replaced by reef_hot (the shared library HOT). Its own
types, handles, queries, systems and observers stay; where the layout of a type changes, it finds the type again by its name. one.so, two.so
and three.so are the rules, in the order in which they come to rules.so."""
import ctypes
import gc
import shutil
import os
import sys

import reef

r = reef.load(*sys.argv[1:3])
hot = ctypes.CDLL(sys.argv[3])
hot.reef_hot_open.restype = hot.reef_hot_close.restype = ctypes.c_void_p
hot.reef_hot_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p]
hot.reef_hot_poll.argtypes = hot.reef_hot_libraries.argtypes = hot.reef_hot_close.argtypes = hot.reef_hot_text.argtypes = [ctypes.c_void_p]
hot.reef_hot_text.restype = ctypes.c_char_p
SAME, LOADED, REFUSED = 0, 1, 2


class Position(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


def put(name):
    shutil.copy(name, "aside.so")
    os.rename("aside.so", "rules.so")


def poll(wanted):
    got = hot.reef_hot_poll(code)
    assert got == wanted, (got, hot.reef_hot_text(code))


def field(e, name):
    """A field of Hunter, by the description that the type has now."""
    info, hunter = r.reef_type_info(), r.reef_type_find("Hunter")
    assert r.reef_type_get(hunter, info)
    f = next(f for f in info.fields[:info.field_count] if f.name == name)
    kind = {r.REEF_F32: ctypes.c_float, r.REEF_F64: ctypes.c_double, r.REEF_I16: ctypes.c_int16, r.REEF_U8: ctypes.c_uint8}[f.kind]
    return kind.from_address(r.reef_get_id(w, e, hunter) + f.offset).value


position = r.declare(Position)
w = r.reef_world_new(None)
put("one.so")
reason = ctypes.create_string_buffer(1024)
code = hot.reef_hot_open(w, b"./rules.so", None, reason)
assert code, reason.value
first = r.reef_type_find("Hunter")
seen = []


def move(block):
    b = block.contents
    p = reef.array(Position, r.reef_block_inout(b, position), b.count)
    for i in range(b.count):
        p[i].x += 1
    seen.append(b.count)


added = []
r.reef_system_add(w, "move", r.callback("reef_system_add.function", move), "Position")
r.reef_observer_add(w, "note", r.callback("reef_observer_add.function", lambda n: added.append(n.contents.count)), r.REEF_ON_ADD, position)
entities = []
for i in range(100):
    e = r.reef_create_entity(w)
    assert r.reef_set_id(w, e, position, ctypes.byref(Position(i, 0)), ctypes.sizeof(Position)) >= 0
    assert r.reef_add_id(w, e, first, None, None) >= 0
    entities.append(e)
q = r.reef_query_new(w, "Position, in Hunter")
assert r.reef_tick(w, 1) == r.REEF_OK and field(entities[7], b"power") == 1
gc.collect()

put("two.so")  # another number
poll(LOADED)
assert r.reef_type_find("Hunter").id == first.id and hot.reef_hot_libraries(code) == 1
assert r.reef_tick(w, 1) == r.REEF_OK and field(entities[7], b"power") == 11

snapshot = r.reef_snapshot_take(w)
put("three.so")  # another layout
poll(LOADED)
second = r.reef_type_find("Hunter")
assert second.id != first.id and not r.reef_get_id(w, entities[7], first)
assert field(entities[7], b"power") == 11 and field(entities[7], b"mood") == 0
assert r.reef_tick(w, 1) == r.REEF_OK and field(entities[7], b"power") == 111
assert r.reef_query_count(w, q) == 100 and seen == [100, 100, 100]
assert Position.from_address(r.reef_get_id(w, entities[7], position)).x == 10
assert r.reef_restore(w, snapshot) == r.REEF_OK and field(entities[7], b"power") == 11  # it has the new layout, too
r.reef_snapshot_free(snapshot)
e = r.reef_create_entity(w)
assert r.reef_set_id(w, e, position, ctypes.byref(Position(1, 0)), ctypes.sizeof(Position)) >= 0
assert sum(added) == 101  # Python's observer hears it still

put("two.so")  # mood isn't 0 any more: the library is refused, and all goes on
r.reef_system_add(w, "brood", brood := r.callback("reef_system_add.function", lambda block: None), "Position")
ctypes.c_int16.from_address(r.reef_mut_id(w, entities[7], second)).value = 3
poll(REFUSED)
assert b"would be lost: Hunter.mood: 1 values" in hot.reef_hot_text(code), hot.reef_hot_text(code)
assert r.reef_tick(w, 1) == r.REEF_OK and field(entities[7], b"power") == 111 and field(entities[7], b"mood") == 3
poll(SAME)
hot.reef_hot_close(code)
assert r.reef_tick(w, 1) == r.REEF_OK and field(entities[7], b"power") == 111  # the rules are gone, Python's system isn't
assert Position.from_address(r.reef_get_id(w, entities[7], position)).x == 11
r.reef_world_free(w)
