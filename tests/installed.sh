#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Compiles installed.c with what pkg-config says of the staged installation, moves that installation, and runs the
# program: headers, libraries and modules must be complete and found from their own place.
set -eu
source=$(dirname "$0")/installed.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/installation"
cp -R "$NMODGPU_TEST_STAGE/." "$work/installation"

PKG_CONFIG_PATH=$work/installation/lib/pkgconfig
export PKG_CONFIG_PATH
pc() { "${PKG_CONFIG:-pkg-config}" "$@"; }
version=$(pc --modversion nmodgpu)

# Words are meant to split: these are lists of flags, and CC may be one too.
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c99 -Wall -Wextra -Werror ${SANITIZER_FLAGS:-} "-DINSTALLED_VERSION=\"$version\"" $(pc --cflags nmodgpu) \
    -o "$work/program" "$source" $(pc --libs nmodgpu) "-Wl,-rpath,$work/elsewhere/lib"
mv "$work/installation" "$work/elsewhere"
"$work/program"
NMODGPU_VERBOSE=1 NMODGPU=auto NMODGPU_MIN_DIM=0 "$work/program"

# The drop-in's flags must keep it in a program that uses none of its names, and bring the core along.
PKG_CONFIG_PATH=$work/elsewhere/lib/pkgconfig
echo 'int main(void) { return 0; }' >"$work/empty.c"
# shellcheck disable=SC2046,SC2086
${CC:-cc} ${SANITIZER_FLAGS:-} -o "$work/empty" "$work/empty.c" $(pc --libs nmodgpu-flint) -Wl,--as-needed \
    "-Wl,-rpath,$work/elsewhere/lib"
"$work/empty"
objdump -p "$work/empty" | grep 'NEEDED .*libnmodgpu-flint'
