# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The output of the scripts that build and test: a section with a header for each stage. The commands of a stage write
# to a log file, whose end is shown only if the stage fails; a build also shows its progress. Also handles the option
# --output of the scripts that make files. The script that sources this one has set pipefail and `root`.

stages_started=$SECONDS

# take_output SCRIPT WHAT ARGUMENT... sets `output` to the folder given with --output, which is the only option. Before
# the call, `output` contains the default.
take_output() {
  local script=$1 usage
  usage="usage: $script [--output FOLDER]
  --output FOLDER   where the $2 are put (default: ${output#"$root/"})"
  shift 2
  while (($# > 0)); do
    case $1 in
      --output)
        if (($# < 2)) || [[ -z $2 ]]; then echo "$script: --output: expected a folder" >&2 && exit 2; fi
        output=$(realpath -m -- "$2") && shift ;;
      -h | --help) echo "$usage" && exit 0 ;;
      *) echo "$script: unknown option '$1'" >&2 && echo "$usage" >&2 && exit 2 ;;
    esac
    shift
  done
}

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
  ((status == 0)) || show_failure "$log" "$status" "$@"
  return "$status"
}

# with_progress LOG COMMAND... does the same for a command that runs ninja, and shows how far ninja is.
with_progress() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  NINJA_STATUS='[%f/%t] ' "$@" 2>&1 </dev/null | show_progress "$log" || status=$?
  ((status == 0)) || show_failure "$log" "$status" "$@"
  return "$status"
}

# show_failure LOG STATUS COMMAND... prints what failed, and LOG's end.
show_failure() {
  local log=$1 status=$2
  shift 2
  {
    echo "failed (status $status): $*"
    echo "the end of $log:"
    tail -n 40 "$log" | sed 's/^/  /'
  } >&2
}

# show_progress LOG copies standard input to LOG. On a terminal, only the newest of ninja's lines (`[123/180] Building
# ...`) is shown. It replaces the previous one and is cut to the terminal's width. If the output is no terminal, a line
# is printed at each 10 %.
show_progress() {
  local line columns=0 percent tenth=0 terminal=no
  if [[ -t 1 && ${TERM:-dumb} != dumb ]]; then terminal=yes; fi
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line" >&3
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]] || continue
    if [[ $terminal == yes ]]; then
      columns=$(terminal_columns 4)
      printf '\r%-*s' $((columns - 1)) "${line:0:columns-1}"
    else
      percent=$((BASH_REMATCH[1] * 100 / BASH_REMATCH[2]))
      if ((percent / 10 > tenth)); then
        tenth=$((percent / 10))
        echo "[${BASH_REMATCH[1]}/${BASH_REMATCH[2]}] $percent %"
      fi
    fi
  done 3>"$1" 4>&1
  if ((columns > 0)); then printf '\r%*s\r' $((columns - 1)) ''; fi
}

# terminal_columns FD prints the width of the terminal on FD; 80 if the terminal does not report it.
terminal_columns() {
  local size
  size=$(stty size <&"$1" 2>/dev/null) || size=
  size=${size#* }
  echo $((${size:-0} > 0 ? size : 80))
}

# Prints how many compilers may run at once: one for each processor, but not more than memory allows (2 GB for each).
build_jobs() {
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo 2>/dev/null)
  memory=${memory:-1}
  ((memory >= 1)) || memory=1
  echo $((processors < memory ? processors : memory))
}
