# Functions for ./run, ./test, ./bench and the other scripts, which report progress, install missing packages and build.
set -euo pipefail
caller=$PWD # where the user is: paths among the arguments are meant from there
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=${REEF_JOBS:-$(nproc 2>/dev/null || echo 2)}

# --yes may stand anywhere among the arguments: nobody is asked before packages are installed.
arguments_without_yes=()
for argument; do
    if [ "$argument" = --yes ]; then export REEF_YES=1; else arguments_without_yes+=("$argument"); fi
done
set -- "${arguments_without_yes[@]}"

say() { printf '==> %s\n' "$*" >&2; }
die()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The leading comment of a script is its manual.
help_of() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1; }
has_file() { [ -e "$1" ]; }
# Can this compiler build programs of libFuzzer, with sanitizers? Their libraries are a package of their own.
has_fuzzer()
{
    echo 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data && size > 9; }' |
        "$1" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null
}

# need PACKAGE CHECK ...: remembers the package if the check fails.
missing=()
packages_known= # apt-get update was called
need()
{
    local package=$1
    shift
    "$@" || missing+=("$package")
}

# Installs what `need` found missing; says so first, and asks where a person sits at the terminal. Only Debian's and its children's apt is
# known here. REEF_YES=1, which --yes sets, and CI don't ask.
install_missing()
{
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ -t 0 ] && [ -t 2 ] && [ -z "${REEF_YES:-}${CI:-}" ]; then
        local answer=
        printf '==> These packages are missing: %s\n    Install them by apt? [Y/n] ' "${missing[*]}" >&2
        read -r answer || answer=n
        case $answer in [nN]*) die "nothing was installed; install them yourself, or leave out what needs them" ;; esac
    fi
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        has_command sudo || die "missing packages, and no right to install them: as root, apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    has_command apt-get || die "missing: what Debian calls ${missing[*]}; install it and try again"
    say "installing by apt: ${missing[*]}"
    [ -n "$packages_known" ] || "${as_root[@]}" apt-get update -qq >&2
    packages_known=yes
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        >/dev/null || die "apt-get install ${missing[*]} failed"
    missing=()
}

need_build_tools()
{
    need gcc has_command gcc
    need libc6-dev has_header stdio.h
    need cmake has_command cmake
    need ninja-build has_command ninja
    need make has_command make # what cmake takes where nobody says which: the documents' commands work too
}

# configure PRESET DIRECTORY [OPTION ...]; quiet unless it fails
configure()
{
    local preset=$1 directory=$2
    shift 2
    local log
    log=$(mktemp)
    if [ ! -e "$directory/CMakeCache.txt" ]; then
        if has_command ninja; then set -- -G Ninja "$@"; fi
        if has_command ccache; then set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"; fi
    fi
    if ! cmake --preset "$preset" -B "$directory" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# Shows how far a build is, whose output it reads: a line that is written over on a terminal, elsewhere a line for each fifth of it.
show_progress()
{
    local line percent last=0
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then percent=${BASH_REMATCH[1]}
        else continue; fi
        if [ -t 2 ]; then printf '\r    %3d%%' "$percent" >&2
        elif [ $((percent / 20)) -gt $((last / 20)) ]; then say "   $percent%"; fi
        last=$percent
    done
    if [ -t 2 ] && [ "$last" -gt 0 ]; then printf '\r        \r' >&2; fi
}

# build DIRECTORY [TARGET ...]
build()
{
    local directory=$1 log
    shift
    log=$(mktemp)
    if ! cmake --build "$directory" -j "$jobs" ${1:+--target "$@"} 2>&1 | tee "$log" | show_progress; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
