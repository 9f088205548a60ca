#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Starts from a fresh clone: installs missing packages, builds the programs of a run, keeps every iterate of PageRank on
# a grid, and then ranks the packages of this distribution. Run it as root or with sudo, from any folder, as often as
# you like.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"

if (($# > 0)); then
  echo "usage: quickstart.sh   (installs, builds, runs grid:1000, ranks the package graph; takes no options)"
  case $1 in -h | --help) exit 0 ;; *) exit 2 ;; esac
fi

work=$root/build/quickstart
logs=$root/build/logs
cd "$root"

stage "packages"
install_packages "${packages_build[@]}" || exit $?
leave_root "$here/quickstart.sh"

stage "build"
mkdir -p "$work"
quietly "$logs/quickstart-configure.log" cmake --preset release -DRINGSIDE_WARNINGS=OFF
with_progress "$logs/quickstart-build.log" cmake --build --preset release --parallel "$(build_jobs)" \
  --target ringside ringside-producer ringside-analyzer ringside-export  # ringside-export writes the ranks
echo "programs: $root/build/release/bin"

stage "PageRank on a grid of 1,000,000 rows, every iterate kept in a persistent ring"
"$root/build/release/bin/ringside" run --matrix grid:1000 --iterations 100 \
  --pool "$work/grid.pool" --overwrite --summary "$work/grid.json"
"$root/build/release/bin/ringside" info "$work/grid.pool"

stage "the packages that most others depend on"
"$root/examples/package_graph/run.sh" "$work/package_graph"

stage "done"
cat <<TEXT
Pools, summaries and ranks are in $work
Next:
  $root/build/release/bin/ringside doctor          what this machine offers, and what to change
  $root/build/release/bin/ringside run --help      run it on a matrix of your own
  cmake --build $root/build/release --target commands
                                                   build what this script did not need: ringside calibrate, plan,
                                                   experiment, serve, report, compare and analyze
  $root/deploy/test.sh                             build and pass all tests
TEXT
