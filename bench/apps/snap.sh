#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# snap.sh SOURCES PROGRAMS: builds the C version of SNAP (https://github.com/lanl/SNAP, ports/snap-c) with MPI as PROGRAMS/snap.
# SNAP's header keeps two communicators in ints. An int can hold a communicator of MPICH, but not a pointer of Open MPI.
# Therefore the script builds a copy that uses MPI_Comm.
set -eu
[ $# -eq 2 ] && [ -f "$1/snap_main.c" ] && [ -d "$2" ] || {
  echo "snap.sh: expected the folder of SNAP's C version (with snap_main.c) and a folder for the program" >&2
  exit 2
}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$1"/*.c "$1"/*.h "$copy"
sed -e 's/MPI_Comm comm_snap, comm_space;/MPI_Comm comm_snap, comm_space, ycomm, zcomm;/' \
    -e 's/sproc, ycomm,/sproc,/' -e 's/ zcomm, yproc,/ yproc,/' "$1/snap.h" >"$copy/snap.h"
grep -q 'comm_space, ycomm, zcomm;' "$copy/snap.h" && [ "$(grep -c 'ycomm,' "$copy/snap.h")" -eq 1 ] || {
  echo "snap.sh: snap.h has no 'ycomm' and 'zcomm' among its ints; expected ports/snap-c of SNAP's master" >&2
  exit 2
}
"${MPICC:-mpicc}" -O3 -std=gnu99 -fcommon -fopenmp -w -o "$2/snap" "$copy"/*.c -lm
echo "$2/snap"
