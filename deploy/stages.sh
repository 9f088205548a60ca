# shellcheck shell=bash
# The output of quickstart.sh, test.sh and package.sh: a headed section for each stage. The commands of a stage write
# to a log file, which is shown only if the stage fails.

stages_started=$SECONDS

# stage TITLE prints a header with the time since the script began.
stage() {
  local elapsed=$((SECONDS - stages_started))
  printf '\n== %s  [%d:%02d]\n' "$1" $((elapsed / 60)) $((elapsed % 60))
}

# quietly LOG COMMAND... runs the command with its output in LOG. If it fails, prints LOG's end and returns its status.
quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then
    echo "failed (status $status): $*" >&2
    echo "the end of $log:" >&2
    tail -n 40 "$log" | sed 's/^/  /' >&2
  fi
  return "$status"
}

# Prints how many compilers may run at once: one for each processor, but no more than memory has room for (2 GB each).
build_jobs() {
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo 2>/dev/null)
  memory=${memory:-1}
  ((memory >= 1)) || memory=1
  echo $((processors < memory ? processors : memory))
}
