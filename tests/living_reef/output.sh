#!/bin/sh
# output.sh PROGRAM ROOT: options, files and exit status of the living reef, also where things go wrong.
set -u
program=$1
root=$2
table=$root/examples/living_reef/species.csv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

fail()
{
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# ends STATUS PATTERN ARGUMENT ...: runs a small sea; its errors must match the pattern
ends()
{
    wanted=$1
    pattern=$2
    shift 2
    "$program" --species "$table" --size 32 --ticks 30 "$@" >"$scratch/said" 2>"$scratch/errors"
    status=$?
    [ $status -eq "$wanted" ] || fail "$*: status $status, not $wanted: $(cat "$scratch/errors")"
    [ -z "$pattern" ] || grep -q -- "$pattern" "$scratch/errors" || fail "$*: no \"$pattern\" in: $(cat "$scratch/errors")"
}

# ---- options ----
for bad in '--size 31' '--size 14' '--size 4098' '--size' '--size x' '--size -2' '--ticks 0' '--ticks 1e3' '--ticks 10000001' \
    '--fish 9' '--seed -1' '--seed 18446744073709551616' '--leak-test 0' '--threads 0' '--threads 65' '--species' '--out' '--deep' 'sea'; do
    # shellcheck disable=SC2086 # an option and its value
    ends 2 'living_reef: .*\(expected\|unknown option\)' --out "$scratch/none" $bad
    [ ! -e "$scratch/none" ] || fail "$bad: something was written"
done
ends 2 'at most 128000 fish' --out "$scratch/none" --fish 128001
[ ! -e "$scratch/none" ] || fail 'too many fish: something was written'
"$program" --help >"$scratch/help" 2>"$scratch/errors" || fail "--help ended with $?"
for word in --species --size --fish --seed --ticks --out --one-future --threads --quiet --leak-test sqrt conserved; do
    grep -q -e "$word" "$scratch/help" || fail "--help doesn't speak of $word"
done

# ---- a run ----
ends 0 'tick 30 of 30' --out "$scratch/run"
grep -q 'ticks/s' "$scratch/said" && grep -q 'structural changes' "$scratch/said" && grep -q 'Eviota sigillata' "$scratch/said" ||
    fail "no closing table: $(cat "$scratch/said")"
[ "$(ls -A "$scratch/run")" = "$(printf 'living_reef.svg\npopulations.csv')" ] || fail "files: $(ls -A "$scratch/run")"
[ "$(awk -F, 'NR > 1 { printf "%s ", $1 }' "$scratch/run/populations.csv")" = '0 10 15 20 30 15 20 30 ' ] || fail 'samples of the ticks'
grep -q 'tick 15: the world is forked, and one future goes on without the .* (Carcharhinus melanopterus)' "$scratch/errors" ||
    fail "the fork isn't reported"
grep -q 'Carcharhinus melanopterus .* 0  taken out$' "$scratch/said" && grep -q 'time of the fork .* us$' "$scratch/said" ||
    fail "no fork in the closing table: $(cat "$scratch/said")"
ends 0 '' --out "$scratch/quiet" --quiet --ticks 25
[ ! -s "$scratch/said" ] && [ ! -s "$scratch/errors" ] || fail '--quiet spoke'
[ "$(awk -F, 'END { print $1 }' "$scratch/quiet/populations.csv")" = 25 ] || fail 'no sample of the last tick'
ends 0 '' --out "$scratch/one" --quiet --ticks 1
ends 0 '' --out "$scratch/scaled" --quiet --fish 2000
start=$(awk -F, 'NR == 2 { print $3 }' "$scratch/scaled/populations.csv")
[ "$start" -ge 1980 ] && [ "$start" -le 2020 ] || fail "--fish 2000 starts with $start"
ends 0 '' --out "$scratch/seed" --quiet --seed 18446744073709551615
(LC_ALL=de_DE.UTF-8 "$program" --species "$table" --size 32 --ticks 30 --quiet --out "$scratch/locale")
cmp "$scratch/run/living_reef.svg" "$scratch/locale/living_reef.svg" || fail 'the locale shows in the picture'
if grep -l -e "$scratch" -e "$(date +%Y-)" "$scratch/run/living_reef.svg" "$scratch/run/populations.csv"; then
    fail 'a path or a date is in the files'
fi

# ---- two futures ----
# futures FILE: the column of that name, in order
futures()
{
    awk -F, 'NR > 1 { printf "%s ", $2 }' "$1"
}
[ "$(futures "$scratch/run/populations.csv")" = 'both both both with with without without without ' ] || fail 'futures'
[ "$(futures "$scratch/one/populations.csv")" = 'both with without without ' ] || fail 'futures of one tick'
for key in 'class="curve without"' 'fork at tick 15<' 'At the end, without'; do
    grep -q "$key" "$scratch/run/living_reef.svg" || fail "the picture has no $key"
done
# At the moment of the fork a species dies, its energy is detritus, and all else is as it was. Later the futures differ, also in
# other species; the energy is the same in all lines.
awk -F, -v removed='Carcharhinus melanopterus' '
NR == 1 { for (i = 1; i <= NF; i++) { column[$i] = i; name[i] = $i } first = column["fish_energy"] + 1; next }
{
    energy = 0
    for (i = column["nutrients_energy"]; i < first; i++) energy += $i
    if (NR == 2) all = energy
    if (energy != all) { print "line " NR ": the energy is " energy ", not " all; bad = 1 }
    gone = $column["future"] == "without"
    if (gone != ($column[removed] == 0)) { print "line " NR ": " $column[removed] " " removed; bad = 1 }
    if (gone && !seen) {
        died = both[column[removed]]
        body = both[column["fish_energy"]] - $column["fish_energy"]
        change[column["fish"]] = -died
        change[column["died"]] = died
        change[column["fish_energy"]] = -body
        change[column["detritus_energy"]] = body
        change[column[removed]] = -died
        for (i = column["fish"]; i <= NF; i++)
            if ($i != both[i] + change[i]) {
                print "the fork: " $i " instead of " both[i] + change[i] " in " name[i]
                bad = 1
            }
        if (died < 1 || body < 1) { print "nobody was taken out"; bad = 1 }
        seen = 1
    }
    if ($column["future"] == "both") for (i = 1; i <= NF; i++) both[i] = $i
    if ($column["future"] == "with") for (i = 1; i <= NF; i++) with[i] = $i
    if (gone && $1 == 30)
        for (i = first; i <= NF; i++) if (name[i] != removed && $i != with[i]) differs = 1
}
END { if (!seen || !differs) { print "the futures are the same"; bad = 1 } exit bad }' "$scratch/run/populations.csv" ||
    fail 'the two futures'

ends 0 '' --out "$scratch/only" --one-future
cut -d, -f1,3- "$scratch/only/populations.csv" >"$scratch/only.csv"
awk -F, 'NR == 1 || $2 != "without"' "$scratch/run/populations.csv" | cut -d, -f1,3- | cmp - "$scratch/only.csv" ||
    fail 'the fork changes the future that it leaves alone'
[ "$(futures "$scratch/only/populations.csv")" = 'only only only only only ' ] || fail 'futures of --one-future'
if grep -q -e 'forked' -e 'fork at' -e 'the fork' -e 'curve without' "$scratch/said" "$scratch/errors" \
    "$scratch/only/living_reef.svg"; then
    fail '--one-future speaks of a fork'
fi
for threads in 1 64; do
    ends 0 '' --out "$scratch/threads" --threads $threads
    for file in populations.csv living_reef.svg; do
        cmp "$scratch/run/$file" "$scratch/threads/$file" || fail "--threads $threads gives another $file"
    done
done
# The largest of those that eat others, wherever it stands; a larger one that eats none stays.
{
    grep -v '^#' "$table" | head -n 1
    echo 'Big hunter,Big,4.0,0.9,0.5,10,10,2,Small hunter; Huge grazer,20'
    echo 'Huge grazer,Huge,2.0,2.5,0.5,10,10,2,algae,100'
    echo 'Small hunter,Small,3.0,0.5,0.5,10,10,2,Huge grazer,30'
} >"$scratch/hunters.csv"
ends 0 'without the Big (Big hunter)$' --out "$scratch/hunters" --species "$scratch/hunters.csv" --fish 400
grep -q '^Big .* Big hunter .* 0  taken out$' "$scratch/said" || fail "the largest hunter is still there: $(cat "$scratch/said")"

# Where the species has died out before the fork, nothing is taken out: the futures must be the same in everything.
{
    grep -v '^#' "$table"
    echo 'Short life,Mayfly,4.0,3.0,0.1,0.01,100,1,Lutjanus bohar,2'
} >"$scratch/mayfly.csv"
ends 0 'without the .* (Short life)$' --out "$scratch/mayfly" --species "$scratch/mayfly.csv" --size 48 --ticks 200
for future in with without; do
    awk -F, -v future=$future '$2 == future && $1 > 100' "$scratch/mayfly/populations.csv" | cut -d, -f1,3- \
        >"$scratch/$future.csv"
done
[ "$(awk -F, '$1 == 100 && $NF == 0' "$scratch/mayfly/populations.csv" | wc -l)" -eq 2 ] || fail 'the hunter still lives at the fork'
[ "$(wc -l <"$scratch/with.csv")" -eq 10 ] || fail 'lines after the fork'
cmp "$scratch/with.csv" "$scratch/without.csv" || fail 'the fork is not the same as the world that it came from'

# ---- the picture is well-formed, for few and for many species ----
well_formed()
{
    command -v xmllint >/dev/null || return 0
    xmllint --noout "$1" || fail "$1 is not well-formed"
}
well_formed "$scratch/run/living_reef.svg"
well_formed "$scratch/only/living_reef.svg"
well_formed "$scratch/one/living_reef.svg"
grep -v '^#' "$table" | head -n 2 | sed 's/2,detritus; plankton/2,plankton/' >"$scratch/lonely.csv"
ends 0 '' --out "$scratch/lonely" --species "$scratch/lonely.csv"
well_formed "$scratch/lonely/living_reef.svg"
[ "$(futures "$scratch/lonely/populations.csv")" = 'only only only only only ' ] || fail 'a species alone has two futures'
{
    grep -v '^#' "$table" | head -n 1
    awk 'BEGIN { for (i = 0; i < 64; i++) printf "Species %d,Fish %d,2.0,0.1,0.1,1,10,2,algae,40\n", i, i }'
} >"$scratch/many.csv"
ends 0 '' --out "$scratch/many" --species "$scratch/many.csv"
well_formed "$scratch/many/living_reef.svg"
sed '$s/2.0,0.1,0.1,1,10,2,algae/4.0,0.5,0.5,1,10,2,Species 7/' "$scratch/many.csv" >"$scratch/hunted.csv"
ends 0 'without the .* (Species 63)$' --out "$scratch/hunted" --species "$scratch/hunted.csv"
well_formed "$scratch/hunted/living_reef.svg"
{
    grep -v '^#' "$table" | head -n 1
    echo 'Short life,Mayfly,2.0,0.1,0.1,0.01,100,1,algae,2'
} >"$scratch/short.csv"
ends 0 '' --out "$scratch/short" --species "$scratch/short.csv" --ticks 200
grep -q 'died out' "$scratch/said" || fail 'a species that died out is not named'

# ---- energy: each future has its own account ----
for tick in 1 15 16 30; do
    ends 1 "living_reef: energy is not conserved: in tick $tick there are 1 units less than" --out "$scratch/leak" \
        --leak-test $tick
    other=$(grep -c "the other future: energy is not conserved: in tick $tick there" "$scratch/errors")
    [ "$other" -eq $((tick > 15)) ] || fail "--leak-test $tick: the other future said: $(cat "$scratch/errors")"
    [ -z "$(ls -A "$scratch/leak")" ] || fail "a run that failed left $(ls -A "$scratch/leak")"
done
ends 0 '' --out "$scratch/late" --leak-test 31

# ---- files that can't be written: status 1, nothing half done, nothing old lost ----
: >"$scratch/file"
ends 1 'file' --out "$scratch/file"
ends 1 'missing' --out "$scratch/missing/below"
mkdir -p "$scratch/taken/living_reef.svg"
ends 1 'living_reef.svg: can.t be written' --out "$scratch/taken"
[ -z "$(find "$scratch/taken" -name '*.part')" ] || fail 'a temporary file is left'

# ---- Ctrl-C, and two runs at once ----
"$program" --species "$table" --size 64 --ticks 1000000 --one-future --out "$scratch/stopped" >"$scratch/said" 2>"$scratch/errors" &
running=$!
until grep -q '^tick\|part' "$scratch/errors" || [ -n "$(find "$scratch/stopped" -name '*.part' 2>/dev/null)" ]; do sleep 0.1; done
sleep 0.2
kill -INT $running
wait $running
[ $? -eq 1 ] || fail 'Ctrl-C: another status than 1'
grep -q 'stopped at tick [0-9]*; no table and no picture were written' "$scratch/errors" || fail "Ctrl-C isn't reported: $(cat "$scratch/errors")"
[ -z "$(ls -A "$scratch/stopped")" ] || fail "Ctrl-C leaves files: $(ls -A "$scratch/stopped")"
for run in 1 2; do "$program" --species "$table" --size 32 --ticks 30 --quiet --out "$scratch/both" & done
wait
[ "$(ls -A "$scratch/both")" = "$(printf 'living_reef.svg\npopulations.csv')" ] || fail "two runs at once: $(ls -A "$scratch/both")"
cmp "$scratch/both/populations.csv" "$scratch/run/populations.csv" || fail 'two runs at once write something else'
cp "$scratch/run/populations.csv" "$scratch/before.csv"
(
    trap '' XFSZ
    ulimit -f 1
    exec "$program" --species "$table" --size 32 --ticks 30 --seed 5 --quiet --out "$scratch/run"
) >"$scratch/said" 2>"$scratch/errors"
[ $? -eq 1 ] || fail 'a full disk: not status 1'
grep -q 'can.t be written' "$scratch/errors" || fail "a full disk: $(cat "$scratch/errors")"
cmp "$scratch/run/populations.csv" "$scratch/before.csv" || fail 'a failing run replaced a file'
[ "$(ls -A "$scratch/run" | wc -l)" -eq 2 ] || fail "a full disk left $(ls -A "$scratch/run")"

echo "failures: $failures"
[ $failures -eq 0 ]
