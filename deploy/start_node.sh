#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ringside on a node without systemd, and in batch jobs: starts the analyzer and a producer, each on its own cores,
# reports their state, and stops them so that the step in progress is committed. Each process holds a lock while it
# exists. So the script can wait for the end of a process, and never confuses it with another process that has the same
# pid. Exit status: 0 done; 2 usage; 3 the system lacks something, or nothing runs; 4 a process died or does not answer;
# 130 if `run` was stopped; otherwise the exit status of the program.
set -euo pipefail
umask 077

name=${0##*/}  # as installed: ringside-start-node

usage() {
  cat <<TEXT
usage: $name start  [OPTION...] [-- PRODUCER-OPTION...]   starts the analyzer; with --job or PRODUCER-OPTION, also a producer
       $name run    [OPTION...] [-- PRODUCER-OPTION...]   runs both until the producer ends (for batch jobs)
       $name run --per-node [OPTION...] -- PROGRAM        runs one rank of an MPI job, under mpirun or srun
       $name status [--runtime DIR]                       shows what runs, and whether it answers
       $name stop   [--runtime DIR] [--timeout S] [--force]   ends the producer, then the analyzer
  --job FILE.toml          the producer's options (keys: the options of ringside-producer)
  --config FILE.toml       the analyzer's options (keys: the options of ringside-analyzer)
  --pool FILE              the analyzer's --pool
  --analyzer OPTION        another option for the analyzer, such as --analyzer --slots=16; may be repeated
  --analyzer-cores LIST    cores such as 0-3,8; give both lists or neither (default: chosen among the cores that this
                           process may use, as 'ringside doctor' shows)
  --producer-cores LIST    cores of the producer, in the same form
  --per-node               run: PROGRAM links libringside_mpi; on each node, the first rank starts the node's analyzer (by
                           'ringside run --per-node'). Accepts only --pool (%h is the node's name), --analyzer and both lists
                           of cores
  --restarts N             run: how many analyzers may be started in place of killed ones (default 3; 0: none)
  --runtime DIR            folder of socket, locks and logs, which only this user may access (default: one folder per user
                           and Slurm job, in XDG_RUNTIME_DIR, TMPDIR or /tmp)
  --log-dir DIR            folder of analyzer.log and producer.log (default: the --runtime folder)
  --timeout S              most seconds to wait for a start, an answer or an end (default 60)
  --force                  stop: kill processes that have not ended after --timeout
A producer continues from the newest iterate in the pool (--resume), unless PRODUCER-OPTION has --overwrite. SIGTERM,
SIGINT and SIGHUP end 'run' cleanly; the next 'run' continues from there. Exit status: 0 done; 2 usage; 3 the system
lacks something, or nothing runs; 4 a process died or does not answer; otherwise the program's own; 130 stopped.
TEXT
}

say() { echo "$name: $*"; }

bytes_of() { local LC_ALL=C && echo "${#1}"; }

fail() {  # STATUS TEXT...: prints one line and exits
  local status=$1
  shift
  local text=$*
  echo "$name: ${text//[[:cntrl:]]/?}" >&2
  exit "$status"
}

# whole_number OPTION TEXT LOW HIGH prints TEXT, which must be digits, without leading zeros; bash would read these as
# octal.
whole_number() {
  if [[ $2 =~ ^0*([0-9]{1,9})$ ]] && ((10#${BASH_REMATCH[1]} >= $3 && 10#${BASH_REMATCH[1]} <= $4)); then
    echo "$((10#${BASH_REMATCH[1]}))"
  else
    fail 2 "$1: found '$2', expected a number from $3 to $4"
  fi
}

# ---- one process: its lock, its pid, its end

# Probes take a shared lock, so that two probes at the same time do not take each other for the process.
is_alive() {  # WHO
  local pid
  [[ -e $folder/$1.lock ]] || return 1
  if flock --shared --nonblock "$folder/$1.lock" true; then return 1; fi
  read -r pid 2>/dev/null <"$folder/$1.pid" && [[ $pid =~ ^[0-9]+$ ]]
}

pid_of() { cat "$folder/$1.pid"; }

# launch WHO COMMAND... starts COMMAND in the background, in its own session, with WHO's lock and log, and sets pid.
# This shell also holds the lock, until it closes descriptor 8.
launch() {
  local who=$1
  shift
  exec 8>"$folder/$who.lock"
  # The time-out is needed because a process whose pid is not written may hold the lock: its starter may have been
  # killed before it wrote the pid.
  flock --timeout "$timeout" 8 || fail 3 "$folder/$who.lock is held by an unknown process; 'fuser $folder/$who.lock' names it"
  setsid "$@" 9>&- </dev/null >>"$log_folder/$who.log" 2>&1 &
  pid=$!
  echo "$pid" >"$folder/$who.pid"
}

last_words() { tail -n 1 "$log_folder/$1.log" | sed "s/^/  $1: /" >&2; }

# end WHO sends SIGTERM and waits. Returns 1 if the process has not ended in time.
end() {
  is_alive "$1" || return 0
  kill -TERM "$(pid_of "$1")" 2>/dev/null || true
  flock --shared --timeout "$timeout" "$folder/$1.lock" true || return 1
}

# ---- starting

choose_cores() {
  local found
  if [[ -z $analyzer_cores && -z $producer_cores ]]; then
    found=$(ringside doctor --json 2>/dev/null) || true  # it may report problems
    analyzer_cores=$(sed -nE 's/^ *"analyzer_cores": "([^"]*)".*/\1/p' <<<"$found")
    producer_cores=$(sed -nE 's/^ *"producer_cores": "([^"]*)".*/\1/p' <<<"$found")
    [[ -n $analyzer_cores && -n $producer_cores ]] || analyzer_cores='' producer_cores=''  # one core for both
  elif [[ -z $analyzer_cores || -z $producer_cores ]]; then
    fail 2 "found only one of --analyzer-cores and --producer-cores, expected both or neither"
  fi
  if [[ -n $analyzer_cores ]]; then
    analyzer_options+=("--cores=$analyzer_cores")
    producer_options+=("--cores=$producer_cores")
  else
    analyzer_options+=(--shared-core)
    producer_options+=(--shared-core)
  fi
}

# Returns when the analyzer listens. The analyzer reports this on the pipe for its reports.
start_analyzer() {
  local pipe=$folder/ready line='' status=0
  rm -f "$pipe"
  mkfifo "$pipe"
  launch_reporting analyzer "$pipe" ringside-analyzer "${analyzer_options[@]}" --report-fd=7
  analyzer_pid=$pid
  exec 8>&-
  exec 6<"$pipe"
  rm -f "$pipe"
  read -r -t "$timeout" -u 6 line || status=$?
  exec 6<&-
  [[ $line != *'"ready"'* ]] || return 0
  if ((status > 128)); then
    kill -KILL "$analyzer_pid"
    last_words analyzer
    fail 4 "the analyzer did not listen within $timeout s"
  fi
  status=0
  wait "$analyzer_pid" || status=$?
  rm -f "$folder/analyzer.pid"
  last_words analyzer
  fail "$status" "the analyzer did not start (status $status)"
}

launch_reporting() {  # WHO PIPE COMMAND...
  local who=$1 pipe=$2
  shift 2
  # The new process first opens the pipe, so that the reader at the other end does not wait forever.
  # shellcheck disable=SC2016  # for the bash that is started
  launch "$who" bash -c 'exec 7>"$0" && exec "$@"' "$pipe" "$@"
}

prepare() {
  local program
  for program in ringside ringside-analyzer ringside-producer; do
    command -v "$program" >/dev/null || fail 3 "$program is not on PATH; install ringside, or put its folder there"
  done
  if [[ -n $job && ! -r $job ]]; then fail 2 "--job: '$job' cannot be read"; fi
  if [[ ! -e $folder ]] && ! { mkdir -p "${folder%/*}" && mkdir -m 0700 "$folder"; }; then
    fail 3 "--runtime: '$folder' cannot be made"
  fi
  [[ -d $folder && ! -L $folder && -O $folder && $(stat -c %a "$folder") == 700 ]] ||
    fail 3 "--runtime: '$folder' is not a folder of this user alone; expected mode 0700, or no such folder"
  mkdir -p "$log_folder" || fail 3 "--log-dir: '$log_folder' cannot be made"
  exec 9>"$folder/start.lock"
  flock --timeout "$timeout" 9 || fail 3 "$folder is in use by another $name"
  analyzer_options+=("--socket=$socket" --log-level=info)
  producer_options+=("--socket=$socket" --log-level=info)
  [[ -z $job ]] || producer_options+=("--config=$job")
  [[ " ${producer_options[*]} " == *" --overwrite "* ]] || producer_options+=(--resume)
  choose_cores
}

forget() { rm -f "$folder/$1.pid" "$folder/$1.exit"; }

start() {
  prepare
  if is_alive analyzer; then
    say "the analyzer runs already (pid $(pid_of analyzer))"
  else
    forget analyzer
    start_analyzer
    say "the analyzer listens at $socket (pid $analyzer_pid, cores ${analyzer_cores:-shared})"
  fi
  if [[ $has_job == yes ]]; then
    if is_alive producer; then fail 3 "a producer runs already (pid $(pid_of producer)); expected none, or 'stop' first"; fi
    forget producer
    # A subshell waits for the producer in order to record its exit status, and keeps the lock until this status is
    # written.
    read -r pid < <(
      exec </dev/null
      launch producer ringside-producer "${producer_options[@]}"
      exec 9>&- 2>>"$log_folder/producer.log"
      echo "$pid"
      exec >&2
      trap '' HUP
      status=0
      wait "$pid" || status=$?
      echo "$status" >"$folder/producer.exit"
    ) || exit 3  # the reason is already printed
    say "the producer was started (pid $pid, cores ${producer_cores:-shared}); logs are in $log_folder"
  fi
}

# ---- run

stopping=no
analyzer_lost=no
producer_pid=

forward() {
  stopping=yes
  [[ -z $producer_pid ]] || kill -TERM "$producer_pid" 2>/dev/null || true
}

# Called if the analyzer ends while the producer runs. Sets analyzer_pid to a new analyzer's pid, or ends the producer.
replace_analyzer() {  # STATUS
  forget analyzer
  # Exit code 3 means that the disk or the system failed. A new analyzer could not find out what was lost.
  if [[ $stopping == no && $1 != 3 ]] && ((restarts > 0)); then
    restarts=$((restarts - 1))
    say "the analyzer ended (status $1); another one is started ($restarts restarts are left)" >&2
    start_analyzer
  else
    say "the analyzer ended (status $1); the run ends, too" >&2
    analyzer_pid=
    [[ $stopping == yes ]] || analyzer_lost=yes
    kill -TERM "$producer_pid" 2>/dev/null || true
  fi
}

run() {
  local ended status analyzer_status=0 producer_status=
  [[ $has_job == yes ]] || fail 2 "run: found neither --job nor options after --, expected the producer's options in one of them"
  trap forward TERM INT HUP
  prepare
  if is_alive analyzer; then fail 3 "an analyzer runs already (pid $(pid_of analyzer)); 'stop' it, or use another --runtime"; fi
  forget analyzer
  forget producer
  start_analyzer
  trap end_all EXIT
  if [[ $stopping == no ]]; then
    launch producer ringside-producer "${producer_options[@]}"
    producer_pid=$pid
    exec 8>&-
    [[ $stopping == no ]] || forward  # the signal may have arrived before the wait
  else
    producer_status=130
  fi
  exec 9>&-
  say "the analyzer listens at $socket; logs are in $log_folder"
  while [[ -z $producer_status ]]; do
    status=0 ended=
    # an empty list must add no argument
    wait -n -p ended $producer_pid $analyzer_pid 2>/dev/null || status=$?
    if [[ ${ended:-} == "$producer_pid" ]]; then
      producer_status=$status
    elif [[ -n ${ended:-} && $ended == "$analyzer_pid" ]]; then
      analyzer_status=$status
      replace_analyzer "$status"
    fi  # otherwise a signal came and was passed on
  done
  # A producer that is starting or loading is killed by SIGTERM. Because it was asked to end, its exit status counts as
  # 130.
  ((producer_status != 143)) || producer_status=130
  forget producer
  if [[ -n $analyzer_pid ]]; then
    end analyzer || fail 4 "the analyzer (pid $analyzer_pid) has not ended after $timeout s; '$name stop --force' kills it"
    analyzer_status=0
    wait "$analyzer_pid" || analyzer_status=$?
  fi
  forget analyzer
  trap - EXIT
  if ((analyzer_status == 3)); then
    last_words analyzer
    fail 3 "the analyzer ended with status 3"
  elif [[ $stopping == yes && $producer_status != [03] ]]; then
    say "stopped; run again, it continues from the newest iterate in the pool" >&2
    exit 130
  elif [[ $analyzer_lost == yes && $producer_status == 130 ]]; then  # the signal reached the producer before it noticed
    last_words analyzer
    fail 4 "the analyzer ended with status $analyzer_status, and the run with it"
  elif ((producer_status != 0)); then
    last_words producer
    ((producer_status <= 130)) || producer_status=4  # killed
    fail "$producer_status" "the producer ended with status $producer_status"
  fi
  say "done"
}

# For one rank of many: `ringside run` starts and replaces the analyzer, and ends it when the ranks end.
run_per_node() {
  [[ -z $of_no_rank ]] || fail 2 "run --per-node: found $of_no_rank, expected --pool, --analyzer, lists of cores and '-- PROGRAM' only"
  ((${#producer_options[@]} > 0)) || fail 2 "run --per-node: found no '-- PROGRAM', expected a program that links libringside_mpi"
  command -v ringside >/dev/null || fail 3 "ringside is not on PATH; install ringside, or put its folder there"
  [[ -z $analyzer_cores ]] || analyzer_options+=("--analyzer-cores=$analyzer_cores")
  [[ -z $producer_cores ]] || analyzer_options+=("--producer-cores=$producer_cores")
  exec ringside run --per-node --resume "${analyzer_options[@]}" -- "${producer_options[@]}"
}

# If `run` ends early, this ends both processes.
end_all() {
  if ! end producer || ! end analyzer; then say "a process has not ended in time; '$name stop --force' kills it" >&2; fi
}

# ---- status and stop

status() {
  local who exit_code worst=0
  for who in analyzer producer; do
    if is_alive "$who"; then
      echo "$who: pid $(pid_of "$who")"
    elif [[ -e $folder/$who.exit ]]; then
      exit_code=$(cat "$folder/$who.exit")
      echo "$who: ended with status $exit_code"
      ((exit_code == 0 || worst != 0)) || worst=4
    elif [[ -e $folder/$who.pid ]]; then
      echo "$who: died (it was pid $(pid_of "$who")); '$name start' starts another one"
      worst=4
    else
      echo "$who: not running"
      [[ $who != analyzer ]] || worst=3
    fi
  done
  ((worst == 0)) || return "$worst"
  # A reply shows that the analyzer is neither stopped nor stuck.
  if ! timeout "$timeout" ringside tail --socket "$socket" --once; then
    fail 4 "the analyzer does not answer (it never does with telemetry = \"off\")"
  fi
}

stop() {
  local who is_left=no
  for who in producer analyzer; do  # in this order, so that the analyzer commits the producer's last steps
    if ! is_alive "$who"; then
      echo "$who: not running"
    elif end "$who"; then
      echo "$who: ended"
    elif [[ $force == yes ]]; then
      kill -KILL "$(pid_of "$who")"
      flock --shared "$folder/$who.lock" true
      echo "$who: killed, after $timeout s"
    else
      echo "$who: runs (pid $(pid_of "$who")) $timeout s after SIGTERM; --force kills it"
      is_left=yes
      continue
    fi
    forget "$who"
  done
  [[ $is_left == no ]] || exit 4
}

# ---- the command line

job='' has_job=no per_node=no of_no_rank='' analyzer_cores='' producer_cores='' restarts=3 timeout=60 force=no log_folder=
own_folder=ringside-node-$(id -u)${SLURM_JOB_ID:+-$SLURM_JOB_ID}
# Slurm passes the values of the login node to the job, but these folders need not exist on the node of the job. A
# socket's path has at most 107 bytes, of which /analyzer.socket.global.telemetry are 33.
passed_over=
for base in "${XDG_RUNTIME_DIR:-}" "${TMPDIR:-/tmp}" /tmp /var/tmp; do
  folder=$base/$own_folder
  [[ -d $base && -w $base ]] && (($(bytes_of "$folder") <= 74)) && break
  [[ -n ${TMPDIR:-} && $base == "$TMPDIR" ]] && passed_over=$TMPDIR
done
analyzer_options=() producer_options=()
command=${1:-}
case $command in
  start | run | status | stop) shift ;;
  -h | --help) usage && exit 0 ;;
  *) fail 2 "found '$command', expected start, run, status or stop; see --help" ;;
esac
while (($# > 0)); do
  case $1 in
    --job | --config | --pool | --analyzer | --analyzer-cores | --producer-cores | --restarts | --runtime | --log-dir | --timeout)
      (($# > 1)) || fail 2 "$1: found nothing after it, expected a value; see --help"
      set -- "$1=$2" "${@:3}"
      continue
      ;;
    --job=*) job=${1#*=} has_job=yes of_no_rank=${1%%=*} ;;
    --config=*) analyzer_options+=("$1") of_no_rank=${1%%=*} ;;
    --pool=*) analyzer_options+=("$1") ;;
    --per-node) per_node=yes ;;
    --analyzer=*) analyzer_options+=("${1#*=}") ;;
    --analyzer-cores=*) analyzer_cores=${1#*=} ;;
    --producer-cores=*) producer_cores=${1#*=} ;;
    --restarts=*) restarts=${1#*=} of_no_rank=${1%%=*} ;;
    --runtime=*) folder=${1#*=} passed_over='' of_no_rank=${1%%=*} ;;
    --log-dir=*) log_folder=${1#*=} of_no_rank=${1%%=*} ;;
    --timeout=*) timeout=${1#*=} of_no_rank=${1%%=*} ;;
    --force) force=yes of_no_rank=$1 ;;
    --) shift && producer_options=("$@") has_job=yes && break ;;
    -h | --help) usage && exit 0 ;;
    *) fail 2 "unknown option '$1'; see --help" ;;
  esac
  shift
done
timeout=$(whole_number --timeout "$timeout" 1 1000000) || exit
restarts=$(whole_number --restarts "$restarts" 0 1000000) || exit
((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)) || fail 3 "found bash $BASH_VERSION, expected 5.1 or newer"
if [[ $per_node == yes ]]; then
  [[ $command == run ]] || fail 2 "--per-node: found with '$command', expected 'run'"
  run_per_node
fi
[[ $folder == /* ]] || folder=$PWD/$folder
log_folder=${log_folder:-$folder}
socket=$folder/analyzer.socket
if [[ -n $passed_over && ($command == start || $command == run) ]]; then
  say "TMPDIR: the folder of the socket cannot be in '${passed_over//[[:cntrl:]]/?}' (missing, not writable, or a path that is" \
    "too long); it is $folder" >&2
fi
"$command"
