# reef for gdb: how entities, worlds and queries print, and the command `reef`.
#
#     (gdb) print e                   {12v1 "bob": Position {x 1 m, y 2 m}, Hungry}
#     (gdb) print w                   0x5555557a2ac0 world 1: entities 3, without components 0, tables 2, names 1, ...
#     (gdb) print q                   "Position, in Velocity"
#     (gdb) reef print e              an entity with a line for each component, as reef_print does
#     (gdb) reef tables               the tables with their rows, as reef_print_world does
#     (gdb) reef world [w]            says which world is meant, or chooses one
#
# Everything is read from memory: no function of the program is called, so a core file does as well as a process, and a program that stopped
# in the middle of a call isn't disturbed. Where members lie is read from the program itself, from its table reef_debug_layout
# (src/world/debug_layout.h), so neither debug information of reef nor the same version of it is needed.
#
# gdb loads this file together with the shared library of an installed reef; for a static one: source <prefix>/share/reef/reef-gdb.py
import re
import struct

import gdb
import gdb.printing

FORM = 3  # of the table, debug_layout.form


class Trouble(Exception):
    """What can't be read, with the reason."""


# ---- memory ----

def read_bytes(address, count):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, count))
    except gdb.error as error:
        raise Trouble("the memory at %#x can't be read" % address) from error


class Machine:
    """Sizes and byte order of the program."""

    def __init__(self):
        order = gdb.execute("show endian", to_string=True)
        self.order = ">" if "big endian" in order else "<"
        self.pointer_bytes = gdb.lookup_type("char").pointer().sizeof

    def number(self, data, signed=False):
        return int.from_bytes(data, "big" if self.order == ">" else "little", signed=signed)

    def read(self, address, size):
        return self.number(read_bytes(address, size))

    def pointer(self, address):
        return self.read(address, self.pointer_bytes)

    def text(self, address):
        if address == 0:
            return None
        found = b""
        while b"\0" not in found and len(found) < 65536:  # never across more than what may be readable
            found += read_bytes(address + len(found), 16 - (address + len(found)) % 16)
        return found.split(b"\0")[0].decode(errors="replace")


class Layout:
    """The table of the program: where members lie."""

    def __init__(self):
        self.machine = m = Machine()
        try:
            self.address = int(gdb.parse_and_eval("(unsigned long)&reef_debug_layout"))
        except gdb.error as error:
            raise Trouble("this program has no reef in it (no symbol reef_debug_layout)") from error
        if read_bytes(self.address, 8) != b"reefdbg\0":
            raise Trouble("reef_debug_layout isn't there yet: has the program started?")
        form, count = m.read(self.address + 8, 4), m.read(self.address + 12, 4)
        if form != FORM:
            raise Trouble("this reef describes itself in form %d, and this file reads form %d: use that reef's own file" % (form, FORM))
        entries = m.pointer(self.address + 16)
        name = m.pointer(self.address + 16 + m.pointer_bytes)
        self.type_pages = m.pointer(self.address + 16 + 2 * m.pointer_bytes)
        data = read_bytes(entries, 8 * count)
        self.entries, of = {}, ""
        for at in range(0, 8 * count, 8):
            text = m.text(name)
            name += len(text) + 1
            if text.startswith("."):
                text = of + text
            else:
                of = text
            self.entries[text] = (m.number(data[at:at + 4]), m.number(data[at + 4:at + 8]))

    def entry(self, name):
        if name not in self.entries:
            raise Trouble("this reef has no %s: use its own reef-gdb.py" % name)
        return self.entries[name]

    def at(self, address, member):
        """The address of a member: at(w, "reef_world.hot.number")."""
        return address + self.entry(member)[0]

    def get(self, address, member):
        """The value of a member that is a number or a pointer."""
        offset, size = self.entry(member)
        return self.machine.read(address + offset, size)

    def size(self, struct_name):
        return self.entry(struct_name)[1]

    def number(self, name):
        return self.entry(name)[0]

    def page(self, paged, number):
        """A page of a reef_paged; 0: there is none."""
        if number >= self.get(paged, "reef_paged.count"):
            return 0
        return self.machine.pointer(self.get(paged, "reef_paged.page") + number * self.machine.pointer_bytes)


known_layouts = {}


def layout():
    """Of the selected program; read once, and again when files or processes changed."""
    number = gdb.selected_inferior().num
    if number not in known_layouts:
        known_layouts[number] = Layout()
    return known_layouts[number]


def forget(_event=None):
    known_layouts.clear()
    Chosen.world = None


# ---- types and values ----

KINDS = {1: ("?", 1), 2: ("b", 1), 3: ("B", 1), 4: ("h", 2), 5: ("H", 2), 6: ("i", 4), 7: ("I", 4), 8: ("q", 8), 9: ("Q", 8), 10: ("f", 4),
         11: ("d", 8)}
KIND_CHAR, KIND_ENTITY = 12, 13
ELEMENTS_MAX = BYTES_MAX = 32
HOME_PLACE = 1  # the field of a relation that says where it stands among others


def float_text(value, single):
    """The shortest text that reads back as the same number."""
    if value != value:
        return "nan"
    for digits in range(6 if single else 15, 10 if single else 18):
        text = "%.*g" % (digits, value)
        back = float(text)
        if single and abs(back) <= 3.4028235677973362e38:  # above it a float would be infinity
            back = struct.unpack("f", struct.pack("f", back))[0]
        if back == value:
            break
    return text


def quoted(data):
    """A text in quotes, as reef prints it."""
    text = data.split(b"\0")[0].decode(errors="replace")
    found = ""
    for c in text:
        if c in '"\\':
            found += "\\" + c
        elif c in "\n\t":
            found += {"\n": "\\n", "\t": "\\t"}[c]
        elif ord(c) < 32 or ord(c) == 127:
            found += "\\x%02x" % ord(c)
        else:
            found += c
    return '"%s"' % found


class Field:
    def __init__(self, address):
        at, m = layout(), layout().machine
        self.name = m.text(at.get(address, "reef_field.name"))
        self.kind, self.offset = at.get(address, "reef_field.kind"), at.get(address, "reef_field.offset")
        self.bytes = at.get(address, "reef_field.bytes")
        self.unit = m.text(at.get(address, "reef_field.unit"))
        names = at.get(address, "reef_field.names")
        self.mask, self.names = bool(names and at.get(names, "reef_names.mask")), []
        for i in range(at.get(names, "reef_names.count") if names else 0):
            value = at.get(names, "reef_names.values") + i * at.size("reef_named_value")
            self.names.append((m.text(at.get(value, "reef_named_value.name")), at.get(value, "reef_named_value.value") & (1 << 64) - 1))

    def named(self, value):
        """As reef_names_write."""
        bits, found = value & (1 << 64) - 1, []
        left = bits
        for name, has in self.names:
            if self.mask and bits & has == has and left & has:
                found.append(name)
                left &= ~has
            elif not found and has == bits:
                return name
        if left or not found:
            found.append(str(left - (1 << 64) if left >> 63 else left))
        return "|".join(found)

    def element(self, world, data):
        if self.kind == KIND_ENTITY:
            return world.handle_text(Entity.of(data))
        letter, size = KINDS[self.kind]
        value = struct.unpack(layout().machine.order + letter, data[:size])[0]
        if self.names:
            return self.named(value)
        if letter == "?":
            return "true" if value else "false"
        return float_text(value, letter == "f") if letter in "fd" else str(value)

    def text(self, world, data):
        size = 8 if self.kind == KIND_ENTITY else 1 if self.kind == KIND_CHAR else KINDS[self.kind][1]
        data = data[self.offset:self.offset + self.bytes]
        if self.kind == KIND_CHAR:
            found = quoted(data)
        elif self.bytes > size:
            count = self.bytes // size
            found = ", ".join(self.element(world, data[i * size:]) for i in range(min(count, ELEMENTS_MAX)))
            found = "[%s%s]" % (found, ", ..." if count > ELEMENTS_MAX else "")
        else:
            found = self.element(world, data)
        return found + (" " + self.unit if self.unit else "")


class Type:
    """A component type. Types never move and never change, but fields may come later."""

    def __init__(self, address):
        at = layout()
        self.address, self.id = address, at.get(address, "type.id")
        self.name = at.machine.text(at.get(address, "type.name"))
        self.size, self.owner = at.get(address, "type.size"), at.get(address, "type.owner")
        self.bit, self.stored = at.get(address, "type.bit"), at.get(address, "type.stored")
        self.split, self.offset = at.get(address, "type.split"), at.get(address, "type.offset")
        self.relation = at.get(address, "type.relation")

    @staticmethod
    def by_id(number):
        at = layout()
        bits = at.number("TYPE_PAGE_BITS")
        if number == 0 or number > 1 << 24:
            return None
        page = at.machine.pointer(at.type_pages + ((number - 1) >> bits) * at.machine.pointer_bytes)
        address = page + ((number - 1) & ((1 << bits) - 1)) * at.size("type")
        return Type(address) if page and at.get(address, "type.id") == number else None

    def fields(self):
        at = layout()
        first, count = at.get(self.address, "type.fields"), at.get(self.address, "type.field_count")
        return [Field(first + i * at.size("reef_field")) for i in range(count if first else 0)]

    def parts(self):
        at = layout()
        first = at.get(self.address, "type.parts")
        return [Type.by_id(at.machine.read(first + 4 * i, 4)) for i in range(at.get(self.address, "type.part_count"))]

    def value_text(self, world, data, named="%s %s"):
        fields = self.fields()
        if not fields:
            return self.plain_text(data)
        shown = [f for i, f in enumerate(fields) if not (self.relation and i == HOME_PLACE)]
        return ", ".join(named % (f.name, f.text(world, data)) for f in shown)

    def plain_text(self, data):
        text = " ".join("%02x" % b for b in data[:BYTES_MAX])
        return text + (" ... (%d bytes)" % len(data) if len(data) > BYTES_MAX else "")


# ---- entities and worlds ----

class Entity:
    def __init__(self, index, generation):
        self.index, self.generation = index, generation

    @staticmethod
    def of(data):
        """Of 8 bytes."""
        number = layout().machine.number
        return Entity(number(data[:4]), number(data[4:8]))

    @staticmethod
    def of_value(value):
        return Entity(int(value["index"]), int(value["generation"]))

    def same(self, other):
        return (self.index, self.generation) == (other.index, other.generation)

    def bare(self):
        return "%dv%d" % (self.index, self.generation) if self.generation else "null"


class Table:
    def __init__(self, address):
        at = layout()
        self.shape = at.get(address, "reef_table.shape")
        chunks, last = at.get(address, "reef_table.chunks"), at.get(address, "reef_table.last")
        rows = 1 << at.number("REEF_ROW_BITS")
        self.rows = (chunks - 1) * rows + at.get(address, "reef_table.next") - last * rows if chunks else 0
        self.number = at.get(self.shape, "shape.table") if self.shape else 0

    def types(self):
        at = layout()
        ids = at.get(self.shape, "shape.component")
        return [Type.by_id(at.machine.read(ids + 4 * i, 4)) for i in range(at.get(self.shape, "shape.component_count"))]

    def columns(self):
        """Slots by the address of the type."""
        at = layout()
        columns, first = at.get(self.shape, "shape.columns"), at.number("SLOT_COLUMNS")
        slots = range(first, first + at.get(self.shape, "shape.column_count"))
        return {at.get(columns + k * at.size("column"), "column.type"): k for k in slots}


class Store:
    """Values of a type outside of the rows."""

    def __init__(self, address):
        at = layout()
        self.address = address
        self.component, self.count = at.get(address, "reef_store.component"), at.get(address, "reef_store.count")
        self.size, self.offset = at.get(address, "reef_store.size"), at.get(address, "reef_store.offset")
        self.bits = at.get(address, "reef_store.bits")
        self.paged, self.multi, self.shared = (at.get(address, "reef_store." + m) for m in ("paged", "multi", "shared"))

    def cell(self, slot):
        """The page of a slot, and the slot's number there."""
        at = layout()
        return at.page(at.at(self.address, "reef_store.values"), slot >> self.bits), slot & ((1 << self.bits) - 1)

    def find(self, entity):
        """The addresses of an entity's values."""
        at, m = layout(), layout().machine
        slot = entity.index
        if not self.paged:
            bits = at.number("REEF_INDEX_BITS")
            page = at.page(at.at(self.address, "reef_store.index"), entity.index >> bits)
            entry = m.read(page + 8 * (entity.index & ((1 << bits) - 1)), 8) if page else 0
            if entry >> 32 != entity.generation:
                return []
            slot = entry & 0xffffffff
        page, number = self.cell(slot)
        if page == 0 or self.paged and m.read(page + 4 * number, 4) != entity.generation:
            return []
        value = page + self.offset + number * self.size
        if self.shared:
            return [m.pointer(value)]
        # Behind the owners of a page of REEF_MULTI lie words: the lower half counts the values of the run that begins here.
        count = m.read(page + (8 << self.bits) + 4 * number, 4) & 0xffff if self.multi else 1
        return [value + i * self.size for i in range(count)]

    def first_holder(self, value):
        """Of a shared value: the entity with the lowest index that has it."""
        found = None
        for slot in range(min(self.count, 100000)):
            page, number = self.cell(slot)
            if layout().machine.pointer(page + self.offset + number * self.size) == value:
                e = Entity.of(read_bytes(page + 8 * number, 8))
                if found is None or e.index < found.index:
                    found = e
        return found


class World:
    def __init__(self, address):
        at = layout()
        self.address = address
        try:
            there = address != 0 and at.get(address, "reef_world.debug") == at.address
        except Trouble:
            there = False
        if not there:
            raise Trouble("there is no world at %#x" % address)
        self.number = self.get("hot.number")

    def get(self, member):
        return layout().get(self.address, "reef_world." + member)

    def at(self, member):
        return layout().at(self.address, "reef_world." + member)

    # ---- names and handles ----

    def name(self, entity):
        at, m = layout(), layout().machine
        buckets = self.get("state.name_buckets")
        if buckets == 0:
            return None
        i = (entity.index * 0x9E3779B97F4A7C15 & 0xffffffffffffffff) >> 32 & (buckets - 1)
        a_page, names_a_page = at.number("NAME_BUCKETS_PER_PAGE"), at.number("NAMES_PER_PAGE")
        for _ in range(buckets):
            page = at.page(self.at("state.name_by_index"), i // a_page)
            number = m.read(page + 4 * (i % a_page), 4) if page else 0
            if number == 0:
                return None
            entries = at.page(self.at("state.name_entries"), (number - 1) // names_a_page)
            entry = entries + (number - 1) % names_a_page * at.size("name_entry")
            if Entity.of(read_bytes(at.at(entry, "name_entry.entity"), 8)).same(entity):
                return m.text(at.at(entry, "name_entry.text"))
            i = (i + 1) & (buckets - 1)
        return None

    def handle_text(self, entity):
        name = self.name(entity) if entity.generation else None
        return entity.bare() + (" " + quoted(name.encode()) if name else "")

    # ---- where things are ----

    def place(self, entity):
        """Unit and row; None: the entity isn't alive."""
        at = layout()
        bits, row_bits = at.number("REEF_RECORD_BITS"), at.number("REEF_ROW_BITS")
        if entity.generation == 0 or entity.index >= self.get("hot.index_count"):
            return None
        page = at.page(self.at("hot.records"), entity.index >> bits)
        record = at.machine.read(page + 8 * (entity.index & ((1 << bits) - 1)), 8) if page else 0
        place = record & 0xffffffff
        if record >> 32 != entity.generation or place < 1 << row_bits:
            return None
        return place >> row_bits, place & ((1 << row_bits) - 1)

    def slots(self, unit):
        at = layout()
        bits = at.number("REEF_UNIT_BITS")
        page = at.page(self.at("hot.chunks"), unit >> bits)
        return page + (unit & ((1 << bits) - 1)) * at.number("REEF_UNIT_SLOTS") * at.size("reef_slot")

    def table(self, number):
        at = layout()
        a_page = at.number("TABLES_PER_PAGE")
        page = at.page(self.at("state.tables"), number // a_page)
        return Table(page + number % a_page * at.size("reef_table")) if page else None

    def tables(self):
        """Those with rows, without that of entities that have nothing, in the visible order."""
        at = layout()
        count = at.get(self.at("state.tables"), "reef_paged.count") * at.number("TABLES_PER_PAGE")
        found = [self.table(i) for i in range(at.number("TABLE_EMPTY"), count)]
        found = [t for t in found if t and t.shape and t.rows]
        return sorted(found, key=lambda t: [c.name.encode() for c in t.types()])

    def bit_keys(self, unit, row):
        """The keys of the bits that are on in a row."""
        at, first = layout(), self.get("state.bits")
        found = set()
        for i in range(self.get("state.bit_count")):
            store = first + i * at.size("bit_store")
            words = at.page(at.at(store, "bit_store.words"), unit)
            if words and at.machine.read(words + row // 64 * 8, 8) >> row % 64 & 1:
                found.add(at.get(store, "bit_store.key"))
        return found

    def stores(self):
        first, size = self.get("hot.stores"), layout().size("reef_store")
        return [Store(first + i * size) for i in range(1, self.get("state.store_count"))]

    # ---- components ----

    def components(self, entity):
        """(type, value or None, address, disabled, of a shared value its first holder), by the types' names. None: it isn't alive."""
        place = self.place(entity)
        if place is None:
            return None
        at, m = layout(), layout().machine
        unit, row = place
        if unit == 1:  # it has no row
            return []
        slots = self.slots(unit)
        table = self.table(at.get(slots, "reef_slot.head.table"))
        keys, columns, stores = self.bit_keys(unit, row), table.columns(), {s.component: s for s in self.stores()}
        types = [t for t in table.types() if not t.owner]
        types += [Type.by_id(k) for k in keys if not k & 0x80000000]
        types += [Type.by_id(s.component) for s in stores.values() if s.count and not Type.by_id(s.component).bit and s.find(entity)]
        found = []

        def column(t):
            return m.pointer(at.at(slots + columns[t.address] * at.size("reef_slot"), "reef_slot.block")) + row * t.size

        for t in sorted({t.id: t for t in types}.values(), key=lambda t: t.name.encode()):
            off = t.id | 0x80000000 in keys
            if t.size == 0:
                found.append((t, None, 0, off, None))
            elif t.split:
                data = bytearray(t.size)
                for part in t.parts():
                    data[part.offset:part.offset + part.size] = read_bytes(column(part), part.size)
                found.append((t, bytes(data), 0, off, None))
            elif t.stored:
                store = stores[t.id]
                for address in store.find(entity):
                    holder = store.first_holder(address) if store.shared else None
                    found.append((t, read_bytes(address, t.size), address, off, holder))
            else:
                found.append((t, read_bytes(column(t), t.size), column(t), off, None))
        return found

    def is_off(self, entity):
        place = self.place(entity)
        return place is not None and place[0] != 1 and 0x80000000 in self.bit_keys(*place)

    # ---- texts ----

    def entity_lines(self, entity):
        """As reef_print."""
        components = self.components(entity)
        head = "entity " + self.handle_text(entity)
        if components is None:
            return [head + (" is not alive" if entity.generation else "")]
        lines = [head + (" (disabled)" if self.is_off(entity) else "")]
        for t, data, address, off, holder in components:
            line = "  " + t.name + (" (disabled)" if off else "")
            if data is not None:
                line += "  " + value_text(self, t, data, address)
            if holder and not holder.same(entity):
                line += "  shared with " + self.handle_text(holder)
            lines.append(line)
        return lines

    def entity_text(self, entity):
        components = self.components(entity)
        if components is None:
            return self.handle_text(entity) + (" (not alive)" if entity.generation else "")
        texts = []
        for t, data, address, off, _ in components:
            value = "" if data is None else value_text(self, t, data, address)
            if value and value[0] != "{":  # as gdb's own structs have it
                value = "{%s}" % value
            texts.append(t.name + (" " + value if value else "") + (" (disabled)" if off else ""))
        return "{%s%s: %s}" % (self.handle_text(entity), " (disabled)" if self.is_off(entity) else "", ", ".join(texts) or "nothing")

    def counts_text(self):
        """As the first line of reef_print_world."""
        at = layout()
        count = at.get(self.at("state.tables"), "reef_paged.count") * at.number("TABLES_PER_PAGE")
        empty, rows, tables = self.get("hot.empty_count"), 0, 0
        for number in range(at.number("TABLE_EMPTY"), count):
            t = self.table(number)
            if t is None or t.shape == 0:
                continue
            if t.number == at.number("TABLE_EMPTY"):
                empty += t.rows
            else:
                rows += t.rows
                tables += t.rows != 0
        return "entities %d, without components %d, tables %d, names %d" % (rows + empty, empty, tables, self.get("state.name_count"))

    def table_lines(self):
        lines = ["world: " + self.counts_text()]
        for t in self.tables():
            types = t.types()
            if types:
                lines.append("  %d  %s" % (t.rows, ", ".join(c.name for c in types)))
        return lines

    def text(self):
        more = ", loops open %d" % self.get("locks") if self.get("locks") else ""
        more += ", paused" if self.get("paused") else ""
        return "world %d: %s, ticks %d, time %.3f s%s" % (
            self.number, self.counts_text(), self.get("state.ticks"), self.get("state.time_ns") / 1e9, more)


def value_text(world, t, data, address):
    """By the type's fields; else as gdb prints a struct of that name, where the program has one of this size."""
    if not t.fields() and address:
        try:
            known = gdb.lookup_type(t.name)
            if known.sizeof == len(data) and not t.relation:
                return gdb.Value(address).cast(known.pointer()).dereference().format_string(max_elements=16, pretty_structs=False)
        except (gdb.error, RuntimeError, TypeError):
            pass
    return t.value_text(world, data)


# ---- queries ----

IN_LIST, IN_ANY, IN_NOT = range(3)
HAS, NOT, OPTIONAL, ANY_OF, ALL_OF, NONE_OF = range(6)
INOUT, IN, OUT, WITH = range(4)
WORDS = {"access": {IN: "in", OUT: "out", INOUT: "inout", WITH: "with"}, "enabled": {1: "disabled", 2: "either"},
         "since": {1: "changed", 2: "added"}, "each": {1: "each"}}
VISITED = 255
SIGNS = [None, "==", "!=", "<", "<=", ">", ">=", "in", "&", "has"]
WITHIN = 7


def name_text(name):
    """A name, in quotes if it could be taken for something else."""
    words = [w for kinds in WORDS.values() for w in kinds.values()]
    plain = all(c.isalnum() and c.isascii() or c in "_.:<>*" or ord(c) >= 128 for c in name)
    if name and plain and name not in words and name not in ("of", "*"):
        return name
    return '"%s"' % re.sub(r'(["\\])', r"\\\1", name)


class Term:
    def __init__(self, address):
        at = layout()
        for member in ("op", "access", "enabled", "since", "count", "subtypes", "each", "self", "variable", "target_variable", "up_most",
                       "conditions"):
            setattr(self, member, at.get(address, "reef_term." + member))
        self.component, self.up = (Type.by_id(at.machine.read(at.at(address, "reef_term." + m), 4)) for m in ("component", "up"))
        self.source, self.target = (Entity.of(read_bytes(at.at(address, "reef_term." + m), 8)) for m in ("source", "target"))


class Query:
    """The text of a query, written as src/query/query_text.c writes it."""

    def __init__(self, world, query, kept):
        at = layout()
        self.world, self.next = world, 0
        if query:
            count, first = at.get(query, "reef_query_data.asked_count"), at.at(query, "reef_query_data.asked")
            plan, order = at.get(query, "reef_query_data.plan"), at.get(query, "reef_query_data.ranking")
            self.entities, self.names = at.get(query, "reef_query_data.entities"), at.at(plan, "target_plan.names") if plan else 0
        else:  # a fork has it from its origin, and didn't use it yet
            count, first = at.get(kept, "kept_query.count"), at.at(kept, "kept_query.terms")
            order = at.at(kept, "kept_query.by")
            self.entities, self.names = at.get(kept, "kept_query.entities"), at.at(kept, "kept_query.names")
        self.terms = [Term(first + i * at.size("reef_term")) for i in range(count)]
        relation = at.get(order, "ordering.relation") if order else 0
        self.cascade = Type(relation) if relation else None
        tree = at.number("REEF_EXCLUSIVE") | at.number("REEF_ACYCLIC")
        if self.cascade and self.cascade.relation & tree != tree:
            self.cascade = None

    @staticmethod
    def of(world, handle):
        at = layout()
        index = int(handle["index"])
        slot = world.get("queries") + index * at.size("query_slot")
        if index >= world.get("query_room") or any(at.get(slot, "query_slot." + m) != int(handle[m]) for m in ("generation", "world")):
            return None
        query, kept = at.get(slot, "query_slot.query"), at.get(slot, "query_slot.kept")
        return Query(world, query, kept) if query or kept else None

    def entity(self, entity):
        name = self.world.name(entity)
        return name_text(name) if name else "#%dv%d" % (entity.index, entity.generation)

    def variable(self, number):
        at = layout()
        if number == VISITED:
            return "$this"
        name = ""
        if self.names:
            name = at.machine.text(self.names + (number - 1) * (at.number("REEF_VARIABLE_NAME_MAX") + 1))
        return "$" + (name or str(number))

    def literal(self, field, address):
        at, letter = layout(), KINDS.get(field.kind, ("", 0))[0]
        kind, data = at.get(address, "reef_literal.kind"), read_bytes(at.at(address, "reef_literal.u64"), 8)
        text = at.machine.text(at.get(address, "reef_literal.text")) if kind in (0, KIND_CHAR) else ""
        if kind == 0:
            return "$" + text
        if kind == KIND_CHAR:
            return '"%s"' % re.sub(r'(["\\])', r"\\\1", text)
        if kind == KIND_ENTITY:
            return self.entity(Entity.of(data))
        value = struct.unpack(at.machine.order + KINDS[kind][0], data)[0]
        if letter in "fd":
            return float_text(float(value), letter == "f")
        if letter == "?":
            return "true" if value else "false"
        return field.named(value) if field.names else str(value)

    def condition(self, component, address):
        at = layout()
        name, compare = at.machine.text(at.get(address, "reef_condition.field")), at.get(address, "reef_condition.compare")
        plain = name.split("[")[0] if name.endswith("]") else name
        fields = {f.name: f for f in component.fields()}
        field = next(fields[n] for n in (name, "data." + name, name.rsplit("[", 1)[0], plain) if n in fields)
        text = self.literal(field, at.at(address, "reef_condition.value"))
        if compare == WITHIN:
            text += ".." + self.literal(field, at.at(address, "reef_condition.last"))
        if not all(c.isalnum() or c in "_.[]" for c in name):
            name = '"%s"' % re.sub(r'(["\\])', r"\\\1", name)
        return "%s %s %s" % (name, SIGNS[compare], text)

    def leaf(self, t, filtered):
        has_target = t.target.generation != 0
        conditions = t.count if t.conditions else 0
        between = has_target or t.variable or t.target_variable or conditions
        text = {NOT: "!", OPTIONAL: "?"}.get(t.op, "")
        usual = IN if t.up and t.component else WITH if between or not t.component else INOUT
        if t.access != usual and not filtered and t.op != NOT:
            text += WORDS["access"][t.access] + " "
        for kind in ("enabled", "since", "each"):
            word = WORDS[kind].get(getattr(t, kind))
            text += word + " " if word else ""
        text += name_text(t.component.name) if t.component else "*"
        if between:
            relation = t.component is None or t.component.relation != 0
            inside = [self.variable(t.variable)] if t.variable else []
            if t.target_variable:
                inside.append(self.variable(t.target_variable))
            elif has_target:
                inside.append(self.entity(t.target))
            elif relation and (t.variable or not conditions):
                inside.append("*")
            for i in range(conditions):
                inside.append(self.condition(t.component, t.conditions + i * layout().size("reef_condition")))
            text += "(%s)" % ", ".join(inside)
        if t.up:
            text += "%s up(%s%s)" % (" self" if t.self else "", name_text(t.up.name), ", %d" % t.up_most if t.up_most else "")
        text += "+" if t.subtypes else ""
        return text + (" of " + self.entity(t.source) if t.source.generation else "")

    def term(self, place, filtered):
        if self.next == len(self.terms):
            return ""
        t = self.terms[self.next]
        self.next += 1
        if t.op < ANY_OF:
            return self.leaf(t, filtered)
        none, everything, one = t.op == NONE_OF, t.op == ALL_OF, t.count == 1
        inner = (IN_NOT if none else place) if one else IN_LIST if everything else IN_ANY
        text = (", " if everything else " | ").join(self.term(inner, filtered or none) for _ in range(t.count))
        if not one and (t.op != ANY_OF or place != IN_LIST):
            text = "(%s)" % text
        return ("!" if none else "") + text

    def text(self):
        self.next, parts = 0, []
        while self.next < len(self.terms):
            parts.append(self.term(IN_LIST, False))
        if self.cascade:
            parts.append("cascade(%s)" % name_text(self.cascade.name))
        if self.entities:
            parts.append(WORDS["enabled"][self.entities] + " *")
        return ", ".join(parts)


# ---- which world ----

class Chosen:
    world = None  # by the command `reef world`


NESTED_MOST = 3  # how deep in structs a pointer to a world is looked for


def world_in(value, nested=0):
    """The address of a world in a variable: a pointer to one, or a struct with such a pointer (reef_block, reef::world, the program's own), or a
    pointer to such a struct. 0: there is none."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return world_in(value.referenced_value(), nested)
    if kind.code == gdb.TYPE_CODE_PTR:
        target = kind.target().unqualified().strip_typedefs()
        if target.tag == "reef_world":
            return int(value)
        if nested or target.code != gdb.TYPE_CODE_STRUCT or int(value) == 0:
            return 0
        value, kind = value.dereference(), target
    if kind.code != gdb.TYPE_CODE_STRUCT or nested == NESTED_MOST:
        return 0
    for field in kind.fields():
        if not hasattr(field, "bitpos") or not field.type:  # a static member
            continue
        code = field.type.strip_typedefs().code
        if code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_STRUCT):
            found = world_in(value[field], nested + 1)
            if found:
                return found
    return 0


def worlds_seen():
    """The worlds that the variables of the frames name, the innermost first, and then those of global variables."""
    found = []

    def add(address):
        try:
            world = World(address)
        except Trouble:
            return
        if world.address not in [w.address for w in found]:
            found.append(world)

    def add_block(block, frame):
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                try:
                    add(world_in(symbol.value(frame) if symbol.needs_frame else symbol.value()))
                except (gdb.error, TypeError):
                    pass

    if Chosen.world:
        add(Chosen.world)
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        return found
    while frame is not None:
        try:
            block = frame.block()
        except RuntimeError:
            block = None
        while block is not None:
            add_block(block, frame)
            block = block.superblock
        frame = frame.older()
    return found


def world_of_text(text):
    """The world of an expression; without one the chosen one, or the first that the frames name."""
    if text:
        address = world_in(gdb.parse_and_eval(text))
        if address == 0:
            raise Trouble("%s is no world, and has none" % text)
        return World(address)
    seen = worlds_seen()
    if not seen:
        raise Trouble("no variable here is a world: say which one with `reef world EXPRESSION`")
    return seen[0]


# ---- how values print ----

class TextPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            return self.text()
        except (Trouble, gdb.error) as trouble:
            return "%s <%s>" % (self.plain(), trouble)

    def plain(self):
        return self.value.format_string(raw=True)


class EntityPrinter(TextPrinter):
    """In the first world of the frames where it is alive."""

    def text(self):
        entity = Entity.of_value(self.value)
        worlds = worlds_seen() if entity.generation else []
        alive = [w for w in worlds if w.place(entity)]
        if alive:
            return alive[0].entity_text(entity)
        return worlds[0].entity_text(entity) if worlds else entity.bare()

    def plain(self):
        return Entity.of_value(self.value).bare()


class ComponentPrinter(TextPrinter):
    def text(self):
        found = Type.by_id(int(self.value["id"]))
        return found.name if found else "no component type"


class QueryPrinter(TextPrinter):
    """In the world whose number it has, or in a fork that has it."""

    def text(self):
        if int(self.value["generation"]) == 0:
            return "null"
        worlds = sorted(worlds_seen(), key=lambda world: world.number != int(self.value["world"]))
        for world in worlds:
            found = Query.of(world, self.value)
            if found:
                return '"%s"' % found.text()
        if worlds and worlds[0].number == int(self.value["world"]):
            return "a query that was freed"
        raise Trouble("a query of world %d, which no variable here is" % int(self.value["world"]))


class WorldPrinter(TextPrinter):
    def text(self):
        address = int(self.value) if self.value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else int(self.value.address)
        return "%#x %s" % (address, World(address).text()) if address else "NULL"

    def plain(self):
        return "%#x" % int(self.value) if self.value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else "{...}"


class BoundEntityPrinter(TextPrinter):
    """reef::entity, which knows its world."""

    def text(self):
        world, entity = int(self.value["w"]), Entity.of_value(self.value["e"])
        return World(world).entity_text(entity) if world else entity.bare()


class WorldObjectPrinter(TextPrinter):
    """reef::world and reef::world_ref."""

    def text(self):
        address = world_in(self.value)
        return World(address).text() if address else "no world"


PRINTERS = {"reef_entity": EntityPrinter, "reef_component": ComponentPrinter, "reef_query": QueryPrinter, "reef::entity": BoundEntityPrinter,
            "reef::world": WorldObjectPrinter, "reef::world_ref": WorldObjectPrinter}


class Printers(gdb.printing.PrettyPrinter):
    def __call__(self, value):
        kind = value.type.strip_typedefs().unqualified()
        if kind.code == gdb.TYPE_CODE_PTR:
            target = kind.target().unqualified().strip_typedefs()
            return WorldPrinter(value) if target.tag == "reef_world" else None
        made = PRINTERS.get(kind.tag) if kind.code == gdb.TYPE_CODE_STRUCT else None
        return made(value) if made else None


# ---- the command `reef` ----

class ReefCommand(gdb.Command):
    """What is in the worlds of reef: reef print ENTITY [in WORLD], reef tables [WORLD], reef world [WORLD]."""

    def __init__(self):
        super().__init__("reef", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class Subcommand(gdb.Command):
    def __init__(self, name):
        super().__init__("reef " + name, gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        try:
            for line in self.lines(argument.strip()):
                gdb.write(line + "\n")
        except (Trouble, gdb.error) as trouble:
            raise gdb.GdbError("reef: %s" % trouble) from trouble


class PrintCommand(Subcommand):
    """Prints an entity with its components: reef print EXPRESSION [in WORLD]. Also by index and generation, as in reef print 12v1."""

    def lines(self, argument):
        text, _, world = argument.partition(" in ")
        if not text:
            raise Trouble("which entity? reef print EXPRESSION [in WORLD]")
        handle = re.fullmatch(r"(\d+)v(\d+)", text.strip())
        if handle:
            entity = Entity(int(handle.group(1)), int(handle.group(2)))
        else:
            value = gdb.parse_and_eval(text)
            if value.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
                value = value.referenced_value()
            if value.type.strip_typedefs().tag != "reef_entity":
                raise Trouble("%s is no entity" % text)
            entity = Entity.of_value(value)
        found = world_of_text(world.strip())
        if not world and not found.place(entity):
            found = next((w for w in worlds_seen() if w.place(entity)), found)
        return found.entity_lines(entity)


class TablesCommand(Subcommand):
    """Prints the tables of a world with their rows: reef tables [WORLD]."""

    def lines(self, argument):
        world = world_of_text(argument)
        lines = world.table_lines()
        seen = 0 if argument or Chosen.world else len(worlds_seen())
        if seen > 1:
            lines.append("(the variables here name %d worlds; this is number %d. reef world EXPRESSION chooses one)" % (seen, world.number))
        return lines


class WorldCommand(Subcommand):
    """Chooses the world that entities and commands mean: reef world EXPRESSION. Without one it says which world is meant."""

    def lines(self, argument):
        world = world_of_text(argument)
        if argument:
            Chosen.world = world.address
        return ["%#x %s" % (world.address, world.text())]


def install():
    gdb.printing.register_pretty_printer(None, Printers("reef"), replace=True)
    ReefCommand()
    for name, command in (("print", PrintCommand), ("tables", TablesCommand), ("world", WorldCommand)):
        command(name)
    for event in ("new_objfile", "clear_objfiles", "exited"):
        if hasattr(gdb.events, event):
            getattr(gdb.events, event).connect(forget)


install()
