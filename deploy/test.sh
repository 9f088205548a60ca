#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds with warnings as errors, and runs all tests: as released, under AddressSanitizer and
# UndefinedBehaviorSanitizer, the threaded ones under ThreadSanitizer, and short runs of the fuzz targets. If one stage
# fails, the next ones still run; the last line is the verdict. Exit status: 0 passed, 1 failed, 2 usage, 3 the system
# lacks something.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"

usage() {
  cat <<'TEXT'
usage: test.sh [--quick | --all | --mpich]
  --quick   the release build and its tests only
  --mpich   only the tests of several MPI ranks, with MPICH in place of Open MPI (no part of --all)
  --all     also the page in a real browser, Prometheus itself, the Debian package before lintian and in every shell, and
            on a virtual machine with an NVDIMM whose power is cut; what that takes is installed (CI does this)
TEXT
}

quick=no
all=no
mpich=no
for argument in "$@"; do
  case $argument in
    --quick) quick=yes ;;
    --all) all=yes ;;
    --mpich) mpich=yes ;;
    -h | --help) usage && exit 0 ;;
    *) echo "test.sh: unknown option '$argument'" >&2 && usage >&2 && exit 2 ;;
  esac
done

if [[ $quick$all$mpich == *yes*yes* ]]; then
  echo "test.sh: --quick, --all and --mpich exclude each other" >&2 && usage >&2 && exit 2
fi

failed=()
skipped=()
prefix=()  # precedes the programs that build and test
jobs=$(build_jobs)
logs=$root/build/logs

# configure_and_build PRESET [CMAKE OPTION...]: if only some targets are needed, the build preset names them.
configure_and_build() {
  local preset=$1
  shift
  quietly "$logs/$preset-configure.log" cmake --preset "$preset" -DRINGSIDE_WERROR=ON "$@" &&
    with_progress "$logs/$preset-build.log" "${prefix[@]}" cmake --build --preset "$preset" --parallel "$jobs"
}

# run_tests PRESET runs one test more than there are processors, since most wait for processes more than they compute, and
# prints the output of failed tests, the names of skipped ones, and ctest's own count.
run_tests() {
  local preset=$1 status=0
  "${prefix[@]}" ctest --preset "$preset" --parallel $((jobs + 1)) >"$logs/$preset-tests.log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then grep -vE '^ +Start +[0-9]+:|\.\.\. +Passed ' "$logs/$preset-tests.log" | tail -n 200; fi
  sed -n '/tests passed/p; /tests did not run/,/^$/p' "$logs/$preset-tests.log"
  return "$status"
}

# check NAME TITLE FUNCTION ARGUMENT... runs one stage, and notes NAME if it fails.
check() {
  local name=$1
  stage "$2"
  shift 2
  "$@" || failed+=("$name")
}

release() {
  configure_and_build release -DRINGSIDE_BUILD_TESTS=ON -DRINGSIDE_BUILD_PYTHON=ON -DRINGSIDE_BUILD_MPI=ON &&
    run_tests release
}

# have_run LABEL... checks that the release build has tests with each label. A test that was left out because the
# program it needs was not found must not count as passed.
have_run() {
  local label registered
  for label in "$@"; do
    # Read to its end first: a grep that ends at the first match would fail the pipe if ctest had more to print.
    registered=$(ctest --preset release --show-only --label-regex "^$label\$") || return 1
    if ! grep -q '^ *Test *#' <<<"$registered"; then
      echo "no test with the label '$label' is registered (see $logs/release-configure.log)" >&2
      return 1
    fi
    echo "$label: run with the release build's tests"
  done
}

# The virtual node boots and waits as much as it computes, so it runs beside the build of the next stage, which runs at
# nice 10. end_virtual_node waits for it and shows what it printed. If no virtual machine can run here, the stage is
# reported as skipped; any other obstacle is a failure.
node_pid=
begin_virtual_node() {
  if ! install_packages "${packages_node[@]}"; then
    echo "virtual node: SKIPPED: QEMU cannot be installed here"
    skipped+=(node)
    return 0
  fi
  "$root/tests/node/node_test.py" >"$logs/node.log" 2>&1 </dev/null &
  node_pid=$!
  trap 'kill "$node_pid" 2>/dev/null && wait "$node_pid" || true' EXIT
  echo "runs beside the next stage's build (output in $logs/node.log)"
}

end_virtual_node() {
  local status=0
  wait "$node_pid" || status=$?
  trap - EXIT
  node_pid=
  cat "$logs/node.log"
  ((status == 77)) || return "$status"
  skipped+=(node)
}

asan_is_built=no
build_asan() {
  if [[ -n $node_pid ]]; then prefix=(nice -n 10); fi
  if configure_and_build asan; then asan_is_built=yes; fi
  prefix=()
  [[ $asan_is_built == yes ]]
}
fuzz() { configure_and_build fuzz && run_tests fuzz; }
mpich() { configure_and_build mpich -DRINGSIDE_BUILD_TESTS=ON && run_tests mpich; }

# clang 14's ThreadSanitizer cannot place its shadow if the kernel randomises more than 28 bits of an address. This
# affects the build, too: it runs the test programs to list their tests.
tsan() {
  local bits
  bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
  if ((bits > 28)); then
    if ! setarch --addr-no-randomize true 2>/dev/null; then
      echo "ThreadSanitizer needs vm.mmap_rnd_bits=28 (found $bits); as root: sysctl vm.mmap_rnd_bits=28" >&2
      return 1
    fi
    prefix=(setarch --addr-no-randomize)
  fi
  configure_and_build tsan && run_tests tsan
  local status=$?
  prefix=()
  return "$status"
}

cd "$root"
stage "packages"
if [[ $quick == yes ]]; then
  install_packages "${packages_build[@]}" "${packages_python[@]}" "${packages_python_test[@]}" "${packages_mpi[@]}" || exit $?
elif [[ $mpich == yes ]]; then
  install_packages "${packages_build[@]}" "${packages_python[@]}" "${packages_python_test[@]}" "${packages_mpich[@]}" || exit $?
else
  packages=("${packages_build[@]}" "${packages_python[@]}" "${packages_python_test[@]}" "${packages_mpi[@]}"
    "${packages_test[@]}" "${packages_fuzz[@]}")
  if [[ $all == yes ]]; then packages+=("${packages_all[@]}"); fi
  install_packages "${packages[@]}" || exit $?
fi
leave_root "$here/test.sh" "$@"
mkdir -p "$logs"
rm -f "$logs"/*.log  # of an earlier run: the verdict quotes them

if [[ $mpich == yes ]]; then
  check mpich "MPICH: build, and the tests of several MPI ranks" mpich
else
  check release "release: build and all tests" release
fi
if [[ $all == yes ]]; then
  check all "the page in a browser, Prometheus itself, Python, MPI, the packages, the library" \
    have_run browser prometheus python mpi manual debian_package lintian library_c library_cpp library_fortran library_abi library_python \
    library_petsc library_eigen library_messages python_wheel \
    export_hdf5 export_vtk export_zarr export_zarr3 export_records
  check node "a virtual node: the package installed, its services, a power cut" begin_virtual_node
fi
if [[ $quick == no && $mpich == no ]]; then
  check asan "AddressSanitizer and UndefinedBehaviorSanitizer: build" build_asan
  if [[ -n $node_pid ]]; then check node "the virtual node, to its end" end_virtual_node; fi
  if [[ $asan_is_built == yes ]]; then check asan "AddressSanitizer and UndefinedBehaviorSanitizer: all tests" run_tests asan; fi
  check tsan "ThreadSanitizer: build and the threaded tests" tsan
  check fuzz "fuzzing: build and short runs" fuzz
fi

# why NAME repeats what a stage's logs say of its failure: where only the end of the output is kept, what the stage
# printed is gone.
why() {
  if [[ -f $logs/$1.log ]]; then tail -n 30 "$logs/$1.log" | sed "s/^/$1: /"; fi
  if [[ -f $logs/$1-tests.log ]]; then sed -n "/tests FAILED/,\$ s/^/$1: /p" "$logs/$1-tests.log"; fi
}

stage "verdict"
if ((${#failed[@]} > 0)); then
  for name in "${failed[@]}"; do why "$name"; done
  echo "FAILED: ${failed[*]} (logs in $logs)"
  exit 1
fi
if ((${#skipped[@]} > 0)); then
  echo "PASSED: all stages but what was skipped: ${skipped[*]}"
else
  echo "PASSED: all stages"
fi
