#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the Debian packages: builds programs, libraries and Python module as released, in build/release (so nothing is
# compiled twice), and packs the files that `cmake --install` would install. Prints only the path of the programs'
# package; libringside0, libringside-messages0, libringside-dev, libringside-mpi0, libringside-mpi-dev, ringside-mpi and
# python3-ringside are beside it. Exit status: 0 done, 1 failed, 2 usage, 3 the system lacks something.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"

output=$root/build/package
take_output package.sh packages "$@"

logs=$root/build/logs
cd "$root"
stage "packages" >&2
install_packages "${packages_build[@]}" "${packages_python[@]}" "${packages_mpi[@]}" "${packages_package[@]}" >&2 || exit $?
leave_root "$here/package.sh" --output "$output"

stage "build" >&2
quietly "$logs/package-configure.log" cmake --preset release -DRINGSIDE_BUILD_PYTHON=ON -DRINGSIDE_BUILD_MPI=ON
with_progress "$logs/package-build.log" cmake --build --preset release --parallel "$(build_jobs)" --target installed >&2

stage "package" >&2
# The same sources give the same package, because all dates in it are the date of the last commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
quietly "$logs/package.log" cpack -G DEB --config build/release/CPackConfig.cmake -B "$output"
rm -rf "$output/_CPack_Packages"
sed -n 's/^CPack: - package: \(.*\/\(libringside\|python3-ringside\|ringside-mpi\).*\) generated\.$/beside it: \1/p' "$logs/package.log" >&2
sed -n 's/^CPack: - package: \(.*\/ringside_.*\) generated\.$/\1/p' "$logs/package.log"
