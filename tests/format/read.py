#!/usr/bin/env python3
"""Reads files of reef and prints who is in them: written from docs/files/file-format.md alone, to prove that it is enough.

    read.py FILE               a saved world or a journal
    read.py FILE DIFFERENCE    what becomes of it

A line for each entity, by index: its handle, its name, * if it is disabled, then its components by name; - before one that is disabled.
"""
import struct
import sys

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MAGIC = b"\x89REEF\r\n\x1a"
TABLE, BIT, SPARSE, PAGED, COLD, MULTI, SHARED, SPLIT = range(8)
KINDS = {1: "?", 2: "b", 3: "B", 4: "h", 5: "H", 6: "i", 7: "I", 8: "q", 9: "Q", 10: "f", 11: "d", 12: "s", 13: "II"}
CHUNK = 1024
NONE = 0xFFFFFFFF


class Wrong(Exception):
    pass


def need(true, what):
    if not true:
        raise Wrong(what)


def rotate(x, n):
    return (x << n | x >> 64 - n) & MASK


def xxh64(data, seed):
    size, at = len(data), 0
    if size >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while at + 32 <= size:
            for i, word in enumerate(struct.unpack_from("<4Q", data, at)):
                lanes[i] = rotate((lanes[i] + word * P2) & MASK, 31) * P1 & MASK
            at += 32
        h = sum(rotate(x, n) for x, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for x in lanes:
            h = ((h ^ rotate(x * P2 & MASK, 31) * P1 & MASK) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + size) & MASK
    while at + 8 <= size:
        word = struct.unpack_from("<Q", data, at)[0]
        h = (rotate(h ^ rotate(word * P2 & MASK, 31) * P1 & MASK, 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= size:
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    while at < size:
        h = rotate(h ^ data[at] * P5 & MASK, 11) * P1 & MASK
        at += 1
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


class Payload:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "a section is too short")
        self.at += count
        return self.data[self.at - count:self.at]

    def numbers(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def u8(self):
        return self.numbers("B")[0]

    def u16(self):
        return self.numbers("H")[0]

    def u32(self):
        return self.numbers("I")[0]

    def u64(self):
        return self.numbers("Q")[0]

    def handle(self):
        return self.numbers("II")

    def text(self):
        return self.take(self.u16()).decode()

    def values(self, type, count):
        return [self.take(type.bytes) for _ in range(count)]


class Type:
    def __init__(self, p):
        self.name, self.home, self.flags = p.text(), p.u8(), p.u8()
        self.size, self.align, self.bytes, self.base = p.numbers("IIII")
        self.fields = []
        for _ in range(p.u16()):
            name, kind = p.text(), p.u8()
            _, size = p.numbers("II")
            unit, lowest, highest = p.text(), *p.numbers("dd")
            need(kind in KINDS, "a field of an unknown kind")
            self.fields.append((name, kind, size, unit, lowest, highest))
        self.relation = p.u32() if self.flags & 8 else 0
        need(not self.flags & 8 or self.relation & 1, "a type of relations without options")
        lists = [(p.text(), p.u8(), [(p.text(), p.numbers("q")[0]) for _ in range(p.u16())]) for _ in range(p.u16() if self.flags & 16 else 0)]
        of_field = [p.u16() if self.flags & 16 else 0 for _ in self.fields]
        need(sorted(set(of_field) - {0}) == list(range(1, len(lists) + 1)), "lists of names that no field has")
        self.names = [lists[n - 1] if n else None for n in of_field]
        if self.bytes and not self.flags & 1:
            need(self.bytes == sum(f[2] for f in self.fields), "a type's bytes aren't those of its fields")

    def show(self, value):
        if not value:
            return self.name
        if self.flags & 1:
            return self.name + "{" + value.hex() + "}"
        out, at = [], 0
        for (name, kind, size, *_), names in zip(self.fields, self.names):
            out.append(name + "=" + show_field(kind, value[at:at + size], names))
            at += size
        return self.name + "{" + " ".join(out) + "}"


def show_named(number, names):
    """A value by its name; of a bit mask the names that have a bit which no name before has, and the rest."""
    _, mask, values = names
    found, left = [], number & (1 << 64) - 1
    for name, value in values:
        bits = value & (1 << 64) - 1
        if not mask and value == number:
            return name
        if mask and number & bits == bits and left & bits:
            found.append(name)
            left &= ~bits
    if mask and number == 0 and any(v == 0 for _, v in values):
        return next(n for n, v in values if v == 0)
    return "|".join(found + ([str(number if not mask else left - (1 << 64) * (left >> 63))] if left or not found else []))


def show_field(kind, data, names=None):
    if kind == 12:
        return '"' + data.split(b"\0")[0].decode() + '"'
    form = "<" + KINDS[kind]
    elements = [show_named(x[0], names) if names else show_number(kind, x) for x in struct.iter_unpack(form, data)]
    return ",".join(elements)


def show_number(kind, x):
    if kind == 13:
        return "%uv%u" % x
    if kind == 10:
        return "%.9g" % x[0]
    if kind == 11:
        return "%.17g" % x[0]
    return str(int(x[0]))


class Table:
    def __init__(self, types):
        self.types = types
        self.name = tuple(t.name for t in types)
        self.columns = [t for t in types if t.bytes]
        self.rows = [[] for _ in range(1 + len(self.columns))]

    def resize(self, rows):
        for i, column in enumerate(self.rows):
            self.rows[i] = (column + [None] * (rows - len(column)))[:rows]


class State:
    """What records describe, as far as entities and their components are concerned."""

    def __init__(self):
        self.all_types, self.all_tables = {}, {}  # by name
        self.clear()

    def file(self):
        """Types and tables are numbered anew."""
        self.types, self.tables = [], []

    def clear(self):
        for t in self.all_tables.values():
            t.resize(0)
        self.bits = {}    # (what, type, table) -> {row}
        self.packed = {}  # type -> [(handle, value)]: sparse, cold
        self.paged = {}   # type -> {index: (handle, value)}
        self.many = {}    # type -> {handle: [values]}: multi, shared
        self.names, self.idle, self.free = {}, {}, []
        self.indices = 0

    def record(self, difference):
        if not difference:
            self.clear()

    def TYPE(self, p):
        for _ in range(p.u32()):
            t = Type(p)
            need(t.base <= len(self.types), "a base that comes later")
            self.types.append(self.all_types.setdefault(t.name, t))
            need(self.types[-1].fields == t.fields, "a type that was another one")

    def TABL(self, p):
        for _ in range(p.u32()):
            t = Table([self.types[i] for i in p.numbers("%uI" % p.u32())])
            need(list(t.name) == sorted(t.name, key=str.encode), "a table's types in disorder")
            self.tables.append(self.all_tables.setdefault(t.name, t))

    def TIME(self, p):
        self.ticks, self.time, self.seed, self.version = p.numbers("QQQQ")
        self.single = p.handle()
        self.clocks = [(p.u8(), p.text(), p.u64()) for _ in range(p.u32())]
        self.systems = [(p.text(), p.u8(), p.u8(), p.u64()) for _ in range(p.u32())]

    def RESV(self, p):
        for _ in range(p.u32()):
            first, count = p.u32(), p.u32()
            self.idle.update((i, (1, 1)) for i in range(first, first + count))

    def IDS(self, p):
        self.indices, dropped, kept, self.added = p.numbers("IQQQ")
        need(dropped + kept <= len(self.free), "more ids stay free than there were")
        self.free = self.free[dropped:dropped + kept]

    def FREE(self, p):
        count = p.u32()
        self.free += [p.handle() for _ in range(count)]
        self.added -= count

    def IDLE(self, p):
        count = p.u32()
        for _ in range(count):
            e = p.handle()
            self.idle[e[0]] = (e[1], p.u8())

    def ROWS(self, p):
        table, rows, chunk, pieces = self.tables[p.u32()], p.u64(), p.u32(), p.u32()
        table.resize(rows)
        for (what, type, name), there in self.bits.items():
            if name == table.name:
                self.bits[what, type, name] = {r for r in there if r < rows}
        for _ in range(pieces):
            column, row, rows = p.numbers("III")
            split = column and table.columns[column - 1].home == SPLIT
            p.numbers("%uQ" % (len(table.columns[column - 1].fields) if split else 1))
            row += chunk * CHUNK
            need(row + rows <= len(table.rows[column]), "more rows than the table has")
            values = p.values(table.columns[column - 1], rows) if column else [p.handle() for _ in range(rows)]
            table.rows[column][row:row + rows] = values

    def BITS(self, p):
        what, type, table = p.numbers("BII")
        type = self.types[type].name if what < 2 else None
        there = self.bits.setdefault((what, type, self.tables[table].name), set())
        for _ in range(p.u32()):
            chunk, _ = p.u32(), p.u64()
            words = p.numbers("16Q")
            first = chunk * CHUNK
            there -= set(range(first, first + CHUNK))
            there |= {first + i for i in range(CHUNK) if words[i // 64] >> i % 64 & 1}

    def PAGE(self, p):
        number, page, rows, pieces = p.numbers("IIII")
        type = self.types[number]
        number, first = type.name, page * rows
        paged, packed = self.paged.setdefault(number, {}), self.packed.setdefault(number, [])
        for _ in range(pieces):
            slot, count, full, _ = p.numbers("IIBQ")
            if not full:
                packed[first + slot:] = []
                for i in range(first + slot, first + slot + count):
                    paged.pop(i, None)
                continue
            handles = [p.handle() for _ in range(count)]
            for i, (e, value) in enumerate(zip(handles, p.values(type, count)), first + slot):
                if type.home != PAGED:
                    packed[i:i + 1] = [(e, value)]
                else:
                    need(e[0] == i, "a value at another index than its entity's")
                    paged[i] = (e, value)

    def VALS(self, p):
        number, first, count = p.numbers("IBI")
        type = self.types[number]
        there = self.many.setdefault(type.name, {})
        if first:
            there.clear()
        for _ in range(count):
            if type.home == MULTI:
                e, _, values = p.handle(), p.u64(), p.u32()
                there[e] = p.values(type, values)
            else:
                holders, _ = p.u32(), p.u64()
                handles = [p.handle() for _ in range(holders)]
                value = p.take(type.bytes)
                for e in handles:
                    there[e] = [value]

    def NAME(self, p):
        for _ in range(p.u32()):
            e, text = p.handle(), p.text()
            if text:
                self.names[e] = text
            else:
                del self.names[e]
        need(len(set(self.names.values())) == len(self.names), "two entities of one name")

    def EVNT(self, p):
        number, most, head, tail, first, count = p.numbers("IQQQQI")
        need(head <= first <= tail and count == tail - first and tail - head <= most, "positions of events")
        p.values(self.types[number], count)
        for _ in range(p.u32()):
            p.text()
            need(p.u64() < tail, "a reader's position")

    def TRAK(self, p):
        number, first, count = p.numbers("III")
        need(self.types[number].flags & 4 and first + count <= self.indices, "stamps of no entity")
        p.numbers("%uQ" % (2 * count))

    def LOST(self, p):
        number, count = p.numbers("II")
        for _ in range(count):
            p.handle(), p.take(self.types[number].bytes)

    # ---- what it comes to ----

    def entities(self):
        """handle -> {component: [values]}, and who and what is disabled."""
        there, off = {}, set()
        for e in [(i, g) for i, (g, what) in self.idle.items() if what == 0]:
            there[e] = {}
        for table in self.all_tables.values():
            for row, e in enumerate(table.rows[0]):
                need(e is not None and e not in there, "a row without an entity, or one of two")
                has = there[e] = {t.name: [b""] for t in table.types}
                for column, type in enumerate(table.columns, 1):
                    need(table.rows[column][row] is not None, "a row without a value")
                    has[type.name] = [table.rows[column][row]]
                for (what, type, of), rows in self.bits.items():
                    if of != table.name or row not in rows:
                        continue
                    if what == 0:
                        has[type] = None
                    else:
                        off.add((e, type))
        self.stored(there)
        for e, has in there.items():
            for name, values in has.items():
                has[name] = [b""] if values is None else values
        return there, off

    def stored(self, there):
        for type in self.all_types.values():
            found = dict(self.packed.get(type.name, []))
            found.update(dict(self.paged.get(type.name, {}).values()))
            found = {e: [v] for e, v in found.items()}
            found.update(self.many.get(type.name, {}))
            for e, values in found.items():
                need(e in there, "a value of nobody")
                need(type.home == COLD or there[e].get(type.name, 0) is None, "a value without its bit")
                there[e][type.name] = values

    def check(self):
        there, _ = self.entities()
        free = {e[0] for e in self.free}
        idle = {i for i, (_, what) in self.idle.items() if what}
        alive = {e[0] for e in there}
        need(len(free) == len(self.free) and len(free) + len(idle) + len(alive) == self.indices, "indices that are twice or nowhere")
        need(not free & idle and not free & alive and not idle & alive, "indices in two places")

    def settle_idle(self):
        """Who has a row, or is free, isn't idle any more."""
        for table in self.all_tables.values():
            for e in table.rows[0]:
                self.idle.pop(e[0], None)
        for e in self.free:
            self.idle.pop(e[0], None)

    def show(self):
        there, off = self.entities()
        for e in sorted(there):
            line = "%uv%u" % e
            if e in self.names:
                line += ' "%s"' % self.names[e]
            if (e, None) in off:
                line += " *"
            for name in sorted(there[e], key=str.encode):
                for value in there[e][name]:
                    line += " " + ("-" if (e, name) in off else "") + self.all_types[name].show(value)
            print(line)


class File:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        need(self.data[:8] == MAGIC and len(self.data) >= 24, "this isn't a file of reef")
        version, self.flags, zero, self.chain = struct.unpack_from("<HHIQ", self.data, 8)
        need(xxh64(self.data[:16], 0) == self.chain, "the header is damaged")
        need(version == 2 and self.flags < 16 and zero == 0, "an unknown version, or flags")
        self.at = 24

    def section(self):
        need(self.at + 16 <= len(self.data), "the file ends too early")
        head = self.data[self.at:self.at + 12]
        length, check = struct.unpack_from("<QI", self.data, self.at + 4)
        h = xxh64(head, self.chain)
        need(h & NONE == check, "the head of a section is damaged")
        begin, end = self.at + 16, self.at + 16 + length
        need(end + 8 <= len(self.data), "the file ends too early")
        payload = self.data[begin:end]
        self.chain = xxh64(payload, h)
        need(struct.unpack_from("<Q", self.data, end)[0] == self.chain, "a section is damaged")
        self.at = end + 8
        return head[:4].decode(), Payload(payload)

    def records(self, state):
        number = 0
        while self.at < len(self.data):
            self.one(state, number)
            number += 1
        need(number == 1 or (number > 1 and self.flags & 1), "too many records, or none")

    def one(self, state, number):
        kind, p = self.section()
        need(kind == "RECD" and xxh64(p.data[:32], 0) == struct.unpack_from("<Q", p.data, 32)[0], "no record begins here")
        magic, count, flags, _, _, _ = p.numbers("8sQIIQQ")
        need(magic == b"REEFREC\n" and count == number, "a record with another number")
        state.record(flags & 1)
        sections = 1
        while True:
            kind, p = self.section()
            if kind == "DONE":
                need(p.u64() == sections, "sections are missing")
                break
            getattr(state, kind.strip())(p)
            need(p.at == len(p.data), "a section is too long")
            sections += 1
        state.settle_idle()
        state.check()


def main():
    state = State()
    try:
        for path in sys.argv[1:]:
            file = File(path)
            state.file()
            file.records(state)
    except Wrong as wrong:
        sys.exit("%s: %s" % (path, wrong))
    state.show()


main()
