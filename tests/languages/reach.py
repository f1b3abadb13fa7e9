"""reach.py LISTING LIBRARY: what is hard to call from another language, from Python: structs with arrays, unions and functions by value,
callbacks that get structs by value, and the exported twins of what is inlined."""
import ctypes
import enum
import gc
import sys

import reef

r = reef.load(*sys.argv[1:3])


class Number(ctypes.Structure):
    _fields_ = [("value", ctypes.c_int32), ("name", ctypes.c_char * 8), ("friend", r.reef_entity), ("list", ctypes.c_uint16 * 3)]


number = r.declare(Number)
many = r.declare("Many", home=r.REEF_COLD)
w = r.reef_world_new(None)


def value(data, kind=Number):
    return kind.from_address(data)


def set_number(e, n):
    assert r.reef_set_id(w, e, number, ctypes.byref(Number(n)), ctypes.sizeof(Number)) >= 0


# Fields of all kinds, as reef understood them.
info = r.reef_type_info()
assert r.reef_type_get(number, info)
fields = [(f.name, f.kind, f.offset, f.bytes) for f in info.fields[:info.field_count]]
assert fields == [(b"value", r.REEF_I32, 0, 4), (b"name", r.REEF_CHAR, 4, 8), (b"friend", r.REEF_ENTITY, 12, 8), (b"list", r.REEF_U16, 20, 6)]
try:
    r.declare("Number")  # another type of that name
    raise SystemExit("a tag that is a struct already")
except ValueError:
    pass

# Values with names.
class Mood(enum.Enum):
    CALM, ANGRY = 0, -3


class Wants(enum.Flag):
    FOOD, SLEEP = 1, 2


class Feels(ctypes.Structure):
    _fields_ = [("mood", ctypes.c_int16 * 2), ("wants", ctypes.c_uint8)]


assert r.reef_type_get(r.declare(Feels, names={"mood": Mood, "wants": Wants}), info)
gc.collect()
names = [f.names.contents for f in info.fields[:2]]
assert [(n.name, n.mask, [(v.name, v.value) for v in n.values[:n.count]]) for n in names] == [
    (b"Mood", False, [(b"CALM", 0), (b"ANGRY", -3)]), (b"Wants", True, [(b"FOOD", 1), (b"SLEEP", 2)])]
text = ctypes.create_string_buffer(20)
assert r.reef_names_write(names[1], 3, text, 20) == 10 and text.value == b"FOOD|SLEEP"
found = ctypes.c_int64()
assert r.reef_names_read(names[0], "ANGRY", 5, found) and found.value == -3

# Structs that are answered by value: texts in them, counts, a union.
e = r.reef_create_entity(w)
set_number(e, 5)
assert r.reef_remove_id(w, e, many) == r.REEF_ABSENT
error = r.reef_last_error(w)
assert (error.status, error.operation, error.component.id, error.entity.index) == (r.REEF_ABSENT, b"reef_remove", many.id, e.index)
assert r.reef_world_stats(w).entities == 1 and r.reef_status_name(error.status) == "ABSENT"
klass = r.reef_script_class(name=b"pilot", size=4)
script = r.reef_script_make(klass, ctypes.byref(ctypes.c_int32(77)))
s = r.reef_spawn_values(w, r.reef_plain_script_value(script), 1)
assert r.reef_script_of(w, s).contents.name == b"pilot" and value(r.reef_script_data(w, s), ctypes.c_int32).value == 77

# Hooks get entities by value; a query's description holds terms; an order's key is a function.
made = []


def construct(_context, _world, entity, slot, _arguments):
    made.append(entity.index)
    value(slot).value = -1
    return r.REEF_OK


hooks = r.reef_hooks(construct=r.callback("reef_hooks.construct", construct), bytes_move=True)
hooked = r.declare(type("Hooked", (ctypes.Structure,), {"_fields_": Number._fields_}), hooks=ctypes.pointer(hooks))
assert r.reef_add_id(w, e, hooked, None, None) == r.REEF_OK and made == [e.index]
assert value(r.reef_get_id(w, e, hooked)).value == -1
desc = r.reef_query_desc()
desc.terms[0] = r.reef_term(component=number, access=r.REEF_IN)
desc.terms[1] = r.reef_term(component=hooked, op=r.REEF_NOT)
q = r.reef_query_make(w, desc)
for n in (3, -2, 9):
    set_number(r.reef_create_entity(w), n)
key = r.callback("reef_key", lambda data: r.reef_plain_key_i32(value(data).value))
assert r.reef_query_order(w, q, r.reef_order(component=number, key=key)) == r.REEF_OK
row, seen = r.reef_rows(w, q), []
while r.reef_plain_row_next(row):
    seen.append(reef.array(Number, r.reef_block_in(row.block, number), row.block.count)[row.i].value)
assert seen == [-2, 3, 9]
b, seen = r.reef_begin_loop(w, q, r.reef_loop(offset=1, limit=1)), []
while r.reef_next_block(b):
    seen += [n.value for n in reef.array(Number, r.reef_block_in(b, number), b.count)]
assert seen == [3]

# References.
ref = r.reef_plain_ref_make_id(w, e, number)
assert value(r.reef_plain_ref_get_id(w, ref)).value == 5
value(r.reef_ref_mut_as(w, ref, number)).value = 6
assert value(r.reef_get_id(w, e, number)).value == 6 and r.reef_plain_ref_is_null(r.reef_ref())

# Streams: structs with functions, by value.
saved = bytearray()


def write(_context, data, count):
    saved.extend(ctypes.string_at(data, count))
    return r.REEF_OK


def read(_context, data, count, got):
    part = bytes(saved[read.at:read.at + count])
    ctypes.memmove(data, part, len(part))
    read.at += len(part)
    got[0] = len(part)
    return r.REEF_OK


read.at = 0
writer = r.reef_writer(write=r.callback("reef_writer.write", write))
reader = r.reef_reader(read=r.callback("reef_reader.read", read))
assert r.reef_script_know(klass) == r.REEF_OK
assert r.reef_save_to(w, writer, None) == r.REEF_OK and len(saved) > 100
other = r.reef_world_new(None)
assert r.reef_load_from(other, reader, None) == r.REEF_OK
assert r.reef_equal(w, other, None) and r.reef_hash(w) == r.reef_hash(other)
r.reef_world_free(other)


# A history, events between systems, a visitor of the hash's parts.
def say(block):
    for n in range(1, 5):
        r.reef_send_id(block, number, ctypes.byref(Number(n)), ctypes.sizeof(Number))


def hear(block):
    events = r.reef_receive_id(block, number)
    while True:
        event = r.reef_plain_next_event(events)
        if not event:
            break
        hear.sum += value(event).value


def step(_context, world, tick, data, count):
    set_number(e, tick + (value(data, ctypes.c_int32).value if count else 0))
    return r.reef_tick(world, 1)


hear.sum = 0
calls = [r.callback("reef_system_desc.function", f) for f in (say, hear)]
for f, text in zip(calls, (b"; sends Number", b"; receives Number")):
    system = r.reef_system_new(w, r.reef_system_desc(name=text[2:6], function=f, text=text))
    assert not r.reef_plain_system_is_null(system)
h = r.reef_history_new(w, r.reef_history_config(ticks=10, step=r.callback("reef_step", step)))
for tick in range(3):
    assert r.reef_history_step(h, ctypes.byref(ctypes.c_int32(100)), 4) == r.REEF_OK
assert hear.sum == 30 and value(r.reef_get_id(w, e, number)).value == 102 and r.reef_history_reach(h).end == 3
assert r.reef_history_rewind(h, 1) == r.REEF_OK and value(r.reef_get_id(w, e, number)).value == 100
r.reef_history_free(h)
kinds = []
visit = r.callback("reef_hash_parts.visit", lambda _context, part: kinds.append(part.contents.kind) or True)
assert r.reef_hash_parts(w, visit, None) == r.reef_hash(w) and r.REEF_HASH_ROWS in kinds

# Relations (F4): types made at run time, relating, asking in both directions, commands, an observer of one target.
class Money(ctypes.Structure):
    _fields_ = [("coins", ctypes.c_int32)]


class Owes(ctypes.Structure):
    _fields_ = [("target", r.reef_entity), ("place", ctypes.c_uint64), ("data", Money)]


def entities(target, relation):
    sources, found = r.reef_sources_of_id(w, target, relation), []
    while r.reef_sources_next(sources):
        found += [sources.sources[i].index for i in range(sources.count)]
    return found


money = r.declare(Money)
likes = r.declare("Likes", relation=r.REEF_IS_RELATION)
docked = r.declare("DockedTo", relation=r.REEF_IS_RELATION | r.REEF_EXCLUSIVE)
owes = r.declare("Owes", relation=r.REEF_IS_RELATION, data=money)
alice, bob, moon = (r.reef_create_entity(w) for _ in range(3))
assert r.reef_relate_id(w, alice, likes, bob, None, 0) == r.REEF_ADDED and r.reef_related_id(w, alice, likes, bob)
assert r.reef_relate_id(w, moon, likes, bob, None, 0) == r.REEF_ADDED and entities(bob, likes) == [alice.index, moon.index]
assert r.reef_relate_id(w, alice, owes, bob, ctypes.byref(Money(30)), ctypes.sizeof(Money)) == r.REEF_ADDED
assert value(r.reef_relation_get_id(w, alice, owes, bob), Owes).data.coins == 30
value(r.reef_relation_mut_id(w, alice, owes, bob), Owes).data.coins = 7
n = ctypes.c_uint32()
debts = reef.array(Owes, r.reef_get_all_id(w, alice, owes, n), n.value)
assert [(d.target.index, d.data.coins) for d in debts] == [(bob.index, 7)]
told = []
hear_relations = r.callback("reef_observer_desc.function", lambda n: told.append((n.contents.kind, n.contents.entities[0].index, n.contents.targets[0].index)))
desc = r.reef_observer_desc(name=b"docks", function=hear_relations, events=r.REEF_ON_ADD | r.REEF_ON_SET, component=docked, target=moon)
assert r.reef_observer_new(w, desc).generation != 0
assert r.reef_relate_id(w, alice, docked, bob, None, 0) == r.REEF_ADDED and told == []
dock = r.callback("reef_system_add.function", lambda b: r.reef_cmd_relate_id(b, alice, docked, moon, None, 0) and None)
assert r.reef_system_add(w, b"dock", dock, b"; relates DockedTo").generation != 0 and r.reef_tick(w, 0) == r.REEF_OK
assert r.reef_target_id(w, alice, docked).index == moon.index and told == [(r.REEF_ON_SET, alice.index, moon.index)]
assert r.reef_unrelate_id(w, alice, docked, bob) == r.REEF_ABSENT and r.reef_unrelate_sources_id(w, bob, likes) == 2
message = ctypes.create_string_buffer(200)
assert r.reef_validate(w, message, len(message)) == r.REEF_OK, message.value
r.reef_world_free(w)

# Callbacks are kept, however they were made, and what they raise comes out of the call during which they ran.
w = r.reef_world_new(None)
ran = []


def adds(number):
    return lambda _block: ran.append(number)


def fails(_block):
    ran.append("fails")
    r.reef_world_stats(w)  # a call inside of the callback isn't the one that fails
    raise KeyError("the reef is on fire")


def after(_block):
    assert r.reef_tick_count(w) >= 0  # neither is one in a later system
    ran.append("after")


def raises(error, call, *arguments):
    try:
        call(*arguments)
    except error as raised:
        return raised
    raise AssertionError("nothing was raised")


for number in range(20):
    assert r.reef_system_add(w, "adds%d" % number, r.callback("reef_system_add.function", adds(number)), "").generation != 0
gc.collect()
junk = [ctypes.create_string_buffer(64) for _ in range(10000)]  # over what was freed
e = r.reef_create_entity(w)
assert r.reef_tick(w, 0) == r.REEF_OK and ran == list(range(20))
burning = r.reef_system_add(w, "fails", r.callback("reef_system_add.function", fails), "")
r.reef_system_add(w, "after", r.callback("reef_system_add.function", after), "")
assert "the reef is on fire" in str(raises(KeyError, r.reef_tick, w, 0)) and ran[-2:] == ["fails", "after"]
assert r.reef_tick_count(w) == 2 and r.reef_count_alive(w) == 1  # it is raised once
raises(KeyError, r.reef_tick, w, 0)
pool = r.reef_pool_new(r.reef_pool_config(threads=3))
assert r.reef_set_pool(w, pool) == r.REEF_OK
raises(KeyError, r.reef_tick, w, 0)  # on whatever thread it ran
assert r.reef_set_pool(w, None) == r.REEF_OK and r.reef_system_remove(w, burning) == r.REEF_OK and r.reef_tick(w, 0) == r.REEF_OK
r.reef_pool_free(pool)


def stops(*_arguments):
    raise KeyboardInterrupt


raises(KeyboardInterrupt, r.reef_visit_entities, w, r.callback("reef_visitor", stops), None)
failing = r.reef_type_desc(name=b"Failing", size=4, hooks=ctypes.pointer(r.reef_hooks(construct=r.callback("reef_hooks.construct", stops))))
failing = r.reef_type_new(failing, None)
raises(KeyboardInterrupt, r.reef_add_id, w, e, failing, None, None)
assert r.reef_last_error(w).status == r.REEF_CANCELLED and not r.reef_has_id(w, e, failing)
kept = r.callback("reef_visitor", lambda *_arguments: True)
r.drop(kept)

# Texts that aren't UTF-8, and texts that C would cut off.
assert r.reef_set_name(w, e, b"caf\xe9") == r.REEF_OK and r.reef_name(w, e) == "caf\udce9"
assert r.reef_find(w, "caf\udce9").index == e.index and r.reef_find(w, b"caf\xe9").index == e.index
raises(ctypes.ArgumentError, r.reef_set_name, w, e, "a\0b")
assert r.reef_set_name(w, e, "Ø") == r.REEF_OK and r.reef_name(w, e) == "Ø"
r.reef_world_free(w)
