# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Lists the stages of test.sh that have already passed with the same inputs: the files that a stage reads, the installed
# packages (including compilers), the kernel, the user, and the test data. A stage that passed leaves an empty file in
# the user's cache; the file's name contains the stage and the hash of the stage's inputs. These files are not
# committed. Sourced by test.sh, in the root of the sources.

passed_folder=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/ringside/passed

# The sources that a stage reads, as pathspecs of git; `release` reads all of them. The sanitizers' builds contain no
# script, benchmark, Python package or MPI library. `release` also compares the one document that a test reads
# (docs/use/run.md). The virtual node installs the packages, and runs one program of tests/unit/memory.
stage_sources() {
  case $1 in
    asan | tsan | fuzz) printf '%s\n' . ':!docs' ':!*.md' ':!*.py' ':!bench' ':!python' ':!mpi' ':!deploy/debian' ':!deploy/slurm' ;;
    node) printf '%s\n' . ':!bench' ':!tests/[!nu]*' ':!tests/unit/[!m]*' ;;
    *) printf '%s\n' . ;;
  esac
}

# stage_inputs STAGE prints the hash of the stage's inputs; fails if it cannot list all of them.
stage_inputs() {
  local -a sources
  mapfile -t sources < <(stage_sources "$1")
  git rev-parse --git-dir >/dev/null 2>&1 && command -v dpkg-query >/dev/null || return 1
  {
    git ls-files -z --cached --others --exclude-standard -- "${sources[@]}" | sort -z | xargs -0 stat --format='%n %A'
    git ls-files -z --cached --others --exclude-standard -- "${sources[@]}" | sort -z | xargs -0 sha256sum
    dpkg-query --show --showformat='${Package} ${Version} ${Architecture} ${db:Status-Status}\n'
    uname -rm
    nproc
    sed -n '/^flags/ { p; q }' /proc/cpuinfo  # they determine the usable kernels
    id -u
    # Some tests are skipped without these capabilities.
    grep -h CapEff /proc/self/status
    cat /proc/sys/vm/{unprivileged_userfaultfd,overcommit_memory,nr_hugepages} /proc/sys/kernel/{yama/ptrace_scope,io_uring_disabled} 2>/dev/null
    env | grep -E '^(RINGSIDE_|OMP_|LD_|PYTHON|PATH=|CC=|CXX=|CFLAGS=|CXXFLAGS=|LDFLAGS=)' | sort
    find -L "${RINGSIDE_TEST_DATA:-../shared/data}" -type f -exec sha256sum {} + 2>/dev/null | sort || true
  } | sha256sum | cut -d ' ' -f 1
}

# has_passed STAGE returns whether the stage has passed with its present inputs, and keeps the hash of these inputs for
# note_passed.
declare -A inputs_now=()
has_passed() {
  inputs_now[$1]=$(stage_inputs "$1") || return 1
  [[ -e $passed_folder/$1-${inputs_now[$1]} ]]
}

# note_passed STAGE records that a stage passed, unless its inputs changed while it ran. If the cache cannot be written,
# this costs only time.
note_passed() {
  local now
  now=$(stage_inputs "$1") || return 0
  [[ $now == "${inputs_now[$1]:-}" ]] || return 0
  { mkdir -p "$passed_folder" && : >"$passed_folder/$1-$now"; } 2>/dev/null || true
}
