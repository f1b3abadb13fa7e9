"""The small world of small_world.c from Python: python3 small_world.py LISTING LIBRARY"""
import ctypes
import sys

import reef

r = reef.load(*sys.argv[1:3])
FISH = 1500


class Position(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Velocity(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Mass(ctypes.Structure):
    _fields_ = [("grams", ctypes.c_uint32)]


position = r.declare(Position, {"x": "m", "y": "m"})
velocity = r.declare(Velocity, {"x": "m/s", "y": "m/s"})
mass = r.declare(Mass, {"grams": "g"})
frozen = r.declare("Frozen")


def drift(block):
    """Whoever swims beyond the edge is gone."""
    b = block.contents
    p = reef.array(Position, r.reef_block_inout(b, position), b.count)
    v = reef.array(Velocity, r.reef_block_in(b, velocity), b.count)
    for i in range(b.count):
        p[i].x += v[i].x * b.dt
        p[i].y += v[i].y * b.dt
        if p[i].x > 1500:
            r.reef_cmd_destroy(b, b.entities[i])


lost = 0


def count_lost(notice):
    global lost
    lost += notice.contents.count


def show(_context, e, component, _data, size):
    print("  %dv%d has %s, %d bytes" % (e.index, e.generation, r.reef_type_name(component), size))
    return True


# A pointer to a function lives as long as its Python object. These live as long as the program.
drift_call = r.callback("reef_system_add.function", drift)
count_lost_call = r.callback("reef_observer_add.function", count_lost)
show_call = r.callback("reef_visitor", show)


def show_hash(when, w):
    print("%s: %016x" % (when, r.reef_hash(w)))


def populate(w):
    """Positions from 0 on, in a row; four speeds; every tenth is frozen."""
    fish = (r.reef_entity * FISH)()
    positions = (Position * FISH)(*((i, 0) for i in range(FISH)))
    velocities = (Velocity * FISH)(*((1, i % 4) for i in range(FISH)))
    values = (r.reef_value * 2)(
        r.reef_value(position, r.REEF_VALUE_ARRAY, ctypes.sizeof(Position), ctypes.addressof(positions)),
        r.reef_value(velocity, r.REEF_VALUE_ARRAY, ctypes.sizeof(Velocity), ctypes.addressof(velocities)))
    r.reef_spawn_many_values(w, FISH, fish, values, len(values))
    for i in range(0, FISH, 10):
        r.reef_add_id(w, fish[i], frozen, None, None)
    r.reef_set_id(w, fish[3], mass, ctypes.byref(Mass(250)), ctypes.sizeof(Mass))
    r.reef_set_name(w, fish[3], "anna")
    r.reef_remove_id(w, fish[5], velocity)
    return fish


def push(w):
    q = r.reef_query_new(w, "Position, in Velocity, !Frozen")
    b = r.reef_begin(w, q)
    while r.reef_next_block(b):
        p = reef.array(Position, r.reef_block_inout(b, position), b.count)
        v = reef.array(Velocity, r.reef_block_in(b, velocity), b.count)
        for i in range(b.count):
            p[i].x += 8 * v[i].x
        print("a block of %d" % b.count)
    print("%d match" % r.reef_query_count(w, q))
    r.reef_query_free(w, q)


def save_and_load(w):
    data = r.reef_bytes()
    copy = r.reef_world_new(None)
    r.reef_save_bytes(w, data, None)
    print("load: %s" % r.reef_status_name(r.reef_load_bytes(copy, data.data, data.size, None)))
    r.reef_bytes_free(data)
    show_hash("loaded from memory", copy)
    r.reef_world_clear(copy)
    print("save: %s" % r.reef_status_name(r.reef_save(w, "small_world.reef", None)))
    print("load: %s" % r.reef_status_name(r.reef_load(copy, "small_world.reef", None)))
    print("equal: %d" % r.reef_equal(w, copy, None))
    r.reef_world_free(copy)


def print_entity(w, e):
    """reef_print writes to a FILE * of the C library, which Python's own output doesn't know of."""
    libc = ctypes.CDLL(None)
    libc.fdopen.restype = ctypes.c_void_p
    libc.fflush.argtypes = [ctypes.c_void_p]
    sys.stdout.flush()
    file = libc.fdopen(1, b"w")
    r.reef_print(w, e, file)
    libc.fflush(file)


def main():
    w = r.reef_world_new(r.reef_world_config(seed=7))
    fish = populate(w)
    push(w)

    r.reef_observer_add(w, "count_lost", count_lost_call, r.REEF_ON_REMOVE, position)
    r.reef_system_add(w, "drift", drift_call, "Position, in Velocity; destroys")
    for _ in range(3):
        r.reef_tick(w, 0.5)
    print("%d lost, %d alive" % (lost, r.reef_count_alive(w)))

    show_hash("now", w)
    snapshot = r.reef_snapshot_take(w)
    r.reef_tick(w, 0.5)
    show_hash("a tick later", w)
    r.reef_restore(w, snapshot)
    r.reef_snapshot_free(snapshot)
    show_hash("restored", w)
    save_and_load(w)

    anna = r.reef_find(w, "anna")
    r.reef_visit_entity(w, anna, show_call, None)
    numbers = r.reef_random_of(w, 1, anna)
    print("random: %d, %d" % (r.reef_plain_random_u32(numbers), r.reef_random_range(numbers, -5, 5)))
    r.reef_destroy(w, anna)
    print("destroy again: %s" % r.reef_status_name(r.reef_destroy(w, anna)))
    text = ctypes.create_string_buffer(200)
    r.reef_error_text(w, text, len(text))
    print(text.value.decode())
    print_entity(w, fish[7])
    r.reef_world_free(w)


main()
