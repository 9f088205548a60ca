#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# amg.sh SOURCES PROGRAMS: builds AMG (https://github.com/LLNL/AMG) with MPI, without OpenMP, as PROGRAMS/amg. The
# script builds in a copy of SOURCES, because AMG's Makefiles write into the source folders.
set -eu
[ $# -eq 2 ] && [ -f "$1/Makefile.include" ] && [ -d "$2" ] || {
  echo "amg.sh: expected the folder of AMG's sources (with Makefile.include) and a folder for the program" >&2
  exit 2
}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$1/." "$copy"
make -s -C "$copy" CC="${MPICC:-mpicc}" INCLUDE_CFLAGS="-O2 ${FLAGS:--DTIMER_USE_MPI}" INCLUDE_LFLAGS="-lm" >&2
cp "$copy/test/amg" "$2/amg"
echo "$2/amg"
