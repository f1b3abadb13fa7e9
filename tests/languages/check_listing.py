"""check_listing.py LISTING EXPORTED REFERENCE: the listing against the library's names, and the reference against the listing."""
import json
import os
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    listing = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    exported = set(file.read().split())
pages = {}
for name in os.listdir(sys.argv[3]):
    with open(os.path.join(sys.argv[3], name), encoding="utf-8") as file:
        pages[name] = file.read()

mistakes = []
functions = {f["name"]: f for f in listing["functions"]}
listed = {name for name, f in functions.items() if not f["inline"]}
mistakes += ["the library exports %s, which no header declares" % n for n in sorted(exported - listed)]
mistakes += ["%s is declared, and the library doesn't export it" % n for n in sorted(listed - exported)]

for f in listing["functions"]:
    if not f["comment"].strip() and not (f["internal"] and f["inline"]):
        mistakes.append("%s:%d: %s has no comment" % (f["header"], f["line"], f["name"]))
    if not all(p["name"] for p in f["parameters"]):
        mistakes.append("%s:%d: %s has a parameter without a name" % (f["header"], f["line"], f["name"]))

# What isn't exported itself is reached by something that is. A field, a list for the compiler and an initializer are no calls.
no_calls = {"reef_pin_get", "REEF_STATUSES", "REEF_FIELD"}
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

# The reference: each function in the index, and on the page of its header with signature, line and comment.
index = re.findall(r"^- \[`(\w+)`\]\((\w+\.md)#(\w+)\)", pages["index.md"], re.M)
anchors = {name: (page, anchor) for name, page, anchor in index}
for name in sorted(listed):
    f = functions[name]
    page, anchor = anchors.get(name, ("", ""))
    text = pages.get(page, "")
    entry = re.search(r"^### %s\n(.*?)(?=^### |\Z)" % name, text, re.M | re.S)
    if not entry or anchor != name.lower():
        mistakes.append("the reference has no %s" % name)
    elif f["signature"] + ";" not in entry.group(1) or "%s#L%d" % (f["header"], f["line"]) not in entry.group(1) or len(entry.group(1).split("```")[2]) < 60:
        mistakes.append("the reference says too little of %s" % name)
    elif not re.search(r"\b%s\(" % name, open(os.path.join(sys.argv[3], re.search(r"\]\(([^)]*%s)#L%d\)" % (f["header"], f["line"]), entry.group(1)).group(1)),
                                              encoding="utf-8").read().split("\n")[f["line"] - 1]):
        mistakes.append("%s: the reference leads to the wrong line" % name)
alphabetical = [name for name, _, _ in index if name in functions and (not functions[name]["internal"] or not functions[name]["inline"])]
if alphabetical != sorted(alphabetical, key=str.lower):
    mistakes.append("the index isn't in alphabetical order")
for page, text in pages.items():  # links between pages
    for target, anchor in re.findall(r"\]\((\w+\.md)#(\w+)\)", text):
        if not re.search(r'^### %s$|<a id="%s">' % (anchor, anchor), pages.get(target, ""), re.M | re.I):
            mistakes.append("%s: a link to %s#%s, which isn't there" % (page, target, anchor))

print("\n".join(mistakes) or "%d exported functions" % len(listed))
sys.exit(1 if mistakes or len(listed) < 300 else 0)
