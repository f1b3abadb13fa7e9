# Functions for ./run, ./test, ./bench and the other scripts, which report progress, install missing packages and build.
set -euo pipefail
caller=$PWD # where the user is: paths among the arguments are meant from there
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=${REEF_JOBS:-$(nproc 2>/dev/null || echo 2)}

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

# Installs what `need` found missing; says so first. Only Debian's and its children's apt is known here.
install_missing()
{
    [ ${#missing[@]} -gt 0 ] || return 0
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
    if ! has_command make; then need ninja-build has_command ninja; fi
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

# build DIRECTORY [TARGET ...]
build()
{
    local directory=$1 log
    shift
    log=$(mktemp)
    if ! cmake --build "$directory" -j "$jobs" ${1:+--target "$@"} >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
