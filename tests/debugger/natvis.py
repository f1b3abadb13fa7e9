"""natvis.py SOURCE: checks packaging/debugger/reef.natvis, since no Visual Studio is at hand.

Every expression in it must compile in C against the structs of src/, and name only members that src/world/debug_layout.h describes; so a
struct that changes fails here. The numbers in it that are constants of reef must be those constants."""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

source = sys.argv[1]
compiler = os.environ.get("CC", "cc")
HEADERS = ("world/debug_layout.h", "storage/name_index.h", "storage/world_data.h", "query/query.h", "type/type.h", "reef/query.h")
CONSTANTS = ("TYPES_PER_PAGE == 64", "TABLES_PER_PAGE == 64", "1 << REEF_ROW_BITS == 1024", "TABLE_EMPTY == 1")
PUBLIC = {"reef_entity": ["index", "generation"], "reef_component": ["id"], "reef_query": ["index", "generation", "world"]}
mistakes, lines = [], []

with open(os.path.join(source, "src/world/debug_layout.h"), encoding="utf-8") as file:
    described = dict(PUBLIC)
    for struct, member in re.findall(r"\b[MA]\((\w+), ([\w.]+)\)", file.read()):
        described.setdefault(struct, []).append(member)


def in_c(struct, expression):
    """With self-> before the members; says which ones aren't described."""
    expression = re.sub(r",\w+$", "", expression.replace("$i", "i"))  # without a format such as sb

    def member(found):
        path = found.group()
        if path.split(".")[0] in ("i", "reef__type_pages", "reef_table"):
            return path
        known = described.get(struct, [])
        if not any(m == path or m.startswith(path + ".") or path.startswith(m + ".") for m in known):
            mistakes.append("%s.%s is used, and src/world/debug_layout.h doesn't describe it" % (struct, path))
        return "self->" + path
    # Names that begin a path: not behind . or ->, and not numbers.
    return re.sub(r"(?<![\w.>])[A-Za-z_]\w*(?:\.\w+)*", member, expression)


def expressions(node):
    tag = node.tag.split("}")[1]
    for name in ("Condition", "InitialValue"):
        if name in node.attrib:
            yield node.attrib[name]
    if tag == "DisplayString":
        yield from re.findall(r"\{(.*?)\}", node.text)
    elif tag in ("Item", "Size", "ValuePointer", "ValueNode", "Exec"):
        yield node.text.strip()
        yield from re.findall(r"\{(.*?)\}", node.attrib.get("Name", ""))
    for inner in node:
        yield from expressions(inner)


for kind in xml.etree.ElementTree.parse(os.path.join(source, "packaging/debugger/reef.natvis")).getroot():
    struct = kind.attrib["Name"]
    tag = "struct reef_query_data" if struct == "reef_query_data" else struct
    if struct not in described:
        mistakes.append("%s isn't described in src/world/debug_layout.h" % struct)
    body = ["    (void)(%s);" % in_c(struct, e) for e in expressions(kind)]
    lines += ["static void of_%s(const %s *self)" % (struct, tag), "{", "    uint32_t i = 0;", *body, "    (void)i;", "}"]
    lines.append("void (*use_%s)(const %s *) = of_%s;" % (struct, tag, struct))

text = "".join('#include "%s"\n' % h for h in HEADERS) + "".join('_Static_assert(%s, "a number in reef.natvis");\n' % c for c in CONSTANTS)
with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
    file.write(text + "\n".join(lines) + "\n")
    file.flush()
    done = subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I", source + "/src", "-I", source + "/include", file.name],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        mistakes.append(done.stderr.decode())
print("\n".join(mistakes) if mistakes else "natvis: %d expressions" % sum(line.startswith("    (void)(") for line in lines))
sys.exit(bool(mistakes))
