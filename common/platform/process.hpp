// SPDX-License-Identifier: BSD-3-Clause
// Functions for processes: whether this process is a forked child of an object's owner, whether another process is
// stopped, which exit code a process reports, and the environment and pipes of processes.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Marks state that a fork duplicates but that only one process may use. The mark is a page that the kernel wipes in
/// each child (MADV_WIPEONFORK), so a check is a load, without a system call.
class ForkMark {
 public:
  /// Marks the calling process. If memory is short or the kernel is old, each check calls getpid instead.
  ForkMark() noexcept;
  ~ForkMark();
  ForkMark(ForkMark&& other) noexcept : owner_(other.owner_), page_(std::exchange(other.page_, nullptr)) {}
  ForkMark& operator=(ForkMark&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(page_, other.page_);
    return *this;
  }

  /// True in the process that made the mark, false in its children. Any thread may call it.
  bool is_owner() const noexcept { return page_ != nullptr ? *page_ != 0 : getpid() == owner_; }
  /// The error for a child that uses an object of its parent (exit code 2). Requires that this process is not the
  /// owner.
  Error misuse() const;

 private:
  pid_t owner_;
  const volatile unsigned char* page_ = nullptr;
};

/// A deleter that does nothing in children of the process that made the pointer. Use it for objects whose destructor
/// would use threads and descriptors of the parent.
template <class T>
struct OwnersDelete {
  pid_t owner = getpid();
  void operator()(T* object) const noexcept {
    if (getpid() == owner) delete object;
  }
};

/// True while a signal (SIGSTOP, SIGTSTP) has stopped that process: a state that neither a hang-up nor a pidfd reveals.
/// False if /proc cannot be read.
bool is_stopped(pid_t pid) noexcept;

/// True while that thread runs or waits only for a core. False if /proc cannot be read.
bool is_runnable(pid_t thread) noexcept;

/// The time at which that process started, in clock ticks since the machine's start; 0 if /proc cannot be read.
std::uint64_t start_of(pid_t pid) noexcept;

/// The list of arguments or variables in the form that exec takes: pointers to the texts, then a null pointer. The list
/// is valid while `texts` is unchanged.
std::vector<char*> exec_list(std::vector<std::string>& texts);

/// The variable's value in the environment; null if it is unset or empty.
const char* environment_value(const char* name) noexcept;

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

/// A pipe whose two ends are closed by exec. Throws Error (exit code 3).
Pipe new_pipe();

/// Appends the content of a pipe or a file to `text`, until its end or until `text` has more than `most` bytes. Returns
/// 0, or the errno value of a failed read.
int read_to_end(int fd, std::string& text, std::size_t most = std::string::npos);

/// The exit code that a process, or a peer's message, reports. A number that is not documented comes from a program
/// that failed in an unexpected way, or from a hostile program. Such a number counts as kPeerLost and is never passed
/// on.
constexpr ExitCode documented_exit_code(std::int64_t number) noexcept {
  for (const ExitCode code : {ExitCode::kDone, ExitCode::kUsage, ExitCode::kSystem, ExitCode::kPeerLost,
                              ExitCode::kDamaged, ExitCode::kInterrupted}) {
    if (number == static_cast<std::int64_t>(code)) return code;
  }
  return ExitCode::kPeerLost;
}

}  // namespace ringside
