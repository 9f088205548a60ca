// SPDX-License-Identifier: BSD-3-Clause
// How a run of the user's PROGRAM ended: one exit code and at most one line, from what is known of its processes and of
// its one attachment (docs/publish/library.md has the table).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/platform/error.hpp"

namespace ringside {

/// Neither is known of a process whose parent is another one.
struct ProcessEnd {
  std::optional<int> status = {};
  int signal = 0;  // 0: it did not die of one

  std::string in_words() const;  // "ended with status 3", "died of signal 11 (Segmentation fault)", "ended"
};

/// What the analyzer has reported of the attachment.
struct AttachmentReport {
  bool attached = false;
  pid_t pid = 0;    // the process that publishes
  std::string run_id = {};
  std::string how;           // it ended: "detached", "producer_lost" ...; empty: it has not
  std::string outcome = {};  // with "detached": "finished", "interrupted", "diverged", "failed", as the program says
  std::uint64_t iteration = 0;
  std::uint64_t committed = 0;
  bool is_counted = true;  // false: later steps may be committed; the analyzer was killed, and the pool cannot be read
  ExitCode code = ExitCode::kDone;  // with `how`: what the process was told
  std::string text = {};
  std::optional<Error> refusal = {};  // of the last request that was refused before any was accepted
};

struct ProgramRunEnd {
  std::string program;  // as it was given
  std::string socket;
  std::string pool = {};
  bool is_attended = false;  // it started us: how it ends is its own business
  ProcessEnd end = {};  // of the process that was started
  AttachmentReport attachment = {};
  ProcessEnd publisher_end = {};
  bool publisher_lives = false;
  bool interrupted = false;
  int announced = 0;  // the signal of a batch system that the program has got; 0: none
  std::string analyzer_death =
      {};  // "was killed by signal 9 (Killed)"; empty: it reported its end, or came after the program's
  ExitCode analyzer_verdict = ExitCode::kDone;  // its exit code, if it reported its end
};

struct ProgramVerdict {
  ExitCode code = ExitCode::kDone;
  std::string line;  // for the user; empty: there is nothing to tell
};

/// A failed disk and a truncated pool take precedence, then an interruption.
ProgramVerdict judge(const ProgramRunEnd& run);

/// Tells once that a program has not attached for a long time.
class AttachmentReminder {
 public:
  static constexpr std::int64_t kAfterS = 60;

  explicit AttachmentReminder(std::int64_t begun_ns) : begun_ns_(begun_ns) {}

  /// The line, if it is due. program: as it was given; pid: of the process that was started.
  std::optional<std::string> due(std::int64_t now_ns, const std::string& program, pid_t pid, const std::string& socket);

 private:
  std::int64_t begun_ns_;
  bool told_ = false;
};

/// Replaces what was reported of the attachment's steps by what `pool` has of them, if its end was not reported.
void count_in_pool(AttachmentReport& attachment, const std::string& pool);

}  // namespace ringside
