#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the site in build/site/html: the pages of README.md and docs/ with a search, and the references of the C, C++, Fortran and
# Python interfaces (docs/site/conf.py). Every warning is an error, for instance a link without a target or wrong markup.
# Prints the path of the first page. Exit status: 0 done, 1 failed, 2 usage, 3 the system lacks something.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"

if (($# > 0)); then echo "usage: site.sh" >&2 && exit 2; fi

logs=$root/build/logs
site=$root/build/site
cd "$root"
stage "packages" >&2
install_packages "${packages_build[@]}" "${packages_python[@]}" "${packages_site[@]}" >&2 || exit $?
leave_root "$here/site.sh"

stage "the Python package and the Fortran module" >&2
quietly "$logs/site-configure.log" cmake --preset release -DRINGSIDE_BUILD_PYTHON=ON
with_progress "$logs/site-build.log" cmake --build --preset release --parallel "$(build_jobs)" --target ringside_core >&2

stage "site" >&2
# Pages link to sources by their paths, so the copy has the tree's layout. The README becomes the first page.
rm -rf "$site"
mkdir -p "$site/source"
git ls-files -z -- ':!tests' | tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$site/source"
cd "$site/source"
mv README.md index.md
cp "$root/build/release/library/ringside.f90" docs/site/  # made by the configuration
sed -nE 's/^project\(ringside VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt >docs/site/version
quietly "$logs/site-doxygen.log" doxygen docs/site/Doxyfile
quietly "$logs/site-sphinx.log" env PYTHONPATH="$root/build/release/python" \
  /usr/bin/python3 -m sphinx -W --keep-going -j auto -c docs/site -b html . "$site/html"
echo "$site/html/index.html"
