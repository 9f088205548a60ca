// SPDX-License-Identifier: BSD-3-Clause
// Runs one program to its end for an experiment, with its output in files, and measures its time and memory. While a
// HeldSignals exists, signals that request a stop stay pending, so that the caller can first remove the files that it
// made.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

struct ChildCommand {
  std::vector<std::string> words;        // the first one is the path of the program
  std::vector<std::string> environment;  // NAME=value; these replace our own values of the same names
  std::string folder;                    // the working folder; empty: ours
  std::string output;                    // a file for standard output; empty: discarded
  std::string messages;                  // a file for standard error; empty: discarded
  bool group = false;                    // a stop also ends the program's own child processes
  double limit_s = 0;                    // the time after which it is killed, with its group; 0: no limit
};

struct ChildEnd {
  int status = 0;  // the status that waitpid(2) returns
  bool timed_out = false;
  double wall_s = 0;                      // the time from before its start until after its end
  double cpu_s = 0;                       // the CPU time of the program and the processes that it waited for
  std::uint64_t peak_resident_bytes = 0;  // the largest of these processes; at least our own size, because the kernel
                                          // counts it until exec
  bool done() const noexcept;             // whether the program returned 0
};

/// "it ended with exit code 3", "signal 9 ended it", "it was stopped after 60 s".
std::string how_it_ended(const ChildEnd& end);

class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Starts the child and waits for its end. Throws Error: exit code 3 if it cannot be started, 130 if a signal
  /// requested a stop (the child has then ended).
  ChildEnd run(const ChildCommand& command) const;

 private:
  bool wait_for(pid_t child, const ChildCommand& command, ChildEnd& end) const;

  sigset_t before_{};
  UniqueFd stops_;  // a signalfd
};

}  // namespace ringside
