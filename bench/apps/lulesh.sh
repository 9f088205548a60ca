#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lulesh.sh SOURCES PROGRAMS: builds LULESH 2.0 (https://github.com/LLNL/LULESH) with MPI, without OpenMP, as PROGRAMS/lulesh2.0.
set -eu
[ $# -eq 2 ] && [ -f "$1/lulesh.cc" ] && [ -d "$2" ] || {
  echo "lulesh.sh: expected the folder of LULESH's sources (with lulesh.cc) and a folder for the program" >&2
  exit 2
}
"${MPICXX:-mpicxx}" -O3 -g0 -std=c++11 ${FLAGS:--DUSE_MPI=1} -o "$2/lulesh2.0" "$1"/lulesh.cc "$1"/lulesh-comm.cc "$1"/lulesh-init.cc \
  "$1"/lulesh-util.cc "$1"/lulesh-viz.cc -lm
echo "$2/lulesh2.0"
