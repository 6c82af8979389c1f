#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-or-later
set -euo pipefail

usage() {
    cat <<'END'
Usage: tests/bundle.sh [-b BUILD] [-o OUT] [--with-blas]

Gathers a build into one folder that runs on a host without its packages: the command, the libraries and modules, the
test programs, and the shared libraries they need (FLINT, GMP, MPFR, Check, ...), with a script `run`.  The host needs
a C library at least as new as this machine's and, for the GPU, the NVIDIA driver and CUDA's libraries.

  -b BUILD     the build folder (default: build); what is missing in it is built
  -o OUT       the folder to write, or an archive when it ends in .tar.gz (default: BUILD/bundle)
  --with-blas  take OpenBLAS along as well, for the cblas module (some 40 MiB more)
  -h, --help   this text

Never taken along: the C library, CUDA's libraries, the NVIDIA driver.

On the host:
  OUT/run nmodgpu info       runs OUT/bin/nmodgpu; so for every program in OUT/bin
  OUT/run check_cuda         a test program
  OUT/run                    lists the programs
END
}

die() {
    echo "bundle.sh: $*" >&2
    exit 1
}

build=build
out=
with_blas=no
while [ $# -gt 0 ]; do
    case $1 in
    -b) build=${2:?-b needs a folder} && shift ;;
    -o) out=${2:?-o needs a name} && shift ;;
    --with-blas) with_blas=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        die "unknown argument: $1"
        ;;
    esac
    shift
done
[ -f "$build/Makefile" ] || die "no build in $build (./bootstrap makes one in build; -b names another)"
out=${out:-$build/bundle}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/nmodgpu
mkdir -p "$bundle/lib/deps" "$bundle/lib/cxx"

# ---- our own files

make -C "$build" stage install-tests DESTDIR= bindir="$bundle/bin" >"$work/log" 2>&1 ||
    { tail -n 40 "$work/log"; die "the build failed"; }
stage=$build/stage
cp -P "$stage"/bin/* "$bundle/bin"
cp -P "$stage"/lib/*.so* "$bundle/lib"
cp -RP "$stage/lib/nmodgpu" "$bundle/lib"
[ ! -d "$stage/libexec" ] || cp -RP "$stage/libexec" "$bundle"
rm -f "$bundle"/lib/nmodgpu/*.la
find "$bundle" -type f \( -perm -u=x -o -name '*.so*' \) -exec strip --strip-debug {} + 2>/dev/null || true

# ---- the libraries they need

# Prints "take", "cxx" or "leave" for the name of a shared library.
what_to_do_with() {
    case $1 in
    ld-linux* | libc.so* | libm.so* | libmvec.so* | libpthread.so* | libdl.so* | librt.so* | libresolv.so*) echo leave ;;
    libcuda* | libcublas* | libnv* | libnmodgpu*) echo leave ;;
    libstdc++.so* | libgcc_s.so*) echo cxx ;;
    libopenblas* | libblas* | liblapack* | libgfortran* | libquadmath*) [ $with_blas = yes ] && echo take || echo leave ;;
    *) echo take ;;
    esac
}

needed_by() { objdump -p "$1" 2>/dev/null | sed -n 's/^ *NEEDED *//p'; }

# gather FILE [AS]: takes along what FILE needs, looked up as the dynamic linker does here, and what that needs.
gather() {
    local name path folder
    for name in $(needed_by "$1"); do
        folder=deps
        case $(what_to_do_with "$name") in
        leave) continue ;;
        cxx) folder=cxx ;;
        esac
        if [ -e "$bundle/lib/$folder/$name" ] || [ -e "$bundle/bin/$name" ]; then continue; fi
        path=$(ldd "$1" | sed -n "s|^[[:space:]]*$name => \(/.*\) (0x.*|\1|p")
        [ -n "$path" ] || die "$(basename "$1") needs $name, which is not found"
        cp -L "$path" "$bundle/lib/$folder/$name"
        gather "$path"
    done
}

export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
while IFS= read -r file; do
    gather "$file"
done < <(find "$bundle" -type f ! -path '*/deps/*' ! -path '*/cxx/*')

# ---- the runner

cublas=$(needed_by "$bundle/lib/nmodgpu/cuda.so" | grep '^libcublas\.' || true)
cat >"$bundle/run" <<END
#!/bin/sh
# Runs a program of this folder with the libraries beside it.
cublas='$cublas'
END
cat >>"$bundle/run" <<'END'
here=$(cd "$(dirname "$0")" && pwd) || exit 1
if [ $# = 0 ]; then
    echo "Usage: $0 PROGRAM [ARGUMENTS...], PROGRAM one of:"
    find "$here/bin" -maxdepth 1 -type f ! -name '*.so' -exec basename {} \; | sort
    exit 2
fi
program=$1
shift
if [ ! -x "$here/bin/$program" ]; then
    echo "$0: no program '$program' in $here/bin ($0 without arguments lists them)" >&2
    exit 127
fi

known=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null)
knows() { case $known in *"$1 "*) true ;; *) false ;; esac }
path=$here/lib:$here/lib/deps
# The host's own C++ libraries, where it has some: programs of the host may need newer ones than these.
knows libstdc++.so.6 && knows libgcc_s.so.1 || path=$path:$here/lib/cxx

# CUDA's libraries: where the dynamic linker knows them, else from a toolkit or pip's packages.
found() {
    for folder in $(echo "${LD_LIBRARY_PATH-}" | tr ':' ' '); do
        [ ! -e "$folder/$cublas" ] || return 0
    done
    knows "$cublas"
}
if [ -n "$cublas" ] && ! found; then
    for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 \
        "${VIRTUAL_ENV:-/usr}"/lib/python3*/site-packages/nvidia/*/lib "${CONDA_PREFIX:-/usr}/lib" \
        "${CONDA_PREFIX:-/usr}"/lib/python3*/site-packages/nvidia/*/lib "${HOME:-}"/.local/lib/python3*/site-packages/nvidia/*/lib \
        /usr/local/lib/python3*/*-packages/nvidia/*/lib /usr/lib/python3*/*-packages/nvidia/*/lib; do
        if [ -e "$folder/$cublas" ]; then
            path=$path:$folder
            break
        fi
    done
fi
knows libcuda.so.1 || [ ! -e /usr/local/nvidia/lib64/libcuda.so.1 ] || path=$path:/usr/local/nvidia/lib64

LD_LIBRARY_PATH=$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
NMODGPU_TEST_STAGE=$here
export LD_LIBRARY_PATH NMODGPU_TEST_STAGE
exec "$here/bin/$program" "$@"
END
chmod 755 "$bundle/run"

# ---- out with it

size=$(du -sm "$bundle" | cut -f1)
case $out in
*.tar.gz) tar -C "$work" -czf "$out" nmodgpu ;;
*)
    # Only a folder that this script made is replaced.
    [ ! -e "$out" ] || [ -x "$out/run" ] || die "$out exists and is no bundle"
    rm -rf "$out"
    mkdir -p "$(dirname "$out")"
    cp -RP "$bundle" "$out"
    ;;
esac
echo "$out: $size MiB$([ $with_blas = yes ] || echo ' without OpenBLAS'), $(du -sh "$out" | cut -f1) on disk"
