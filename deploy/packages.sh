# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034  # the lists are used by the scripts that source this one
# The only list of the Debian packages with which Ringside is built and tested, and the functions that install missing
# packages. Sourced by the scripts beside it; cmake/dependencies.cmake searches for the libraries.

# For running Ringside, and for configuring and building everything except the sanitizer presets.
packages_build=(
  cmake ninja-build g++ pkg-config
  libpmemobj-dev libpmem-dev libpmemlog-dev libhwloc-dev
  libzmq3-dev cppzmq-dev libprotobuf-dev protobuf-compiler
  libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  prometheus-cpp-dev libjs-chart.js
  libxxhash-dev zlib1g-dev liblzma-dev libarchive-dev xz-utils
  libhdf5-dev libflatbuffers-dev libmuparser-dev
  libgtest-dev
  python3
)

# For the sanitizers' presets: clang, because clang has libFuzzer, and because its OpenMP run time reports thread
# synchronisation to ThreadSanitizer. For the library's tests: a Fortran compiler, the tools that compare the binary
# interface with the last one, and Eigen for its adapter. (Ginkgo is not in Debian: a build that finds Ginkgo also tests
# that adapter.) The clang is the distribution's own: 14 in Debian 12, 19 in Debian 13, 18 in Ubuntu 24.04.
packages_test=(clang libclang-rt-dev libomp-dev gfortran abigail-tools libeigen3-dev)

# For the Python package.
packages_python=(python3-dev python3-numpy)

# For libringside_mpi: compiler wrappers, headers and the launcher; and `ip` for its tests.
packages_mpi=(libopenmpi-dev openmpi-bin iproute2)

# The packages that test.sh --mpich uses instead.
packages_mpich=(libmpich-dev mpich)

# For the builds of test.sh, because developers who test once usually test again.
packages_ccache=(ccache)

# For the Python package's tests.
packages_python_test=(python3-scipy)

# Added for package.sh: the tools that make a Debian package and its Depends.
packages_package=(dpkg-dev binutils file)

# Added for wheels.sh: the tools that build the libraries that the wheels contain.
packages_wheels=(python3-venv dpkg patch make binutils)

# Added for test.sh --all: a browser for the page; Prometheus itself; libraries that work with the Python package; pip
# for its wheel; the programs that check the package, the manual pages and the completions; and libraries that open
# exported files (57 MB, 43 MB of them VTK; pip provides the libraries that Debian lacks:
# tests/export/install_readers.py).
packages_all=(
  chromium chromium-driver python3-selenium prometheus python3-pandas python3-dask python3-petsc4py python3-pip
  python3-h5py python3-zarr python3-xarray python3-vtk9 python3-nbconvert python3-ipykernel
  "${packages_package[@]}" lintian fakeroot man-db groff shellcheck zsh fish
)

# For the site: its pages, their search, and the references of the interfaces.
packages_site=(python3-sphinx python3-myst-parser python3-breathe furo doxygen)

# For the virtual node: a virtual machine, and the tools that make its image.
packages_node=(qemu-system-x86 debootstrap cpio busybox-static kmod e2fsprogs)

# The libraries with which bench/compare.py compares Ringside if they are installed, and the program that starts PETSc's
# processes. (ADIOS2 is not in Debian: pip install adios2, and bench/compare.py --adios-python PYTHON.)
packages_peers=(libgraphblas-dev libeigen3-dev librsb-dev petsc-dev openmpi-bin)

# Optional tools, which are used if they are installed. (The code has the layout of clang-format 14; other versions
# break lines differently.)
packages_optional=(shellcheck clang-format-14 clang-tidy-14)

is_installed() {
  dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# missing_packages PACKAGE... prints the packages that are not installed, each once, on one line.
missing_packages() {
  local package missing=" "
  for package in "$@"; do
    if [[ $missing != *" $package "* ]] && ! is_installed "$package"; then missing+="$package "; fi
  done
  missing=${missing# }
  echo "${missing% }"
}

# install_packages PACKAGE... installs the missing packages; if none is missing, it needs no permission. If it cannot
# install them, it prints what is missing and the command that installs it, and returns 3.
install_packages() {
  local missing command log
  local -a names as_root=()
  if [[ -n ${RINGSIDE_SKIP_PACKAGES:-} ]]; then
    echo "packages: not checked (RINGSIDE_SKIP_PACKAGES is set)"
    return 0
  fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "packages: this is not Debian or Ubuntu, so they cannot be installed here. Install the equivalents of:" >&2
    echo "  $(printf '%s\n' "$@" | sort -u | tr '\n' ' ')" >&2
    echo "then run again with RINGSIDE_SKIP_PACKAGES=1" >&2
    return 3
  fi
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then
    echo "packages: all installed"
    return 0
  fi
  command="apt-get update && apt-get install -y --no-install-recommends $missing"
  if ((EUID != 0)); then
    # Without a terminal, sudo cannot ask for a password, so sudo works only if it needs no password.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      echo "packages: missing: $missing" >&2
      echo "This needs root, and sudo is not usable here. As root, run:" >&2
      echo "  $command" >&2
      return 3
    fi
  fi
  read -ra names <<<"$missing"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q)
  log=$(mktemp "${TMPDIR:-/tmp}/ringside-packages.XXXXXX")
  echo "packages: installing $missing"
  # A machine with fresh package lists needs no update. With missing or outdated lists, this command fails at once.
  if ! "${as_root[@]}" install -y --no-install-recommends "${names[@]}" >"$log" 2>&1 </dev/null; then
    echo "packages: fetching new package lists first"
    if ! { "${as_root[@]}" update && "${as_root[@]}" install -y --no-install-recommends "${names[@]}"; } \
      >>"$log" 2>&1 </dev/null; then
      echo "packages: apt-get failed; the end of $log:" >&2
      tail -n 20 "$log" | sed 's/^/  /' >&2
      echo "Still missing: $(missing_packages "$@"). As root, run:" >&2
      echo "  $command" >&2
      return 3
    fi
  fi
  missing=$(missing_packages "$@")
  if [[ -n $missing ]]; then
    echo "packages: apt-get reported success, but these are not installed: $missing (see $log)" >&2
    return 3
  fi
  rm -f "$log"
}

# leave_root SCRIPT ARGUMENT... runs the script again as the user who called sudo, if the source folder belongs to this
# user, who otherwise could not rebuild without sudo. Returns if the script is not run by root through sudo.
leave_root() {
  local script=$1
  shift
  if ((EUID != 0)) || [[ ${SUDO_UID:-0} == 0 ]] || ! command -v sudo >/dev/null; then return 0; fi
  [[ $(stat -c %u "${script%/*}/..") == "$SUDO_UID" ]] || return 0
  exec sudo -H -u "#$SUDO_UID" -g "#${SUDO_GID:-$SUDO_UID}" -- "$script" "$@"
}
