#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Runs nvcc for libtool, which adds flags for the host compiler (-fPIC and the like): hands those on by -Xcompiler.
# nvcc.sh NVCC ARGUMENTS...
nvcc=$1
shift
for argument in "$@"; do
    shift
    case $argument in
    -f* | -m* | -W* | -pthread | -pipe) set -- "$@" -Xcompiler "$argument" ;;
    *) set -- "$@" "$argument" ;;
    esac
done
exec "$nvcc" "$@"
