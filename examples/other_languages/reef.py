"""reef from Python, by ctypes: every function, type and constant under its C name.

    import reef
    r = reef.load("reef-api.json", "libreef.so")     # the output of the build target `listing`, and the shared library
    w = r.reef_world_new(None)
    ...
    r.reef_world_free(w)

Structs are ctypes.Structure classes, passed and returned by value as in C; where C takes a pointer to one, give the struct, ctypes.byref
of it, an array, or None. Texts are str as parameters and results of functions, and bytes in the fields of structs. Bytes that aren't UTF-8
become surrogates in a str, as in the names of files, and the same bytes again on the way back. A field whose name is a keyword of Python is
read by getattr(change, "is"). docs/manual/other-languages.md has the rules.

What a callback raises can't pass through C. It is raised again by the call during which the callback ran, when that returns.
"""
import ctypes
import enum
import json
import re
import threading
import types

_NUMBERS = {
    "void": None, "bool": ctypes.c_bool, "char": ctypes.c_char, "int": ctypes.c_int, "float": ctypes.c_float, "double": ctypes.c_double,
    "size_t": ctypes.c_size_t, "int8_t": ctypes.c_int8, "uint8_t": ctypes.c_uint8, "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
}
_KINDS = {  # reef_kind of a field's C type
    ctypes.c_bool: "REEF_BOOL", ctypes.c_int8: "REEF_I8", ctypes.c_uint8: "REEF_U8", ctypes.c_int16: "REEF_I16",
    ctypes.c_uint16: "REEF_U16", ctypes.c_int32: "REEF_I32", ctypes.c_uint32: "REEF_U32", ctypes.c_int64: "REEF_I64",
    ctypes.c_uint64: "REEF_U64", ctypes.c_float: "REEF_F32", ctypes.c_double: "REEF_F64", ctypes.c_char: "REEF_CHAR",
}


def _encoded(text):
    if "\0" in text:
        raise ValueError("a text for C ends at its first zero, and this one goes on: %r" % text)
    return text.encode("utf-8", "surrogateescape")


class Text(ctypes.c_char_p):
    """A const char * that takes str."""

    @classmethod
    def from_param(cls, value):
        return ctypes.c_char_p.from_param(_encoded(value) if isinstance(value, str) else value)


def _decoded(answer):
    return answer.decode("utf-8", "surrogateescape") if isinstance(answer, bytes) else answer


class Reef(types.SimpleNamespace):
    """What load returns."""

    def _c_type(self, text):
        """The ctypes type of a C type as the listing writes it."""
        text = text.strip()
        function = re.fullmatch(r"(.*?)\(\*\)\((.*)\)", text)
        if function:
            parameters = function.group(2) if function.group(2) != "void" else ""
            return self._function_type({"returns": function.group(1), "parameters": [p for p in parameters.split(",") if p]})
        array = re.fullmatch(r"(.*?)\[(\d+)\]((?:\[\d+\])*)", text)
        if array:
            return self._c_type(array.group(1) + array.group(3)) * int(array.group(2))
        if text.endswith("*") or text.endswith("*const"):
            base = re.sub(r"\*(const)?$", "", text).strip()
            if base == "const char":
                return ctypes.c_char_p
            target = self._c_type(base)
            return ctypes.c_void_p if target is None else ctypes.POINTER(target)
        name = re.sub(r"\b(const|struct|union|enum)\b", "", text).strip()
        if name in _NUMBERS:
            return _NUMBERS[name]
        return self._types.get(name)  # None: a type of reef's own, which is only used by pointer

    def _function_type(self, entry):
        return ctypes.CFUNCTYPE(self._c_type(entry["returns"]), *(self._c_type(p) for p in entry["parameters"]))

    def _value_type(self, entry):
        return self._function_type(entry["function"]) if "function" in entry else self._c_type(entry["type"])

    def _set_fields(self, record, fields):
        listed, anonymous = [], []
        for field in fields:
            if field["name"]:
                listed.append((field["name"], self._value_type(field)))
                continue
            inner = type("anonymous", (ctypes.Union if field["type"] == "union" else ctypes.Structure,), {})
            self._set_fields(inner, field["fields"])
            anonymous.append("anonymous_%d" % len(anonymous))
            listed.append((anonymous[-1], inner))
        record._anonymous_ = anonymous
        record._fields_ = listed

    def _add_types(self, listing):
        shown = [t for t in listing["types"] if not t["internal"]]
        for entry in shown:
            name, kind = entry["name"], entry["kind"]
            if kind == "enum":
                self._types[name] = ctypes.c_int
                for value in entry["values"]:
                    setattr(self, value["name"], value["value"])
            elif kind != "function":
                self._types[name] = type(name, (ctypes.Union if kind == "union" else ctypes.Structure,), {})
        for entry in shown:
            if entry["kind"] == "function":
                self._types[entry["name"]] = self._function_type(entry)
            elif entry["kind"] in ("struct", "union"):
                self._set_fields(self._types[entry["name"]], entry["fields"])
        for name, made in self._types.items():
            setattr(self, name, made)

    def _add_functions(self, listing, library):
        for entry in listing["functions"]:
            if entry["inline"] or entry["internal"]:
                continue
            function = getattr(library, entry["name"])
            function.argtypes = [Text if p["type"] == "const char *" else self._value_type(p) for p in entry["parameters"]]
            function.restype = self._c_type(entry["returns"])
            if function.restype is ctypes.c_char_p:
                function.errcheck = lambda answer, _function, _arguments: _decoded(answer)
            setattr(self, entry["name"], function)
            self._functions.append(function)

    def _returned(self, answer, _function, _arguments):
        """Behind each call, once there are callbacks: raises what a callback raised during this call, and not during one around it."""
        if self._raised and self._raised[0][0] == getattr(self._thread, "inside", 0):
            with self._lock:
                first = self._raised[0][1] if self._raised else None
                self._raised.clear()
            if first is not None:
                raise first
        return _decoded(answer)

    def callback(self, place, function):
        """A Python function as a pointer to a C function: of the type `place`, or of the field or parameter "owner.name", as in
        callback("reef_system_desc.function", move). It is kept until `drop` is called with it.

        If the function raises an exception, it returns False, 0, None or REEF_CANCELLED to reef, which goes on; the call during which it
        ran raises the exception when it returns. Of several exceptions it is the first. On a thread of a pool, it is the call of the
        thread that ticks."""
        made, returns = self._callbacks[place]
        failure = {"void": None, "bool": False, "reef_status": self.REEF_CANCELLED}.get(returns, None if "*" in returns else 0)

        def run(*arguments):
            inside = getattr(self._thread, "inside", 0)
            self._thread.inside = inside + 1
            try:
                return function(*arguments)
            except BaseException as error:  # whatever it is: it can't pass through C
                with self._lock:
                    self._raised.append((inside, error))
                return failure
            finally:
                self._thread.inside = inside

        if not self._kept:
            for call in self._functions:
                call.errcheck = self._returned
        pointer = made(run)
        self._kept[ctypes.cast(pointer, ctypes.c_void_p).value] = pointer
        return pointer

    def drop(self, pointer):
        """Forgets a pointer that `callback` has made. reef must never call it again: what uses it was removed in all worlds and forks."""
        del self._kept[ctypes.cast(pointer, ctypes.c_void_p).value]

    def names(self, kind):
        """The reef_names of an enum.Enum; of an enum.Flag those of a bit mask."""
        values = [self.reef_named_value(_encoded(name), member.value) for name, member in kind.__members__.items()]
        return self.reef_names(name=_encoded(kind.__name__), values=(self.reef_named_value * len(values))(*values), count=len(values),
                               mask=issubclass(kind, enum.Flag))

    def declare(self, structure, units=None, names=None, **more):
        """Makes a component type of a ctypes.Structure, with its fields; of a str a tag. By the field's name: `units`, and in `names` the
        enum.Enum or enum.Flag of its values. `more`: other fields of reef_type_desc. Answers the reef_component."""
        desc = self.reef_type_desc(name=_encoded(structure if isinstance(structure, str) else structure.__name__), **more)
        if not isinstance(structure, str):
            fields = (self.reef_field * len(structure._fields_))()
            for field, (name, kind) in zip(fields, structure._fields_):
                place, element = getattr(structure, name), getattr(kind, "_type_", kind)
                element = element if isinstance(element, type) else kind
                field.name, field.offset, field.bytes = _encoded(name), place.offset, place.size
                field.kind = self.REEF_ENTITY if element is self.reef_entity else getattr(self, _KINDS[element])
                field.unit = _encoded((units or {}).get(name, "")) or None
                if name in (names or {}):
                    field.names = ctypes.pointer(self.names(names[name]))
            desc.size, desc.align = ctypes.sizeof(structure), ctypes.alignment(structure)
            desc.fields, desc.field_count = fields, len(fields)
        status = ctypes.c_int()
        made = self.reef_type_new(desc, status)
        if made.id == 0:
            raise ValueError("%s: %s" % (_decoded(desc.name), self.reef_status_text(status.value)))
        return made


def array(kind, address, count):
    """The `count` values at an address that reef gave, without a copy: array(Position, r.reef_block_inout(b, position), b.count). It
    is valid as long as the pointer; None for NULL."""
    return (kind * count).from_address(address) if address else None


def load(listing, library):
    """The interface of a shared library, by the listing of the same version."""
    with open(listing, encoding="utf-8") as file:
        listing = json.load(file)
    if listing["listing"] != 1 or listing["pointer_bytes"] != ctypes.sizeof(ctypes.c_void_p):
        raise ValueError("the listing is of another form, or of another kind of machine")
    r = Reef(_types={}, _callbacks={}, _functions=[], _kept={}, _raised=[], _lock=threading.Lock(), _thread=threading.local())
    r._add_types(listing)
    for constant in listing["constants"]:
        setattr(r, constant["name"], constant["value"])
    for owner in [*listing["types"], *listing["functions"]]:
        if owner.get("kind") == "function" and not owner["internal"]:
            r._callbacks[owner["name"]] = r._types[owner["name"]], owner["returns"]
        for part in [*owner.get("fields", ()), *owner.get("parameters", ())]:
            if isinstance(part, dict) and "function" in part:
                r._callbacks[owner["name"] + "." + part["name"]] = r._value_type(part), part["function"]["returns"]
    r._add_functions(listing, ctypes.CDLL(library))
    return r
