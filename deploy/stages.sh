# shellcheck shell=bash
# How quickstart.sh and test.sh speak: a headed section for each stage, its noise in a log file that is shown only when
# the stage fails.

stages_started=$SECONDS

# stage TITLE: a header with the time since the script began.
stage() {
  local elapsed=$((SECONDS - stages_started))
  printf '\n== %s  [%d:%02d]\n' "$1" $((elapsed / 60)) $((elapsed % 60))
}

# quietly LOG COMMAND...: runs the command with its output in LOG; on failure shows LOG's end and returns the status.
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

# How many compilers at once: one for each processor, but no more than memory has room for (2 GB each).
build_jobs() {
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo 2>/dev/null)
  memory=${memory:-1}
  ((memory >= 1)) || memory=1
  echo $((processors < memory ? processors : memory))
}
