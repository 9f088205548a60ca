// SPDX-License-Identifier: BSD-3-Clause
// The analyzer that a program starts for a run of its own: `ringside run --attend`, which does beside this process all
// that `ringside run -- PROGRAM` does beside one that it has started (docs/publish/library.md#without-a-launcher). The
// two talk through a pair of sockets, in records that end with a NUL: NAME=VALUE for what the hand-off needs, `ready`,
// and at the end account=JSON; or refused=CODE TEXT. This side only closes its half: the run is over.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/handoff/handoff_environment.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside::library {

struct OwnAnalyzerOptions {
  std::string pool;  // as it was given: the helper has this process's folder
  PoolUse pool_use = PoolUse::kResume;
  std::vector<std::string> run_options;  // of `ringside run`
  StopFlag stop = {};
};

class OwnAnalyzer {
 public:
  /// Starts it, and returns when it listens. Throws Error: exit code 2 if an option is refused, 3 if there is no program to
  /// start or the system lacks something, 130 once `stop` is set, and what the analyzer itself ends with.
  explicit OwnAnalyzer(const OwnAnalyzerOptions& options);
  /// The run is over: `finish`, but without waiting.
  ~OwnAnalyzer();
  OwnAnalyzer(const OwnAnalyzer&) = delete;
  OwnAnalyzer& operator=(const OwnAnalyzer&) = delete;

  /// RINGSIDE_SOCKET and what else the hand-off needs, for handoff_options_of_environment.
  const Variables& variables() const noexcept { return variables_; }
  /// Those that `ringside run` would bind this process to, ascending.
  const std::vector<int>& cores() const noexcept { return cores_; }

  /// The run is over: waits until the account is told and the pool is free, at most `most_s` seconds.
  void finish(double most_s);
  /// As `ringside run --summary` writes it; empty before `finish`, and if no step was committed.
  const std::string& account() const noexcept { return account_; }

 private:
  void start(const OwnAnalyzerOptions& options);
  void take_record(const std::string& record);
  bool read_some(int timeout_ms);

  ForkMark process_;
  UniqueFd socket_;
  std::string received_;  // of a record that is not whole yet
  bool ready_ = false;
  Variables variables_;
  std::vector<int> cores_;
  std::string account_;
  pid_t helper_ = 0;  // the kernel makes it a child of this process if that is the first of a container, or adopts orphans
};

/// The words of a text, as a shell separates them: by blanks, but for those in '…', in "…" and behind a backslash. Throws Error
/// (exit code 2), which names `what`, for a quote that does not end.
std::vector<std::string> words_of(const std::string& text, const char* what);

}  // namespace ringside::library
