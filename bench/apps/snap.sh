#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# snap.sh SOURCES PROGRAMS: builds the C version of SNAP (https://github.com/lanl/SNAP, ports/snap-c) with MPI as PROGRAMS/snap.
set -eu
[ $# -eq 2 ] && [ -f "$1/snap_main.c" ] && [ -d "$2" ] || {
  echo "snap.sh: expected the folder of SNAP's C version (with snap_main.c) and a folder for the program" >&2
  exit 2
}
"${MPICC:-mpicc}" -O3 -std=gnu99 -fcommon -fopenmp -w -o "$2/snap" "$1"/*.c -lm
echo "$2/snap"
