# Read by scripts/platforms and scripts/check-files: the machines that reef is tried on, and how it is built and run for each.
#
#   gcc, clang   this one
#   musl         this one, with another C library
#   i386         32 bits, with other layouts of structs; with SSE, since the x87 unit rounds differently
#   aarch64      64 bits, little-endian; under qemu
#   s390x        64 bits, big-endian; under qemu
#   windows      64 bits; mingw-w64's gcc, under wine
#   wasm         32 bits, without threads; emscripten, under node
#   wasm-threads the same with threads
machines=(gcc clang musl i386 aarch64 s390x windows wasm wasm-threads)

need_machines() # need_machines NAME ...
{
    need gcc has_command gcc
    need libc6-dev has_header stdio.h
    need cmake has_command cmake
    need ninja-build has_command ninja
    local name
    for name in "$@"; do
        case $name in
        gcc) ;;
        clang) need clang has_command clang ;;
        musl) need musl-tools has_command musl-gcc ;;
        i386)
            need gcc-i686-linux-gnu has_command i686-linux-gnu-gcc
            need libc6-dev-i386-cross test -e /usr/i686-linux-gnu/include/stdio.h
            need qemu-user has_command qemu-i386
            ;;
        aarch64)
            need gcc-aarch64-linux-gnu has_command aarch64-linux-gnu-gcc
            need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
            need qemu-user has_command qemu-aarch64
            ;;
        s390x)
            need gcc-s390x-linux-gnu has_command s390x-linux-gnu-gcc
            need libc6-dev-s390x-cross test -e /usr/s390x-linux-gnu/include/stdio.h
            need qemu-user has_command qemu-s390x
            ;;
        windows)
            need gcc-mingw-w64-x86-64 has_command x86_64-w64-mingw32-gcc
            need wine64 test -x "$wine"
            ;;
        wasm | wasm-threads)
            need emscripten has_command emcc
            need nodejs has_command node
            ;;
        *) die "no such machine: $name (there are: ${machines[*]})" ;;
        esac
    done
}

wine=/usr/lib/wine/wine64

# machine_is NAME: sets `compiler`, `run` (the command that programs are given to, or nothing), `suffix` (of programs), `cross` (cmake's
# options), `machine_flags`.
machine_is()
{
    run=''
    cross=()
    suffix=
    machine_flags=
    case $1 in
    gcc | clang) compiler=$1 ;;
    musl) compiler=musl-gcc cross=(-DCMAKE_EXE_LINKER_FLAGS=-static) ;;
    i386)
        linux_is i686 i686-linux-gnu-gcc
        if ! runs_i386; then run=qemu-i386; fi
        ;;
    aarch64) linux_is aarch64 aarch64-linux-gnu-gcc qemu-aarch64 ;;
    s390x) linux_is s390x s390x-linux-gnu-gcc qemu-s390x ;;
    windows)
        compiler=x86_64-w64-mingw32-gcc run=$wine suffix=.exe
        cross=(-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64)
        ;;
    wasm) wasm_is '' -DREEF_NO_THREADS=ON ;;
    wasm-threads)
        wasm_is '-sPROXY_TO_PTHREAD=1 -sPTHREAD_POOL_SIZE=16'
        machine_flags=-pthread
        ;;
    esac
    cross+=("-DCMAKE_C_COMPILER=$compiler")
}
# Some kernels of x86-64 run no programs of 32 bits.
runs_i386()
{
    local program status=0
    program=$(mktemp)
    echo 'int main(void) { return 0; }' | i686-linux-gnu-gcc -static -x c - -o "$program" && "$program" 2>/dev/null || status=1
    rm -f "$program"
    return $status
}
linux_is() # linux_is PROCESSOR COMPILER [RUN]
{
    compiler=$2 run=${3:-}
    cross=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$1" -DCMAKE_EXE_LINKER_FLAGS=-static)
}
export NODE_PATH=/usr/share/nodejs # where emcc's helpers lie, for a node that isn't Debian's
wasm_is() # wasm_is LINKER-FLAGS [OPTION ...]
{
    local flags=$1
    shift
    compiler=emcc run=node suffix=.js
    # Files are the machine's own, memory grows; in one file, since this emcc's programs fetch the other by a call that newer nodes know too, as another one.
    cross=("-DCMAKE_TOOLCHAIN_FILE=$(dirname "$(readlink -f "$(command -v emcc)")")/cmake/Modules/Platform/Emscripten.cmake"
        "-DCMAKE_EXE_LINKER_FLAGS=-sNODERAWFS=1 -sSINGLE_FILE=1 -sALLOW_MEMORY_GROWTH=1 -sEXIT_RUNTIME=1 $flags" "$@")
}

# The compiler's own words.
compiler_told()
{
    case $compiler in
    emcc) echo "emcc $(emcc -dumpversion 2>/dev/null | tail -n 1)" ;;
    clang) echo "clang $(clang -dumpversion)" ;;
    *) echo "$compiler $("$compiler" -dumpfullversion)" ;;
    esac
}

# machine_build DIRECTORY FLAGS [TARGET ...]: after machine_is. Quiet unless it fails.
machine_build()
{
    local directory=$1 flags=$2 log
    shift 2
    log=$(mktemp)
    if ! cmake -G Ninja -S . -B "$directory" "${cross[@]}" -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=$flags $machine_flags" -DREEF_PORTABLE_TESTS=ON \
        -DREEF_BUILD_EXAMPLES=OFF -DREEF_BUILD_TOOLS=OFF -DREEF_BUILD_ADDONS=OFF -DREEF_BUILD_BENCH=OFF >"$log" 2>&1 ||
        ! cmake --build "$directory" -j "$jobs" ${1:+--target "$@"} >>"$log" 2>&1; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# machine_run DIRECTORY PROGRAM [ARGUMENT ...]: in that directory; with the ends of lines that Unix has.
machine_run()
{
    local directory=$1 program=tests/$2$suffix
    shift 2
    (cd "$directory" && timeout 900 ${run:+"$run"} "$program" "$@" | tr -d '\r')
}

# wine's own files and its server are for this run alone.
wine_begin() { export WINEPREFIX=$1/wine WINEDEBUG=-all; }
wine_end()
{
    if [ -d "$WINEPREFIX" ]; then WINEPREFIX=$WINEPREFIX "$(dirname "$wine")/wineserver" -k || true; fi
}
