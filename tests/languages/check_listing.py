"""check_listing.py LISTING EXPORTED REFERENCE: the listing against the library's names, and the reference against the listing."""
import json
import os
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    listing = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    exported = set(file.read().split())
DEBUGGERS = "reef_debug_layout"  # no header declares it, since it is for debuggers alone (src/world/debug_layout.h)
pages = {}
for name in os.listdir(sys.argv[3]):
    with open(os.path.join(sys.argv[3], name), encoding="utf-8") as file:
        pages[name] = file.read()

mistakes = [] if DEBUGGERS in exported else ["the library doesn't export " + DEBUGGERS]
exported.discard(DEBUGGERS)
functions = {f["name"]: f for f in listing["functions"]}
listed = {name for name, f in functions.items() if not f["inline"]}
mistakes += ["the library exports %s, which no header declares" % n for n in sorted(exported - listed)]
mistakes += ["%s is declared, and the library doesn't export it" % n for n in sorted(listed - exported)]

for e in [*listing["functions"], *listing["types"], *listing["macros"], *listing["constants"]]:
    if not e["comment"].strip() and (not e["internal"] or e["name"] in exported):
        mistakes.append("%s:%d: %s has no comment" % (e["header"], e["line"], e["name"]))
for f in listing["functions"]:
    if not all(p["name"] for p in f["parameters"]):
        mistakes.append("%s:%d: %s has a parameter without a name" % (f["header"], f["line"], f["name"]))

# What isn't exported itself is reached by something that is. Fields, names, lists for the compiler and an initializer are no calls, and what
# declares a place or an index before main does so by calls of its own.
no_calls = {"reef_pin_get", "REEF_STATUSES", "REEF_FIELDS_OF", "REEF_STRUCT", "REEF_ENUM", "REEF_MASK", "REEF_MODULE_TYPES", "REEF_PLACE",
            "REEF_PLACE_3D", "REEF_INDEX", "REEF_FIELD_WAS"}
for entry in [*listing["functions"], *listing["macros"]]:
    if entry["internal"] or not entry.get("inline", True) or entry["name"] in no_calls:
        continue
    if not entry["plain"]:
        mistakes.append("%s:%d: nothing that is exported does what %s does" % (entry["header"], entry["line"], entry["name"]))
    for name in entry["plain"]:
        if name not in exported or functions[name]["internal"]:
            mistakes.append("%s: %s isn't there for others" % (entry["name"], name))
        twin = functions[name] if name.startswith("reef_plain_") and "signature" in entry else None
        if twin and name == entry["name"].replace("reef_", "reef_plain_", 1):
            types = [[p["type"] for p in f["parameters"]] + [f["returns"]] for f in (entry, twin)]
            if types[0] != types[1]:
                mistakes.append("%s and %s have other parameters" % (entry["name"], name))

# The reference: each function in the index, and on the page of its header with signature, comment and a link to its line.
index = {name: (page, anchor) for name, page, anchor in re.findall(r"^- \[`(\w+)`\]\(([\w-]+\.md)#([\w-]+)\)", pages["index.md"], re.M)}


def line_of(link):
    path, number = link.split("#L")
    with open(os.path.join(sys.argv[3], path), encoding="utf-8") as header:
        return header.read().split("\n")[int(number) - 1]


for name in sorted(listed):
    f = functions[name]
    if name.endswith("_"):  # for macros and inlined functions alone
        if name in index or re.search(r"^### %s$" % name, "\n".join(pages.values()), re.M):
            mistakes.append("the reference shows %s, which is reef's own" % name)
        continue
    page = index.get(name, ("", ""))[0]
    entry = re.search(r"^### %s\n(.*?)(?=^### |\Z)" % name, pages.get(page, ""), re.M | re.S)
    link = re.search(r"\]\(([^)]*/include/%s#L%d)\)" % (f["header"], f["line"]), entry.group(1)) if entry else None
    if not link or f["signature"] + ";" not in entry.group(1) or len(entry.group(1).split("```")[2]) < 60:
        mistakes.append("the reference says too little of %s" % name)
    elif not re.search(r"\b%s\(" % name, line_of(link.group(1))):
        mistakes.append("the reference leads to another line than that of %s" % name)
alphabetical = [name for name in index if name in functions]
if alphabetical != sorted(alphabetical, key=str.lower):
    mistakes.append("the index isn't in alphabetical order")

# Links between pages, by the anchors that headings get: of two equal ones the second ends in -1.
anchors = {}
for page, text in pages.items():
    anchors[page] = set(re.findall(r'<a id="(\w+)">', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        anchor = number = re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")
        count = 0
        while number in anchors[page]:
            count += 1
            number = "%s-%d" % (anchor, count)
        anchors[page].add(number)
for page, text in pages.items():
    for target, anchor in re.findall(r"\]\((\w+\.md)(?:#([\w-]+))?\)", text):
        if target not in pages or (anchor and anchor not in anchors[target]):
            mistakes.append("%s: a link to %s#%s, which isn't there" % (page, target, anchor))

print("\n".join(mistakes) or "%d exported functions" % len(listed))
sys.exit(1 if mistakes or len(listed) < 300 else 0)
