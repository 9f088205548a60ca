#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vpic.sh SOURCES PROGRAMS [STEPS [SHARE]]: builds VPIC (https://github.com/lanl/vpic) and its deck
# sample/lpi_2d_F6_test with 2048, 1024, 512 and 256 particles per cell, as PROGRAMS/vpic_lpi_NUMBER. Each number of
# particles needs its own program, because a deck is compiled. STEPS: the steps of a run (default 20; the unchanged deck
# runs for hours). SHARE: the divisor of the 549 cells along z (1, 3, 9 ...; the default 9 gives 61 cells, and 1.5
# million particles per species). With SHARE=1, a run takes 1 GB.
set -eu
[ $# -ge 2 ] && [ -f "$1/sample/lpi_2d_F6_test" ] && [ -d "$2" ] || {
  echo "vpic.sh: expected the folder of VPIC's sources (with sample/lpi_2d_F6_test) and a folder for the programs" >&2
  exit 2
}
steps=${3:-20}
share=${4:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -O3 is in CMAKE_CXX_FLAGS, because the deck, which loads the particles, gets only these flags.
cmake -S "$1" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-O3 -fno-strict-aliasing" >&2
cmake --build "$work/build" --parallel >&2
for particles in 2048 1024 512 256; do
  # Each process has 12 x 549/SHARE cells. With more processes, the box is larger, as in the published runs. The
  # energies of each step are the result that is compared.
  sed -e "s/double nppc  *= 512;/double nppc = $particles;/" \
      -e "s/num_step  *= 20000;/num_step = $steps;/" \
      -e "s|nx = nx/81;|nx = nx/(81*8)*nproc(); nz = nz/$share; box_size_z /= $share;|" \
      -e "s|box_size_x /= 81.;|box_size_x *= nproc()/(81.*8);|" \
      -e "s/^begin_diagnostics {/begin_diagnostics { dump_energies(\"energies\", step() == 0 ? 0 : 1);/" \
      "$1/sample/lpi_2d_F6_test" >"$work/vpic_lpi_$particles"
  for changed in "nppc = $particles;" "num_step = $steps;" "81\*8)\*nproc" "81.\*8)" 'dump_energies("energies"'; do
    grep -q "$changed" "$work/vpic_lpi_$particles" || {
      echo "vpic.sh: sample/lpi_2d_F6_test has no line to change into '$changed'; expected the deck of VPIC's master" >&2
      exit 2
    }
  done
  (cd "$work" && build/bin/vpic "vpic_lpi_$particles" >&2)
  cp "$work/vpic_lpi_$particles".* "$2/vpic_lpi_$particles"
  echo "$2/vpic_lpi_$particles"
done
