// SPDX-License-Identifier: BSD-3-Clause
// The analyzer that a program starts for its own run: `ringside run --attend`. This helper does everything for this
// process that `ringside run -- PROGRAM` does for a program that it has started
// (docs/publish/library.md#without-a-launcher). It sends records, which end with a NUL, through a pair of sockets:
// NAME=VALUE for the values that the hand-off needs, `ready`, and at the end account=JSON; or refused=CODE TEXT. This
// process sends nothing: it closes its half when the run is over.
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
  std::string pool;  // the path as it was given; the helper has the same working folder
  PoolUse pool_use = PoolUse::kResume;
  std::vector<std::string> run_options;  // options of `ringside run`
  StopFlag stop = {};
};

class OwnAnalyzer {
 public:
  /// Starts the analyzer, and returns when it listens. Throws Error: exit code 2 if an option is refused, 3 if the
  /// program is not found or a system call fails, 130 when `stop` is set, or the analyzer's exit code if the analyzer
  /// ends.
  explicit OwnAnalyzer(const OwnAnalyzerOptions& options);
  /// Ends the run like `finish`, but without waiting.
  ~OwnAnalyzer();
  OwnAnalyzer(const OwnAnalyzer&) = delete;
  OwnAnalyzer& operator=(const OwnAnalyzer&) = delete;

  /// RINGSIDE_SOCKET and the other variables of the hand-off, for handoff_options_of_environment.
  const Variables& variables() const noexcept { return variables_; }
  /// The cores to which `ringside run` would bind this process, in ascending order.
  const std::vector<int>& cores() const noexcept { return cores_; }

  /// Ends the run: waits until the account has arrived and the pool is free, but at most `most_s` seconds.
  void finish(double most_s);
  /// The account in the form in which `ringside run --summary` writes it; empty before `finish`, and if no step was
  /// committed.
  const std::string& account() const noexcept { return account_; }

 private:
  void start(const OwnAnalyzerOptions& options);
  void take_record(const std::string& record);
  bool read_some(int timeout_ms);

  ForkMark process_;
  UniqueFd socket_;
  std::string received_;  // the received part of an incomplete record
  bool ready_ = false;
  Variables variables_;
  std::vector<int> cores_;
  std::string account_;
  pid_t helper_ = 0;  // a child only if this process adopts orphans or is the first process of a container
};

/// Splits a text into words as a shell does: at blanks that are not in '…', in "…" or after a backslash. Throws Error
/// (exit code 2), whose text names `what`, if the closing quote is missing.
std::vector<std::string> words_of(const std::string& text, const char* what);

}  // namespace ringside::library
