#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks the packages of this distribution: package lists -> edge list -> ringside -> the ten highest, with names.
# usage: run.sh [WORK_FOLDER]   (default: build/package_graph in the source folder)
# Environment: RINGSIDE, the program (default: build/release/bin/ringside in the source folder); PACKAGES, a Packages
# file to read instead of this machine's package lists.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:-$root/build/package_graph}
ringside=${RINGSIDE:-$root/build/release/bin/ringside}

if ! command -v "$ringside" >/dev/null; then
  echo "run.sh: $ringside does not exist; build it (deploy/quickstart.sh does), or set RINGSIDE to another one" >&2
  exit 3
fi
mkdir -p "$work"

python3 "$here/package_graph.py" --output "$work" ${PACKAGES:+--packages "$PACKAGES"}
"$ringside" run --matrix "$work/packages.txt" --tolerance 1e-12 \
  --pool "$work/packages.pool" --overwrite --summary "$work/packages.json"
"$ringside" export "$work/packages.pool" --iteration last --format npy --output "$work/packages.npy"
echo
python3 "$here/top.py" "$work/packages.npy" "$work/packages.names"
