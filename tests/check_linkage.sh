#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What the drop-in and the core need and export, and that a FLINT program is served when the drop-in is preloaded,
# when it is linked before FLINT, and only when asked.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# A space in the path would end a name in LD_PRELOAD.
stage=$work/stage
ln -s "$NMODGPU_TEST_STAGE" "$stage"
core=$stage/lib/libnmodgpu.so
dropin=$stage/lib/libnmodgpu-flint.so

fail() {
    echo "FAILED: $*"
    failed=1
}

same() { # what, expected, found
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

needed() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

exported() { # data and functions, with the version as nm writes it; the names of versions are no symbols
    nm -D --defined-only "$1" | sed -n 's/^[0-9a-f]* [A-Z] \(.*\)/\1/p' | grep -v -x 'NMODGPU_[A-Z0-9]*' | sort
}

for library in "$core" "$dropin"; do
    for name in $(needed "$library"); do
        case $name in
        libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | ld-linux*) ;;
        libnmodgpu.so.*) [ "$library" = "$dropin" ] || fail "$library needs $name" ;;
        libasan.so.* | libubsan.so.* | libtsan.so.* | libclang_rt.*) [ -n "${SANITIZER_FLAGS:-}" ] || fail "$library needs $name" ;;
        *) fail "$library needs $name" ;;
        esac
    done
    readelf -d "$library" | grep -q 'FLAGS_1.*NODELETE' || fail "$library may be unloaded"
done

same "names that the drop-in exports" \
    "nmod_mat_addmul nmod_mat_mul nmod_mat_submul nmodgpu_flint_describe" "$(exported "$dropin" | xargs)"
for name in $(exported "$core"); do
    case $name in
    nmodgpu_priv_*@@NMODGPU_PRIVATE | nmodgpu_*@@NMODGPU_[0-9]*) ;;
    *) fail "$core exports $name" ;;
    esac
done

for module in "$stage"/lib/nmodgpu/*.so; do
    [ -f "$module" ] || continue
    readelf -d "$module" | grep -q 'FLAGS_1.*NODELETE' || fail "$module may be unloaded"
    same "names that $module exports" nmodgpu_module_entry "$(exported "$module" | xargs)"
done

# Switched on and passed by, the drop-in says so when it is loaded; in a program that never comes to a product.
said() { LD_PRELOAD=$2 NMODGPU=$1 "$stage/bin/nmodgpu" --version 2>&1 >"$work/version" || true; }
fake=tests/.libs/fakeflint
if [ -f "$fake-rows.so" ]; then
    same "in front of FLINT" "" "$(said auto "$dropin $fake-rows.so")"
    case $(said auto "$fake-rows.so $dropin") in
    "nmodgpu: nmod_mat_mul is taken from "*fakeflint-rows.so*) ;;
    *) fail "behind FLINT nothing is said" ;;
    esac
    case $(said auto "$dropin $fake-symbolic.so") in
    "nmodgpu: FLINT 3.1.3 "*"calls its own nmod_mat_mul directly"*) ;;
    *) fail "with a FLINT that calls itself directly nothing is said" ;;
    esac
    same "behind FLINT while off" "" "$(said off "$fake-rows.so $dropin")"
fi

product=$stage/libexec/nmodgpu/flint-product
rank=tests/flint_rank
if [ -x "$product" ] && [ -x "$rank" ]; then
    report=$work/report
    if [ -f "$stage/lib/nmodgpu/cblas.so" ]; then
        module=cblas
    else
        module=cuda
        NMODGPU_PLUGIN_PATH=tests/standin/.libs
        export NMODGPU_PLUGIN_PATH
    fi
    result() { sed 's/,[^,]*seconds$//' "$1"; }
    served() { sed -n 's/.*"served":{\([^}]*\)}.*/\1/p' "$report"; }
    arrived() { sed -n 's/.*"arrived":\([0-9]*\),.*/\1/p' "$report"; }

    "$product" 200 2147483647 >"$work/plain"
    LD_PRELOAD=$dropin NMODGPU_REPORT=$report "$product" 200 2147483647 >"$work/off" 2>"$work/errors"
    same "the product while off" "$(result "$work/plain")" "$(result "$work/off")"
    same "standard error while off" "" "$(cat "$work/errors")"
    [ ! -f "$report" ] || same "calls that arrive while off" 0 "$(arrived)"
    rm -f "$report"

    LD_PRELOAD=$dropin NMODGPU=$module NMODGPU_MIN_DIM=0 NMODGPU_REPORT=$report "$product" 200 2147483647 >"$work/on"
    same "the product while on" "$(result "$work/plain")" "$(result "$work/on")"
    same "calls that arrive" 1 "$(arrived)"
    same "calls that are served" "\"$module\":1" "$(served)"
    rm -f "$report"

    # FLINT serves this one itself, and its Strassen recursion comes back through the dynamic linker.
    LD_PRELOAD=$dropin NMODGPU=$module NMODGPU_MIN_DIM=100000 NMODGPU_REPORT=$report "$product" 1000 2147483647 >"$work/own"
    same "calls that arrive when FLINT serves" 1 "$(arrived)"
    same "calls that are declined" '"small":1' "$(sed -n 's/.*"declined":{\([^}]*\)}.*/\1/p' "$report")"
    rm -f "$report"

    # This program calls only nmod_mat_rank, and has the drop-in among what it needs, before FLINT.
    same "the rank while off" "rank 248" "$("$rank")"
    same "the rank while on" "rank 248" "$(NMODGPU=$module NMODGPU_MIN_DIM=0 NMODGPU_REPORT=$report "$rank")"
    [ "$(arrived)" -gt 0 ] || fail "FLINT's own products did not arrive"
    [ -n "$(served)" ] || fail "FLINT's own products were not served"
else
    echo "left out: programs with FLINT (none on this machine)"
fi
exit $failed
