#!/bin/sh
# costs.sh PROGRAM [deep]: what operations cost in worlds of several sizes, in instructions (row H4). PROGRAM is tests/costs/costs.c; valgrind
# counts. Prints a table, and fails where a cost grows:
#
#   all             20% and 16 instructions more are let through: a block is made now and then, and hash tables are more or less full
#   of sparse and paged types and switches   the last block that was changed is remembered, and in a small world it is often the right
#                   one, at a fifth of the cost: six times the cost of the smallest world is let through up to 100,000 entities, but no
#                   more than 350 instructions, and nothing from there on
#   get_first, has_first, absent_first   the first calls in a fork pay for an index of blocks, each a bounded part: no more than 350
#                   instructions, whatever the world
#   spawn_beside    where others of the table have switches and values outside of it, a spawn costs what it costs elsewhere
#   matches_new, observed_new   what asks about one entity pays nothing for the tables that were made since, however many match
#   iterate         a row costs the same, whatever is beside
#   tick            16 instructions for each system that is off or has nobody to run over; nothing for an unused type
#   destroy, clone and remove_all   where types of REEF_COLD are in use 60 instructions for each of them: rows don't say who has them
set -u
program=$1
depth=${2:-quick}
command -v valgrind >/dev/null 2>&1 || { echo "skipped: valgrind isn't there"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# NAME,ENTITIES,TYPES,TABLES,SYSTEMS,OUTSIDE,COLD: the first is what the others are compared with.
worlds="base,1000,10,10,0,0,0 entities_10^4,10000,10,10,0,0,0 entities_10^5,100000,10,10,0,0,0"
[ "$depth" = deep ] && worlds="$worlds entities_10^6,1000000,10,10,0,0,0"
worlds="$worlds types_10^4,1000,10000,10,0,0,0 tables_10^3,1000,10,1000,0,0,0 tables_10^4,1000,10,10000,0,0,0"
[ "$depth" = deep ] && worlds="$worlds types_60000,1000,60000,10,0,0,0"
worlds="$worlds systems_100,1000,10,10,100,0,0 outside_10^3,1000,10,10,0,1000,0 cold_100,1000,10,10,0,0,100"

for world in $worlds; do
    set -- $(echo "$world" | tr , ' ')
    rm -f "$scratch"/out*
    rows=$(valgrind -q --tool=callgrind --instr-atstart=no --collect-atstart=no --callgrind-out-file="$scratch/out" \
        "$program" "$2" "$3" "$4" "$5" "$6" "$7" 2>"$scratch/errors") || { cat "$scratch/errors"; echo "$rows"; echo "FAILED: $world"; exit 1; }
    # One file for each operation, which says its name and what it took.
    (cd "$scratch" && sed -n -e 's/^desc: Trigger: Client Request: //p' -e 's/^totals: //p' $(ls out.* | sort -t . -k 2 -n)) |
        awk -v world="$1" -v rows="$rows" \
            'NR % 2 { name = $1; next } { print world, name, $1 / (name == "iterate" ? rows : 1000) }' >>"$scratch/all"
done

awk -v depth="$depth" '
    !($1 in seen) { seen[$1] = 1; world[++worlds] = $1 }
    !($2 in known) { known[$2] = 1; operation[++operations] = $2 }
    { cost[$1, $2] = $3 }
    function grew(from, to, times) { return to > from * times + 16 }
    END {
        printf "H4: instructions for one operation; iterate: for one row\n%-14s", ""
        for (k = 1; k <= worlds; k++) printf " %13s", world[k]
        print ""
        for (i = 1; i <= operations; i++) {
            name = operation[i]
            printf "%-14s", name
            wrong = ""
            for (k = 1; k <= worlds; k++) {
                w = world[k]
                printf " %13.1f", cost[w, name]
                if (k == 1) continue
                base = cost["base", name]
                bad = 0
                if (name == "iterate") bad = cost[w, name] > base * 1.1
                else if (name ~ /_first$/) bad = cost[w, name] > 350
                else if (name == "spawn_beside") bad = grew(cost[w, "spawn"], cost[w, name], 1.2)
                else if (w == "entities_10^6") bad = grew(cost["entities_10^5", name], cost[w, name], 1.2)
                else if (w ~ /^entities/ && name ~ /switch|sparse|paged/) bad = grew(base, cost[w, name], 6) || cost[w, name] > 350
                else if (name == "tick" && w ~ /^systems/) { split(w, part, "_"); bad = cost[w, name] - base > 16 * part[2] }
                else if (name == "tick") bad = cost[w, name] > base + 4 # by where a text lies, strlen costs more
                else if (w ~ /^cold/ && name ~ /destroy|clone|remove_all/) { split(w, part, "_"); bad = cost[w, name] - base > 60 * part[2] }
                else bad = grew(base, cost[w, name], 1.2)
                if (bad) wrong = wrong " " w
            }
            print wrong == "" ? "" : "   GROWS:" wrong
            if (wrong != "") failed++
        }
        if (worlds < 9 || operations < 48) { print "FAILED: something was not counted"; exit 1 }
        if (failed) { print "FAILED: " failed " operations cost more in larger worlds"; exit 1 }
        print "ok: no cost grows with entities, types or tables"
    }' "$scratch/all"
