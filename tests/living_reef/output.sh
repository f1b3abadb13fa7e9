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
    '--fish 9' '--seed -1' '--seed 18446744073709551616' '--leak-test 0' '--species' '--out' '--deep' 'sea'; do
    # shellcheck disable=SC2086 # an option and its value
    ends 2 'living_reef: .*\(expected\|unknown option\)' --out "$scratch/none" $bad
    [ ! -e "$scratch/none" ] || fail "$bad: something was written"
done
ends 2 'at most 128000 fish' --out "$scratch/none" --fish 128001
[ ! -e "$scratch/none" ] || fail 'too many fish: something was written'
"$program" --help >"$scratch/help" 2>"$scratch/errors" || fail "--help ended with $?"
for word in --species --size --fish --seed --ticks --out --quiet --leak-test sqrt conserved; do
    grep -q -e "$word" "$scratch/help" || fail "--help doesn't speak of $word"
done

# ---- a run ----
ends 0 'tick 30 of 30' --out "$scratch/run"
grep -q 'ticks/s' "$scratch/said" && grep -q 'structural changes' "$scratch/said" && grep -q 'Eviota sigillata' "$scratch/said" ||
    fail "no closing table: $(cat "$scratch/said")"
[ "$(ls -A "$scratch/run")" = "$(printf 'living_reef.svg\npopulations.csv')" ] || fail "files: $(ls -A "$scratch/run")"
[ "$(awk -F, 'NR > 1 { printf "%s ", $1 }' "$scratch/run/populations.csv")" = '0 10 20 30 ' ] || fail 'samples of the ticks'
ends 0 '' --out "$scratch/quiet" --quiet --ticks 25
[ ! -s "$scratch/said" ] && [ ! -s "$scratch/errors" ] || fail '--quiet spoke'
[ "$(awk -F, 'END { print $1 }' "$scratch/quiet/populations.csv")" = 25 ] || fail 'no sample of the last tick'
ends 0 '' --out "$scratch/one" --quiet --ticks 1
ends 0 '' --out "$scratch/scaled" --quiet --fish 2000
start=$(awk -F, 'NR == 2 { print $2 }' "$scratch/scaled/populations.csv")
[ "$start" -ge 1980 ] && [ "$start" -le 2020 ] || fail "--fish 2000 starts with $start"
ends 0 '' --out "$scratch/seed" --quiet --seed 18446744073709551615
(LC_ALL=de_DE.UTF-8 "$program" --species "$table" --size 32 --ticks 30 --quiet --out "$scratch/locale")
cmp "$scratch/run/living_reef.svg" "$scratch/locale/living_reef.svg" || fail 'the locale shows in the picture'
if grep -l -e "$scratch" -e "$(date +%Y-)" "$scratch/run/living_reef.svg" "$scratch/run/populations.csv"; then
    fail 'a path or a date is in the files'
fi

# ---- the picture is well-formed, for few and for many species ----
well_formed()
{
    command -v xmllint >/dev/null || return 0
    xmllint --noout "$1" || fail "$1 is not well-formed"
}
well_formed "$scratch/run/living_reef.svg"
grep -v '^#' "$table" | head -n 2 | sed 's/2,detritus; plankton/2,plankton/' >"$scratch/lonely.csv"
ends 0 '' --out "$scratch/lonely" --species "$scratch/lonely.csv"
well_formed "$scratch/lonely/living_reef.svg"
{
    grep -v '^#' "$table" | head -n 1
    awk 'BEGIN { for (i = 0; i < 64; i++) printf "Species %d,Fish %d,2.0,0.1,0.1,1,10,2,algae,40\n", i, i }'
} >"$scratch/many.csv"
ends 0 '' --out "$scratch/many" --species "$scratch/many.csv"
well_formed "$scratch/many/living_reef.svg"
{
    grep -v '^#' "$table" | head -n 1
    echo 'Short life,Mayfly,2.0,0.1,0.1,0.01,100,1,algae,2'
} >"$scratch/short.csv"
ends 0 '' --out "$scratch/short" --species "$scratch/short.csv" --ticks 200
grep -q 'died out' "$scratch/said" || fail 'a species that died out is not named'

# ---- energy ----
for tick in 1 17 30; do
    ends 1 "energy is not conserved: in tick $tick there are 1 units less than" --out "$scratch/leak" --leak-test $tick
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
