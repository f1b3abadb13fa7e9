#!/bin/sh
# tables.sh PROGRAM ROOT [all]: malformed tables of species. Each must be refused with file, line, column and what was expected,
# status 2, and leave no file; a well-formed one with unusual spelling must be taken.
set -u
program=$1
root=$2
all=${3:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
checks=0
header=scientific_name,common_name,trophic_level,length_m,cruising_speed_m_s,lifespan_years,metabolism_percent,clutch,eats,number
goby='Eviota sigillata,Pygmy goby,3.1,0.02,0.05,0.16,45,2,detritus; plankton,400'
hind='Cephalopholis argus,Peacock grouper,4.5,0.45,0.35,25,18,2,Eviota sigillata,20'

fail()
{
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# refused ID PLACE EXPECTED: table.csv must be refused at PLACE (line:column), and the message must hold EXPECTED
refused()
{
    checks=$((checks + 1))
    said=$(cd "$scratch" && exec "$program" --size 32 --ticks 3 --species table.csv --out out 2>&1)
    status=$?
    [ $status -eq 2 ] || fail "$1: status $status, not 2"
    [ ! -e "$scratch/out" ] || { fail "$1: something was written"; rm -rf "$scratch/out"; }
    case $said in *"
"*) fail "$1: not one line: $said" ;; esac
    case $said in
    *"table.csv:$2: expected "*"$3"*) ;;
    *) fail "$1: wanted table.csv:$2: expected ... $3, got: $said" ;;
    esac
}

# lines LINE ...: makes table.csv
lines()
{
    printf '%s\n' "$@" >"$scratch/table.csv"
}

# with COLUMN VALUE: the goby with one column replaced
with()
{
    printf '%s\n' "$goby" | awk -F, -v OFS=, -v c="$1" -v v="$2" '{ $c = v; print }'
}

# ---- the file and its first line ----
: >"$scratch/table.csv"
refused empty_file 1:1 'the line of column names'
lines '# nothing but this' ''
refused comments_only 3:1 'the line of column names'
lines "$goby"
refused no_header 1:1 '"scientific_name"'
lines "$(echo $header | sed 's/length_m/length/')" "$goby"
refused misspelt_header 1:43 '"length_m"'
lines "${header%,number}" "$goby"
refused short_header 1:116 'number is missing'
lines "$header,colour" "$goby"
refused long_header 1:124 'the end of the line after 10 values'
lines "$header"
refused no_species 2:1 'at least one species'

# ---- lines of the wrong length ----
lines "$header" "${goby%,400}"
refused column_missing 2:71 'number is missing'
lines "$header" "$goby,1"
refused column_too_many 2:76 'the end of the line'
lines "$header" '# a comment' '' "$goby" 'Lutjanus bohar'
refused line_is_counted 5:15 '10 values, found 1'

# ---- numbers ----
n=0
for column in 3 4 5 6 7 8 10; do
    for value in '' abc -1 +1 1e3 0x10 1,5 ' . ' 1. .5 1..2 0 99999999999999999999 nan '1 2'; do
        [ "$value" = 1,5 ] && value='"1,5"'
        lines "$header" "$(with $column "$value")"
        n=$((n + 1))
        place=$(awk -F, -v c=$column -v v="$value" 'NR == 2 {
            at = 1
            for (i = 1; i < c; i++) at += length($i) + 1
            if (v ~ /^ /) at++
            print "2:" at }' "$scratch/table.csv")
        refused "number_${column}_$n" "$place" 'for '
    done
done
lines "$header" "$(with 4 0.00001)"
refused too_many_decimals 2:33 'at most 4 decimals'
lines "$header" "$(with 8 2.5)"
refused whole_number 2:51 'a whole number, 1 to 100'
lines "$header" "$(with 3 1.9)"
refused level_low 2:29 '2 to 6'
lines "$header" "$(with 10 4000001)"
refused too_many_fish 2:72 '1 to 4000000'
lines "$header" "$(with 10 4000000)" "$(with 10 4000000 | sed 's/^Eviota/E/')" "$(with 10 4000000 | sed 's/^Eviota/F/')" \
    "$(with 10 4000000 | sed 's/^Eviota/G/')" "$(with 10 1 | sed 's/^Eviota/H/')"
refused too_many_in_all 6:67 'at most 16000000 fish in the whole table'

# ---- names ----
lines "$header" "$(with 1 '')"
refused no_name 2:1 'a name for scientific_name'
lines "$header" "$(with 2 '""')"
refused no_common_name 2:18 'a name for common_name'
lines "$header" "$goby" "$goby"
refused twice 3:1 'each scientific name once'
lines "$header" "$(with 1 plankton)"
refused food_as_name 2:1 'a fish'
lines "$header" "$(with 1 'a;b')"
refused semicolon_in_name 2:1 'without a semicolon'
lines "$header" "$(with 1 "$(printf '%064d' 0)")"
refused long_name 2:1 'at most 63 bytes'
lines "$header" "$(with 2 "$(printf '%01100d' 0)")"
refused endless_value 2:1041 'at most 1023 bytes'

# ---- who eats whom ----
lines "$header" "$(with 9 '')"
refused eats_nothing 2:53 'at least one food'
lines "$header" "$(with 9 'detritus; krill')"
refused eats_unknown 2:63 'found "krill"'
lines "$header" "$(with 9 'detritus;;plankton')"
refused eats_gap 2:62 'a food between the semicolons'
lines "$header" "$(with 9 'plankton;')"
refused eats_trailing 2:62 'a food between the semicolons'
lines "$header" "$(with 9 'Eviota sigillata')"
refused eats_itself 2:53 'another species'
lines "$header" "$hind"
refused eats_absent_fish 2:59 'a species of this table'

# ---- quotes and bytes ----
lines "$header" "$(with 2 '"Pygmy goby')"
refused open_quote 2:76 'a closing quote for the one in column 18'
lines "$header" "$(with 2 '"Pygmy" goby')"
refused after_quote 2:26 'a comma after the closing quote'
lines "$header" "$(with 2 'Pygmy "goby"')"
refused quote_inside 2:24 'no quote inside'
for byte in '\001' '\177' '\300\257' '\355\240\200' '\377' '\302'; do
    lines "$header" "$(with 2 "$(printf "$byte")x")"
    refused "byte_$byte" 2:18 'text in UTF-8, found byte 0x'
done
printf '%s\n%s' "$header" 'Eviota sigillata,Pygmy \000goby' >"$scratch/raw"
printf '%s\nEviota sigillata,Pygmy \000goby\n' "$header" >"$scratch/table.csv"
refused zero_byte 2:24 'text in UTF-8, found byte 0x00'
{
    echo "$header"
    awk 'BEGIN { for (i = 0; i < 65; i++) printf "Species %d,Fish,2.0,0.1,0.1,1,10,2,algae,5\n", i }'
} >"$scratch/table.csv"
refused too_many_species 66:1 'at most 64 species'
rm -f "$scratch/table.csv"
rm -rf "$scratch/out"
(cd "$scratch" && exec "$program" --species table.csv --out out) >"$scratch/said" 2>&1
[ $? -eq 2 ] || fail 'no_file: not status 2'
grep -q 'table.csv: expected a readable file' "$scratch/said" || fail "no_file: $(cat "$scratch/said")"
mkdir "$scratch/table.csv"
(cd "$scratch" && exec "$program" --species table.csv --out out) >"$scratch/said" 2>&1
[ $? -eq 2 ] || fail 'directory: not status 2'
[ ! -e "$scratch/out" ] || fail 'directory: something was written'
rmdir "$scratch/table.csv"

# ---- every line of the shipped table, damaged in one column, another one in each line; with `all` in every column ----
table=$root/examples/living_reef/species.csv
count=$(wc -l <"$table")
line=$(awk -v h="$header" '$0 == h { print NR + 1 }' "$table")
while [ "$line" -le "$count" ]; do
    columns=$(((line * 2) % 9 + 1))
    [ $columns -lt 2 ] || columns=$((columns + 1))
    [ -z "$all" ] || columns="1 3 4 5 6 7 8 9 10"
    for column in $columns; do
        awk -F, -v OFS=, -v l="$line" -v c=$column 'NR == l { $c = "" } { print }' "$table" >"$scratch/table.csv"
        place=$(awk -F, -v l="$line" -v c=$column 'NR == l {
            at = 1
            for (i = 1; i < c; i++) at += length($i) + 1
            print l ":" at }' "$scratch/table.csv")
        refused "shipped_${line}_$column" "$place" ''
    done
    line=$((line + 1))
done

# ---- unusual, but right ----
{
    printf '\357\273\277# with a byte order mark, and lines that end like those of Windows\r\n\r\n'
    printf '"%s"\r\n' "$(echo $header | sed 's/,/" , "/g')"
    printf '  %s  \r\n' "$(echo "$goby" | sed 's/Pygmy goby/"The ""pygmy"", <goby> \& co."/')"
    printf '%s' "$hind"
} >"$scratch/table.csv"
rm -rf "$scratch/out"
(cd "$scratch" && exec "$program" --quiet --size 32 --ticks 3 --species table.csv --out out) || fail 'unusual: refused'
grep -q 'The "pygmy", &lt;goby&gt; &amp; co.' "$scratch/out/living_reef.svg" || fail 'unusual: the name is not in the picture'

echo "$checks tables refused, failures: $failures"
[ $failures -eq 0 ]
