# Run in gdb by tests/debugger/run, stopped in `stopped` of scene.c, or on a core file of that moment. $reef_expected: the file that the scene wrote.
import re

import gdb

with open(gdb.convenience_variable("reef_expected").string(), encoding="utf-8") as expected_file:
    expected = expected_file.read()
# Between the two members the compiler leaves four bytes as they are.
expected = re.sub(r"Plain  07 00 00 00( ..){4} 00 00 00 00 00 00 04 40", "Plain  {a = 7, b = 2.5}", expected)
expected = re.sub(r"\n\.\.\. and \d+ more", "", expected)
entities, _, rest = expected.partition("world: ")
tables, _, queries = ("world: " + rest).partition('\n"')
queries = ('"' + queries).splitlines()
mistakes = []


def said(command):
    return gdb.execute(command, to_string=True).rstrip("\n")


def fails(command):
    try:
        return "it works: " + said(command)
    except gdb.error as error:
        return str(error)


def same(what, got, wanted):
    if got != wanted:
        mistakes.append("%s:\n  %s\nand not\n  %s" % (what, got.replace("\n", "\n  "), wanted.replace("\n", "\n  ")))


# Entities, tables and queries are printed as reef prints them itself.
blocks = re.split(r"\n(?=entity )", entities.strip())
for block in blocks:
    same("reef print", said("reef print " + re.match(r"entity (\w+)", block).group(1)), block)
for number, text in enumerate(queries):
    same("a query", said("output queries[%d]" % number), '"%s"' % text[1:-1])

# What variables show.
alice = next(b for b in blocks if '"alice"' in b).splitlines()
shown = said("output here")
same("an entity begins", shown[:10], "{4v1 \"alic")
for line in alice[1:]:
    name, _, value = line.strip().partition("  ")
    value = value.split("  shared with")[0]
    off = " (disabled)" if name.endswith(" (disabled)") else ""
    name = name.replace(" (disabled)", "")
    if "%s%s%s" % (name, " {%s}" % value if value else "", off) not in shown:
        mistakes.append("print of an entity lacks %s: %s" % (line, shown))
same("an entity by pointer", said("reef print alice"), "\n".join(alice))
same("an entity as it is", said("output/r here"), "{index = 4, generation = 1}")
gdb.execute("up", to_string=True)
same("reef tables", said("reef tables world"), tables.strip())
if "3 worlds" not in said("reef tables"):
    mistakes.append("reef tables doesn't say that there are three worlds")
counts = tables.splitlines()[0][len("world: "):]
if not re.fullmatch(r"0x[0-9a-f]+ world 2: %s, ticks 0, time 0\.000 s" % re.escape(counts), said("output world")):
    mistakes.append("print of a world: " + said("output world"))
if "world 1: entities 0, without components 0, tables 0, names 0" not in said("output other"):
    mistakes.append("print of an empty world: " + said("output other"))
same("a query that only a fork has", said("output lent"), '"%s"' % queries[0][1:-1])
same("the world of an entity", said("reef print alice"), "\n".join(alice))
same("in another world", said("reef print alice in other"), "entity 4v1 is not alive")
same("reef tables of an empty world", said("reef tables other"), "world: entities 0, without components 0, tables 0, names 0")
if " world 1: " not in said("reef world other") or " world 1: " not in said("reef world"):
    mistakes.append("reef world doesn't choose")
gdb.execute("reef world world", to_string=True)
same("reef tables of the chosen world", said("reef tables"), tables.strip())

# What is wrong is said, and nothing is made up.
for command, part in (("reef print 77777v9", ""), ("reef print depth", "no entity"), ("reef tables depth", "no world"), ("reef print", "which entity"),
                      ("reef tables (reef_world *)0", "no world"), ("reef tables (reef_world *)&queries", "no world")):
    text = fails(command)
    wanted = "entity 77777v9 is not alive" if part == "" else part
    if wanted not in text:
        mistakes.append("%s says: %s" % (command, text))
same("a null entity", said("output *(reef_entity *)&depth_zero"), "null")
same("no world", said("output (reef_world *)0"), "NULL")
print("\n".join(mistakes) if mistakes else "gdb: %d entities, %d queries: as reef prints them" % (len(blocks), len(queries)))
