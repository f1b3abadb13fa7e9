#!/bin/sh
# resume.sh PROGRAM [KILLS [TICKS [SIZE]]]: however often a run is killed (kill -9, at random moments; default: 20 times) and resumed, it ends with the same
# files, byte for byte. Also: another run's save is refused, a damaged one as well, and the save of a run that ended gives the files again.
set -u
program=$1
kills=${2:-20}
ticks=${3:-240}
size=${4:-96}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
fail()
{
    echo "FAILED: $*"
    failures=$((failures + 1))
}

play() { "$program" --quiet --size "$size" --ticks "$ticks" --threads 2 "$@"; }

# same NAME: the files are those of the run that nobody disturbed
same()
{
    for file in populations.csv living_reef.svg; do
        cmp "$scratch/whole/$file" "$scratch/$1/$file" || fail "$1: another $file"
    done
}

begin=$(date +%s%N)
play --out "$scratch/whole" || fail "a run without saves ended with $?"
took=$((($(date +%s%N) - begin) / 1000000)) # ms

# ---- killed and resumed ----
# A run gets a random time of up to a sixth of what the whole takes; the seed is said, so that a failure can be looked into.
seed=${REEF_KILL_SEED:-$(date +%s)}
echo "the whole run takes $took ms; moments from seed $seed"
awk -v seed="$seed" -v took="$took" 'BEGIN { srand(seed); for (i = 0; i < 10000; i++) printf "%.3f\n", rand() * (took / 6 + 20) / 1000 }' >"$scratch/moments"
killed=0
ended=0
resumed=0
while [ $killed -lt "$kills" ] || [ $ended -eq 0 ]; do
    read -r moment || break
    [ ! -e "$scratch/save/with.reef" ] || resumed=$((resumed + 1))
    # Once there were enough, it may come to its end.
    [ $killed -lt "$kills" ] || moment=600
    "$program" --quiet --size "$size" --ticks "$ticks" --threads 2 --out "$scratch/killed" --save-every 3 --resume "$scratch/save" &
    pid=$!
    sleep "$moment" &
    clock=$!
    while kill -0 $pid 2>/dev/null && kill -0 $clock 2>/dev/null; do sleep 0.01; done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    status=$?
    kill $clock 2>/dev/null
    wait $clock 2>/dev/null
    if [ $status -eq 137 ]; then
        killed=$((killed + 1))
    elif [ $status -eq 0 ]; then
        ended=$((ended + 1))
        same killed
        [ $killed -ge "$kills" ] || rm -rf "$scratch/save" "$scratch/killed" # once more from the start
    else
        fail "resumed after $killed kills, it ended with $status"
        break
    fi
done <"$scratch/moments"
[ $resumed -ge $((kills / 2)) ] || fail "only $resumed of $killed runs went on with a save"
echo "killed $killed times, resumed $resumed times, ended $ended times"

# ---- at the end ----
play --out "$scratch/again" --resume "$scratch/save" || fail "resuming at the end gave $?"
same again
"$program" --quiet --size "$size" --ticks "$ticks" --threads 1 --out "$scratch/one" --resume "$scratch/save" || fail "on one thread: $?"
same one

# ---- what can't be resumed ----
# refused PATTERN ARGUMENT ...
refused()
{
    pattern=$1
    shift
    if "$program" --quiet --size "$size" --ticks "$ticks" --out "$scratch/refused" --resume "$scratch/save" "$@" >"$scratch/said" 2>&1; then
        fail "$*: not refused"
    fi
    grep -q -e "$pattern" "$scratch/said" || fail "$*: said $(cat "$scratch/said")"
}
refused '--seed must be as it was' --seed 5
refused '--ticks must be as it was' --ticks $((ticks + 1))
refused 'table of species .* must be as it was' --fish 100
dd if=/dev/zero of="$scratch/save/with.reef" bs=1 seek=5000 count=4 conv=notrunc 2>/dev/null
refused 'damaged.*byte'
head -c 3000 "$scratch/save/without.reef" >"$scratch/save/with.reef"
refused 'damaged.*byte'
echo "failures: $failures"
[ $failures -eq 0 ]
