#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing packages, builds with warnings as errors, and runs all tests: as released, under AddressSanitizer and
# UndefinedBehaviorSanitizer, the threaded ones under ThreadSanitizer, and short runs of the fuzz targets. Tests often
# wait, so each sanitizer's build runs beside the tests of the build before it, and the virtual node beside all. If one
# stage fails, the next ones still run; the last line is the verdict. Exit status: 0 passed, 1 failed, 2 usage, 3 the
# system lacks something.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"
# shellcheck source=deploy/passed.sh
source "$here/passed.sh"

usage() {
  cat <<'TEXT'
usage: test.sh [--quick | --all | --changed | --mpich | --frameworks | --release]
  --quick     the release build and its tests only
  --all       also tests the page in a real browser, Prometheus itself, the Debian package (with lintian, and its completions in
              every shell), and a virtual machine with an NVDIMM whose power is cut; installs the packages that this needs
  --changed   as --all, but leaves out each stage that has passed before with the same inputs, and names it (CI does this)
  --mpich     only the tests of several MPI ranks, with MPICH in place of Open MPI (no part of --all)
  --frameworks
              only Python's tests with Torch, JAX and scikit-learn from the registry, 6 GB on disk (no part of --all)
  --release   tests that take too long for every change, as root: MPICH, the frameworks, the site, Debian 13, the wheels, and a
              virtual node whose power is cut 100 times
TEXT
}

mode=default
for argument in "$@"; do
  case $argument in
    --quick | --all | --changed | --mpich | --frameworks | --release)
      if [[ $mode != default ]]; then echo "test.sh: --$mode and $argument exclude each other" >&2 && usage >&2 && exit 2; fi
      mode=${argument#--} ;;
    -h | --help) usage && exit 0 ;;
    *) echo "test.sh: unknown option '$argument'" >&2 && usage >&2 && exit 2 ;;
  esac
done

failed=()
skipped=()
declare -A skipped_tests=()
left_out=()
prefix=()  # precedes the building and testing programs
jobs=$(build_jobs)
logs=$root/build/logs

# configure_and_build PRESET [CMAKE OPTION...]: the build preset may name targets if only some are needed.
configure_and_build() {
  local preset=$1
  shift
  quietly "$logs/$preset-configure.log" "${prefix[@]}" cmake --preset "$preset" -DRINGSIDE_WERROR=ON "$@" &&
    with_progress "$logs/$preset-build.log" "${prefix[@]}" cmake --build --preset "$preset" --parallel "$jobs"
}

# run_tests PRESET runs one test more than there are processors, since most tests wait for processes more than they
# compute. It prints the output of failed tests, the names of skipped ones, and the counts. The parallel tests have more
# threads than there are processors, so OpenMP's threads must not spin while waiting (the
# test `services` spent 49 s of processor time spinning).
run_tests() {
  local preset=$1 status=0
  rm -rf "$root/build/$preset/test_results"
  unset "${!GTEST_@}" ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS  # these could disable tests or checks
  OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} "${prefix[@]}" ctest --preset "$preset" --parallel $((jobs + 1)) >"$logs/$preset-tests.log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then grep -vE '^ +Start +[0-9]+:|\.\.\. +Passed ' "$logs/$preset-tests.log" | tail -n 200; fi
  sed -n '/tests passed/p; /tests did not run/,/^$/p' "$logs/$preset-tests.log"
  if [[ -d $root/build/$preset/test_results ]]; then python3 "$root/tests/results.py" "$root/build/$preset"; fi
  return "$status"
}

# check NAME TITLE FUNCTION ARGUMENT... runs one stage and records its time, and its NAME if it fails.
seconds=()
check() {
  local name=$1 title=$2 began=$SECONDS
  stage "$title"
  shift 2
  "$@" || failed+=("$name")
  seconds+=("$((SECONDS - began)) $title")
}

has_failed() { [[ " ${failed[*]} " == *" $1 "* ]]; }

# wanted STAGE: whether the stage is to run. --changed excludes stages that have passed with the same inputs.
wanted() {
  local hit=no
  if has_passed "$1"; then hit=yes; fi
  if [[ $mode != changed || $hit == no ]]; then return 0; fi
  left_out+=("$1")
  return 1
}

# background NAME FUNCTION... runs the function beside the next stages, with its output in NAME.log; `finish NAME` waits
# for it, prints that output, and returns its status. Each background stage is a process group, so that its compilers
# and machines end with it.
declare -A background_pids=()
background() {
  local name=$1
  shift
  set -m
  "$@" >"$logs/$name.log" 2>&1 </dev/null &
  background_pids[$name]=$!
  set +m
  echo "$name: runs beside the next stages (output in $logs/$name.log)"
}
finish() {
  local status=0 pid=${background_pids[$1]}
  wait "$pid" || status=$?
  unset "background_pids[$1]"
  cat "$logs/$1.log"
  return "$status"
}
end_background() {
  local pid
  for pid in "${background_pids[@]}"; do
    kill -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
trap end_background EXIT

# Sets every option, because a build folder keeps earlier settings.
build_release() {
  configure_and_build release -DRINGSIDE_BUILD_{TESTS,BENCH,EXAMPLES,PYTHON,MPI}=ON -DRINGSIDE_BUILD_FUZZ=OFF -DRINGSIDE_UNITY=ON
}

# have_run LABEL... checks that the release build has tests with each label. A test omitted for lack of a program must
# not count as passed; the verdict lists tests that skipped themselves.
have_run() {
  local label registered name
  for label in "$@"; do
    # Reads all output first: a grep that ends at the first match would fail the pipe if ctest prints more.
    registered=$(ctest --preset release --show-only --label-regex "^$label\$") || return 1
    if ! grep -q '^ *Test *#' <<<"$registered"; then
      echo "no test with the label '$label' is registered (see $logs/release-configure.log)" >&2
      return 1
    fi
    while read -r name; do
      if grep -qE "^[[:space:]]+[0-9]+ - $name \(Skipped\)" "$logs/release-tests.log"; then skipped_tests[$name]=; fi
    done < <(sed -nE 's/^ *Test *#[0-9]+: //p' <<<"$registered")
    echo "$label: run with the release build's tests"
  done
}

# If no virtual machine can run here, the stage is reported as skipped; any other problem is a failure.
node_runs=no
begin_virtual_node() {
  if ! install_packages "${packages_node[@]}"; then
    echo "virtual node: SKIPPED: QEMU cannot be installed here"
    skipped+=(node)
    return 0
  fi
  # The package is made now, because tests that run meanwhile make packages in the same build folder, and the release
  # stage may be omitted.
  local package oracle=$root/build/release/bin/memory_oracle
  [[ -x $oracle ]] || build_release || return 1
  package=$("$here/package.sh" 2>"$logs/node-package.log") || { cat "$logs/node-package.log" && return 1; }
  node_runs=yes
  background node "$root/tests/node/node_test.py" --package "$package"
}

end_virtual_node() {
  local status=0
  finish node || status=$?
  if ((status == 77)); then skipped+=(node) && return 0; fi
  ((status != 0)) || note_passed node
  return "$status"
}

# ThreadSanitizer of clang 14 cannot place its shadow if the kernel randomises more than 28 bits of an address. This
# affects the build, too: it runs some test programs to list their tests.
without_randomised_addresses() {
  local bits
  bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
  ((bits > 28)) || return 0
  if ! setarch --addr-no-randomize true 2>/dev/null; then
    echo "ThreadSanitizer needs vm.mmap_rnd_bits=28 (found $bits); as root: sysctl vm.mmap_rnd_bits=28" >&2
    return 1
  fi
  prefix+=(setarch --addr-no-randomize)
}

# build_sanitizer PRESET: at nice 10, so that parallel tests are not slowed down.
build_sanitizer() {
  local status=0
  jobs=$(build_jobs)  # the tests use part of the memory
  prefix=(nice -n 10)
  rm -f "$root/build/$1/.built"
  if [[ $1 == tsan ]]; then without_randomised_addresses || status=1; fi
  if configure_and_build "$1"; then touch "$root/build/$1/.built"; else status=1; fi
  return "$status"
}

test_sanitizer() {
  local status=0
  # Otherwise programs of an earlier build would run in place of those that failed to build.
  if [[ ! -e $root/build/$1/.built ]]; then echo "$1: not built" && return 1; fi
  prefix=()
  if [[ $1 == tsan ]]; then without_randomised_addresses || return 1; fi
  run_tests "$1" || status=$?
  prefix=()
  ((status != 0)) || note_passed "$1"
  return "$status"
}

mpich() { configure_and_build mpich -DRINGSIDE_BUILD_TESTS=ON && run_tests mpich; }

frameworks() {
  local status=0
  build_release || return 1
  PYTHONPATH=$root/build/release/python RINGSIDE_TEST_FRAMEWORKS=yes /usr/bin/python3 -B "$root/tests/python/frameworks_test.py" \
    "$root/build/release/bin" || status=$?
  if ((status == 77)); then skipped+=(frameworks) && return 0; fi
  return "$status"
}

# wheels COMMAND...: builds the wheels by COMMAND, which is empty or switches to the user, and tests them in systems
# that debootstrap makes.
wheels() {
  local suite status=0
  "$@" "$here/wheels.sh" || return 1
  for suite in bullseye bookworm trixie; do "$here/test_on.sh" "$suite" --wheels "$root/build/wheels/dist" || status=1; done
  return "$status"
}

long_virtual_node() {
  local status=0
  "$root/tests/node/node_test.py" --long || status=$?
  if ((status == 77)); then skipped+=(node) && return 0; fi
  return "$status"
}

cd "$root"
if [[ $mode == release ]]; then
  if ((EUID != 0)); then
    echo "test.sh: --release makes a system of its own and a virtual machine, which needs root: run sudo $0 --release" >&2
    exit 3
  fi
  if [[ -n $(git -c safe.directory="$root" status --porcelain) ]]; then
    echo "test.sh: --release tests the last commit, and the sources differ from it (git status)" >&2
    exit 3
  fi
fi
stage "packages"
packages=("${packages_build[@]}" "${packages_python[@]}" "${packages_python_test[@]}" "${packages_ccache[@]}")
case $mode in
  mpich) packages+=("${packages_mpich[@]}") ;;
  quick) packages+=("${packages_mpi[@]}") ;;
  release) packages+=("${packages_mpich[@]}" "${packages_node[@]}" "${packages_wheels[@]}" "${packages_site[@]}") ;;
  *)
    packages+=("${packages_mpi[@]}" "${packages_test[@]}")
    if [[ $mode != default ]]; then packages+=("${packages_all[@]}"); fi ;;
esac
install_packages "${packages[@]}" || exit $?
# The packages are installed now, because they are inputs of every stage; begin_virtual_node reports packages that
# cannot be installed.
if [[ $mode == all || $mode == changed ]]; then install_packages "${packages_node[@]}" >/dev/null 2>&1 || true; fi
if [[ $mode != release ]]; then leave_root "$here/test.sh" "$@"; fi
mkdir -p "$logs"
rm -f "$logs"/*.log  # from an earlier run: the verdict quotes the logs

if [[ $mode == mpich ]]; then check mpich "MPICH: build, and the tests of several MPI ranks" mpich; fi
if [[ $mode == frameworks ]]; then check frameworks "Torch, JAX and scikit-learn: tensors, and the examples" frameworks; fi
if [[ $mode == release ]]; then
  as_user=()  # the user who called sudo, who then owns the built files
  if [[ ${SUDO_UID:-0} != 0 ]]; then as_user=(sudo -H -u "#$SUDO_UID" -g "#${SUDO_GID:-$SUDO_UID}" --); fi
  check mpich "MPICH: build, and the tests of several MPI ranks" "${as_user[@]}" "$here/test.sh" --mpich
  check frameworks "Torch, JAX and scikit-learn: tensors, and the examples" "${as_user[@]}" "$here/test.sh" --frameworks
  check site "the site: every page, link and reference" "${as_user[@]}" "$here/site.sh"
  check trixie "Debian 13: quickstart, packages and tests in a system of its own" "$here/test_on.sh" trixie
  check wheels "the wheels, in empty systems of Debian 11, 12 and 13" wheels "${as_user[@]}"
  check node "a virtual node: every bad state, and 100 power cuts" long_virtual_node
fi
if [[ $mode == quick || $mode == default || $mode == all || $mode == changed ]]; then
  sanitizers=()
  if [[ $mode != quick ]]; then
    for preset in asan tsan fuzz; do
      if wanted "$preset"; then sanitizers+=("$preset"); fi
    done
  fi
  run_release=yes
  wanted release || run_release=no
  run_node=no
  if [[ $mode == all || $mode == changed ]] && wanted node; then run_node=yes; fi

  if [[ $run_release == yes ]]; then check release "release: build" build_release; fi
  if [[ $run_node == yes ]]; then
    check node "a virtual node: the package installed, its services, a power cut" begin_virtual_node
  fi
  if ((${#sanitizers[@]} > 0)); then background "${sanitizers[0]}-built" build_sanitizer "${sanitizers[0]}"; fi
  if [[ $run_release == yes ]] && ! has_failed release; then
    check release "release: all tests" run_tests release
    if [[ $mode == all || $mode == changed ]]; then
      check all "the page in a browser, Prometheus itself, Python, MPI, the packages, the library" \
        have_run browser prometheus python mpi manual debian_package lintian library_c library_cpp library_fortran library_abi \
        library_python library_petsc library_eigen library_messages python_wheel \
        export_hdf5 export_vtk export_zarr export_zarr3 export_records
    fi
    if [[ $mode == all || $mode == changed ]] && ! has_failed release && ! has_failed all && ((${#skipped_tests[@]} == 0)); then
      note_passed release
    fi
  fi
  for index in "${!sanitizers[@]}"; do
    preset=${sanitizers[index]}
    next=${sanitizers[index + 1]:-}
    case $preset in
      asan) title="AddressSanitizer and UndefinedBehaviorSanitizer: all programs but those of pure functions" ;;
      tsan) title="ThreadSanitizer: the threaded tests" ;;
      fuzz) title="fuzzing: short runs" ;;
    esac
    check "$preset-built" "the build of $preset, to its end" finish "$preset-built"
    if [[ -n $next ]]; then background "$next-built" build_sanitizer "$next"; fi
    check "$preset" "$title" test_sanitizer "$preset"
  done
  if [[ $node_runs == yes ]]; then check node "the virtual node, to its end" end_virtual_node; fi
fi

# why NAME repeats the errors in a stage's logs: a CI that keeps only the end of the output loses the stage's own
# output.
why() {
  if [[ -f $logs/$1.log ]]; then tail -n 30 "$logs/$1.log" | sed "s/^/$1: /"; fi
  if [[ -f $logs/$1-tests.log ]]; then sed -n "/tests FAILED/,\$ s/^/$1: /p" "$logs/$1-tests.log"; fi
  if [[ -d $root/build/$1/test_results ]]; then python3 "$root/tests/results.py" "$root/build/$1" | sed -n "s/^failed: /$1: /p"; fi
}

stage "verdict"
for line in "${seconds[@]}"; do printf '%4d s  %s\n' "${line%% *}" "${line#* }"; done
for name in "${left_out[@]}"; do
  echo "left out: $name: it has already passed with these sources, packages, kernel and test data (test.sh --all runs it anyway)"
done
if ((${#failed[@]} > 0)); then
  for name in "${failed[@]}"; do why "$name"; done
  echo "FAILED: ${failed[*]} (logs in $logs)"
  exit 1
fi
skipped+=("${!skipped_tests[@]}")
if ((${#skipped[@]} > 0)); then
  echo "PASSED: all stages, except for the skipped ones: ${skipped[*]}"
else
  echo "PASSED: all stages"
fi
