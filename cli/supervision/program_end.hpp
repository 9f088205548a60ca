// SPDX-License-Identifier: BSD-3-Clause
// Judges how a run of the user's PROGRAM ended. The result is one exit code and at most one line, from the known facts
// about the run's processes and its one attachment (docs/publish/library.md has the table).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/platform/error.hpp"

namespace ringside {

/// The way in which a process ended. For a process that is not a child of this process, both members are unknown.
struct ProcessEnd {
  std::optional<int> status = {};
  int signal = 0;  // 0: no signal killed it

  std::string in_words() const;  // "ended with status 3", "died of signal 11 (Segmentation fault)", "ended"
};

/// The analyzer's report about the attachment.
struct AttachmentReport {
  bool attached = false;
  pid_t pid = 0;    // the process that publishes
  std::string run_id = {};
  std::string how;           // how the attachment ended: "detached", "producer_lost" ...; empty: it has not ended
  std::string outcome = {};  // with "detached", the program's report: "finished", "interrupted", "diverged", "failed"
  std::uint64_t iteration = 0;
  std::uint64_t committed = 0;
  bool is_counted = true;  // false: more steps may be committed: the analyzer was killed, and the pool is unreadable
  ExitCode code = ExitCode::kDone;  // set together with `how`: the code that the process received
  std::string text = {};
  std::optional<Error> refusal = {};  // the last refusal before an attach request was accepted
};

struct ProgramRunEnd {
  std::string program;  // the name as the user gave it
  std::string socket;
  std::string pool = {};
  bool is_attended = false;  // whether the program started this process; it then decides alone when it ends
  ProcessEnd end = {};  // the end of the process that was started
  AttachmentReport attachment = {};
  ProcessEnd publisher_end = {};
  bool publisher_lives = false;
  bool interrupted = false;
  int announced = 0;  // the batch system's signal that was passed on to the program; 0: none
  std::string analyzer_death =
      {};  // "was killed by signal 9 (Killed)"; empty: the analyzer reported its end, or ended after the program
  ExitCode analyzer_verdict = ExitCode::kDone;  // the analyzer's exit code, if it reported its end
};

struct ProgramVerdict {
  ExitCode code = ExitCode::kDone;
  std::string line;  // for the user; empty: nothing to report
};

/// Judges a run. A failed disk and a truncated pool take precedence over everything else, and an interruption over the
/// rest.
ProgramVerdict judge(const ProgramRunEnd& run);

/// Informs the user once if a program has not attached within kAfterS seconds.
class AttachmentReminder {
 public:
  static constexpr std::int64_t kAfterS = 60;

  explicit AttachmentReminder(std::int64_t begun_ns) : begun_ns_(begun_ns) {}

  /// The line for the user, if it is due. program: the name as the user gave it; pid: the process that was started.
  std::optional<std::string> due(std::int64_t now_ns, const std::string& program, pid_t pid, const std::string& socket);

 private:
  std::int64_t begun_ns_;
  bool told_ = false;
};

/// If the end of the attachment was not reported, replaces the reported steps by those that `pool` keeps.
void count_in_pool(AttachmentReport& attachment, const std::string& pool);

}  // namespace ringside
