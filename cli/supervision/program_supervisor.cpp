// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/program_supervisor.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/platform/process.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"

namespace ringside {
namespace {

// Those figures of the publishing process that each analyzer counts from zero.
constexpr const char* kPublishingCountedByEach[] = {"generate_s", "producer_idle_s", "steps_skipped"};

}  // namespace

ProgramSupervisor::ProgramSupervisor(const WatchedProgram& program)
    : Supervisor(program.show_progress, program.kill_after_s, false),
      program_(program),
      reminder_(clock_ns_),
      earlier_(orphans({})),
      begun_ns_(clock_ns_) {
  adopt_orphans();
  attends_ = program.is_attended;
  pool_may_be_empty_ = program.is_attended || program.resumes_from_others || program.trial;
  progress_.wait_for(fmt::format("waiting for {} to attach", program_.name));
}

void ProgramSupervisor::wait_for_program(Child& program, std::optional<Child>& analyzer,
                                         const std::function<void()>& restart_analyzer) {
  std::int64_t program_stopped_since_ns = 0;
  std::int64_t analyzer_alone_since_ns = 0;
  bool told_program = false;
  while (program.running() || analyzer->running()) {
    wait_once(&program, &*analyzer);
    collect_orphans(program, *analyzer);
    if (program_.trial) {
      end_trial_if_due(program);
    } else {
      tell(program, *analyzer);
    }
    kill_if_stopped_for_long(program, "program", program_stopped_since_ns);
    const bool is_served = publisher_may_come(program, *analyzer);
    if (!analyzer->running() && is_served && !is_over() && !told_program) {
      if (replaced(*analyzer, restart_analyzer)) continue;
      signal_producer(program, SIGINT);  // as Ctrl-C does; without an analyzer, the program's next claim would fail
      told_program = true;
      if (analyzer->ended_unexpectedly()) lost_analyzer_ = analyzer->how_it_ended();
      if (analyzer->exit_code() == 0) lost_analyzer_ = "was stopped by another process";
    }
    // Without a process to serve, the analyzer has no work left. A signal before the analyzer is ready would kill it.
    if (!is_served && analyzer_alone_since_ns == 0 && analyzer_.ready) {
      analyzer->signal(SIGTERM);
      analyzer_alone_since_ns = clock_ns_;
    }
    kill_if_silent(*analyzer, analyzer_, analyzer_alone_since_ns);
  }
  if (program_.trial) {
    program.signal(SIGKILL);  // processes of its group that outlive it
    kill_orphans(program, *analyzer);
  }
  progress_.clear();
}

/// Ends a trial that has enough steps, or for which the time is over, or that was interrupted: first by SIGTERM,
/// because a launcher passes this signal on to its processes, then by SIGKILL.
void ProgramSupervisor::end_trial_if_due(Child& program) {
  constexpr std::int64_t kPatienceNs = 2'000'000'000;
  const auto limit_ns = static_cast<std::int64_t>(program_.trial->seconds * 1e9);
  if (trial_ended_ns_ == 0) {
    const bool is_due =
        attachment_.committed >= program_.trial->steps || clock_ns_ - begun_ns_ > limit_ns || interrupted();
    if (!is_due) return;
    trial_ended_ns_ = clock_ns_;
  } else if (clock_ns_ - trial_ended_ns_ <= kPatienceNs) {
    return;
  }
  const int number = trial_ended_ns_ == clock_ns_ ? SIGTERM : SIGKILL;
  if (attachment_.attached && attachment_.pid != program.pid()) publisher_.signal(number);
  program.signal(number);
}

ProgramRunEnd ProgramSupervisor::end(const Child& program, const Child& analyzer) const {
  ProgramRunEnd end{
      .program = program_.name, .socket = socket_, .is_attended = program_.is_attended, .attachment = attachment_};
  if (program.exit_code() >= 0) end.end.status = program.exit_code();
  end.end.signal = program.death_signal();
  end.publisher_end = attachment_.pid == program.pid() ? end.end : publisher_end_;
  end.publisher_lives = publisher_.alive();
  end.interrupted = interrupted();
  end.announced = announced_;
  if (!lost_analyzer_.empty()) {
    end.analyzer_death = lost_analyzer_;
  } else if (!analyzer.ended_unexpectedly()) {
    end.analyzer_verdict = analyzer.verdict();
  } else if (attachment_.how.empty()) {
    end.analyzer_death = analyzer.how_it_ended();
  }
  return end;
}

/// Whether the process that publishes has left and will not return.
bool ProgramSupervisor::is_over() const noexcept {
  return !attachment_.how.empty() && attachment_.how != "producer_stopped" && attachment_.how != "stopped";
}

/// Whether a process may still need the analyzer, which would serve or refuse it.
bool ProgramSupervisor::publisher_may_come(const Child& program, const Child& analyzer) const noexcept {
  if (program.running()) return true;
  if (trial_ended_ns_ != 0) return publisher_.alive();  // other processes that PROGRAM has left do not matter any more
  if (!attachment_.attached) return !orphans_.empty();
  if (is_over()) return false;
  if (publisher_.alive()) return true;
  // The analyzer to which the process was attached will report the end of the attachment, unless this analyzer has died
  // as well.
  return attachment_.how.empty() && is_attached_to_analyzer_ && analyzer.running();
}

void ProgramSupervisor::analyzer_reported(Json& line) {
  const std::string event = line.value("event", "");
  if (event == "refused") {
    attachment_.refusal.emplace(documented_exit_code(line.value("exit_code", 0)), line.value("text", ""));
    // The process was reported as attached, but left before the analyzer replied.
    if (line.value("pid", 0) == attachment_.pid && attachment_.how.empty()) is_attached_to_analyzer_ = false;
  } else if (event == "attached") {
    begin_attachment(line);
  } else if (event == "final") {
    attachment_.how = line.value("how", "");
    attachment_.outcome = line.value("outcome", "");
    attachment_.code = documented_exit_code(line.value("exit_code", 0));
    attachment_.text = line.value("text", "");
  }
  if (!is_attached_to_analyzer_) return;  // the present analyzer has counted nothing for this process
  attachment_.iteration = line.value("last_iteration", attachment_.iteration);
  attachment_.committed = line.value("steps_committed", attachment_.committed);
  if (line.contains("producer")) {
    take_in_figures(std::move(line["producer"]));
    line.erase("producer");
  }
}

/// Takes note of an attachment. An attachment is reported again by the successor of a lost analyzer, and after the
/// process was stopped by a signal.
void ProgramSupervisor::begin_attachment(const Json& line) {
  attachment_.how.clear();
  is_attached_to_analyzer_ = true;
  if (attachment_.attached) return;
  attachment_.attached = true;
  attachment_.pid = line.value("pid", 0);
  attachment_.run_id = line.at("run").value("run_id", "");
  publisher_ = AttachedProcess(attachment_.pid);
  progress_.wait_for(fmt::format("{} has attached (process {}), no step yet", program_.name, attachment_.pid));
  producer_.figures = Json::object();
  for (const char* key : {"run", "resumed_from", "coordination", "buffers", "elastic"})
    producer_.figures[key] = line.at(key);
  if (program_.is_attended) return;  // the library binds such a program to cores, and releases it at the end of the run
  const CoreList cores{publisher_.cores()};
  if (!cores.cpus.empty() && cores.cpus != program_.cores) {
    say(fmt::format(
        "process {} runs on cores {}, but RINGSIDE_CORES has {}; expected the same cores (mpirun --bind-to none)",
        attachment_.pid, to_string(cores), to_string(CoreList{program_.cores})));
  }
}

void ProgramSupervisor::take_in_figures(Json figures) {
  if (!producer_.figures.is_object() || !figures.is_object()) return;
  for (const auto& [key, lost] : lost_publishing_.items()) figures[key] = add(figures[key], lost);
  // The successor of an analyzer reports the beginning of the first step that it took itself, so the earlier time is
  // kept.
  if (producer_.figures.value("begun_ns", std::int64_t{0}) != 0) figures["begun_ns"] = producer_.figures["begun_ns"];
  producer_.figures.update(figures);
}

void ProgramSupervisor::remember_lost_analyzer() {
  Supervisor::remember_lost_analyzer();
  is_attached_to_analyzer_ = false;
  for (const char* key : kPublishingCountedByEach) {
    if (producer_.figures.is_object() && producer_.figures.contains(key))
      lost_publishing_[key] = producer_.figures[key];
  }
}

// Signals the process group. If the publishing process is outside the group (because of an MPI launcher, Slurm's
// launcher, or setsid), the first signal goes only to the publishing process, because a launcher would end this process
// in a different way.
void ProgramSupervisor::signal_producer(Child& program, int number) {
  const bool outside =
      attachment_.attached && !is_over() && publisher_.alive() && !publisher_.is_in_group(program.pid());
  if (outside) {
    publisher_.signal(number);
    publisher_was_signalled_ = true;
    if (number != SIGKILL && interrupts_ < 2) return;
  }
  program.signal(number);
  if (program.running() && number != SIGKILL) return;
  for (const pid_t orphan : orphans_) {
    if (orphan != attachment_.pid && getpgid(orphan) != program.pid()) kill(orphan, number);
  }
}

// An attended program has received the signal itself, or decides alone when it ends. For a program that this process
// started, an announcement is passed on to the publishing process if the publishing process has a handler for it. A
// launcher that catches the signal passes it on to its ranks.
bool ProgramSupervisor::settle_signal(const Child& program, int number) {
  if (program_.trial) return false;  // a trial has nothing to save, and no run begins after it
  if (program_.is_attended) return true;
  if (!is_announcement(number)) return false;
  const bool is_apart = attachment_.attached && !is_over() && publisher_.alive() && attachment_.pid != program.pid();
  if (!is_apart && !program.running()) return false;
  const Handling handling = handling_of(is_apart ? attachment_.pid : program.pid(), number);
  if (handling != Handling::kCaught) return handling == Handling::kIgnored;
  const bool by_launcher = program.running() && handling_of(program.pid(), number) == Handling::kCaught;
  if (is_apart && !by_launcher) {
    publisher_.signal(number);
  } else {
    kill(program.pid(), number);
  }
  announced_ = number;
  return true;
}

/// Ends the processes that a trial's program has left in other groups. They would use the cores of the next trial, and
/// the run would wait for them.
void ProgramSupervisor::kill_orphans(const Child& program, const Child& analyzer) {
  for (;;) {
    collect_orphans(program, analyzer);
    std::erase_if(orphans_, [this](pid_t orphan) {
      return std::find(earlier_.begin(), earlier_.end(), orphan) != earlier_.end();
    });
    if (orphans_.empty()) return;
    for (const pid_t orphan : orphans_) {
      kill(orphan, SIGKILL);
      siginfo_t ended{};
      waitid(P_PID, static_cast<id_t>(orphan), &ended, WEXITED);
    }
  }
}

/// Collects orphans that have ended. Orphans are children of this process, so their exit status tells how the attached
/// process ended if it was an orphan.
void ProgramSupervisor::collect_orphans(const Child& program, const Child& analyzer) {
  orphans_ = orphans({program.pid(), analyzer.pid(), beside_ != nullptr ? beside_->pid() : program.pid()});
  std::erase_if(orphans_, [this](pid_t orphan) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(orphan), &ended, WEXITED | WNOHANG) != 0 || ended.si_pid == 0) return false;
    if (orphan == attachment_.pid && ended.si_code == CLD_EXITED) publisher_end_.status = ended.si_status;
    if (orphan == attachment_.pid && ended.si_code != CLD_EXITED) publisher_end_.signal = ended.si_status;
    return true;
  });
}

void ProgramSupervisor::tell_while_program_runs(const Child& program, const Child& analyzer) {
  if (!attachment_.attached) {
    if (const auto line = reminder_.due(clock_ns_, program_.name, program.pid(), socket_)) say(*line);
    return;
  }
  // If PROGRAM itself was attached and has ended, no line is printed yet, because its exit status will be known soon.
  const bool lost = attachment_.how == "producer_lost" && (attachment_.pid != program.pid() || publisher_.alive());
  if (lost && !std::exchange(loss_was_told_, true)) say(judge(end(program, analyzer)).line);
}

void ProgramSupervisor::tell(Child& program, const Child& analyzer) {
  if (program.running()) return tell_while_program_runs(program, analyzer);
  const bool is_attached = attachment_.attached && attachment_.how.empty() && attachment_.pid != program.pid();
  const bool is_awaited = !attachment_.attached && !orphans_.empty();
  if (!(is_attached && publisher_.alive()) && !is_awaited) return;
  // missed: the process attached only after the signal that ended its launcher.
  const bool missed = interrupts_ > 0 && is_attached && !publisher_was_signalled_;
  if (missed && !publisher_.is_in_group(program.pid())) signal_producer(program, SIGINT);
  if (std::exchange(waiting_was_told_, true)) return;
  ProcessEnd end;
  if (program.exit_code() >= 0) end.status = program.exit_code();
  end.signal = program.death_signal();
  say(is_attached ? fmt::format("{} {} while process {} is attached; waiting for this process", program_.name,
                                end.in_words(), attachment_.pid)
                  : fmt::format("{} {}; process {}, which it started, has not attached; waiting for this process",
                                program_.name, end.in_words(), orphans_.front()));
}

}  // namespace ringside
