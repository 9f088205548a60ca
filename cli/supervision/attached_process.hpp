// SPDX-License-Identifier: BSD-3-Clause
// Processes that belong to PROGRAM but were not started by `ringside run` itself: the attached process, which may be a
// launcher's child, and orphans, which outlive their parents and become children of `ringside run`.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

/// The process that an analyzer reported as attached. Keeps its identity, so that a signal never reaches a later
/// process with the same number.
class AttachedProcess {
 public:
  AttachedProcess() = default;
  explicit AttachedProcess(pid_t pid);

  bool alive() const noexcept;
  void signal(int number) const noexcept;
  /// Whether a Ctrl-C that is passed on to this process group reaches the process.
  bool is_in_group(pid_t group) const noexcept { return getpgid(pid_) == group; }
  /// The cores on which the threads of the process may run, ascending; empty if they are not known.
  std::vector<int> cores() const;

 private:
  pid_t pid_ = 0;
  UniqueFd pidfd_;
};

enum class Handling { kDefault, kIgnored, kCaught };
/// How a process handles a signal; kDefault if this cannot be read.
Handling handling_of(pid_t pid, int number);

/// From now on, this process becomes the parent of descendants whose parents end.
void adopt_orphans() noexcept;

/// The children of this process except `own`, including those that have ended and are not collected yet.
std::vector<pid_t> orphans(const std::vector<pid_t>& own);

}  // namespace ringside
