// SPDX-License-Identifier: BSD-3-Clause
// `ringside run --attend`: libringside starts this process for a program that was started without `ringside run`
// (library/own_analyzer.hpp describes the library's side and the records). This process leaves the program's session,
// so that it gets no Ctrl-C, and is then no longer a child of the program. It ends when the program's run or the
// program ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/handoff/handoff_environment.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

class Attendance {
 public:
  /// The value of --attend, which must be the first argument; empty if the first argument is another one.
  static std::optional<std::string> asked_in(int argc, const char* const* argv);

  /// value: a descriptor and the program's cores, "3:0,1". Leaves the program's process tree: returns in a new process.
  /// Throws Error (exit code 2) if libringside did not start this process.
  explicit Attendance(const std::string& value);

  /// The program's process number, and its command line in words.
  pid_t program() const noexcept { return program_; }
  std::string words() const;

  void tell(std::string_view name, std::string_view value) noexcept;
  void ready(const Variables& variables) noexcept;
  void refuse(const Error& error) noexcept;

  /// The pidfd of the program, for the Child that represents it. Call this function once.
  UniqueFd take_pidfd() noexcept { return std::move(pidfd_); }
  /// For the same Child: a copy of the socket, because this object continues to write to its own.
  UniqueFd copy_of_socket() const;

 private:
  void send(std::string_view record) noexcept;

  pid_t program_ = 0;
  UniqueFd pidfd_;
  UniqueFd socket_;
};

/// Waits while an analyzer whose program has ended still owns the pool: that analyzer commits the published steps and
/// then ends. With this wait, a killed program can be restarted at once. most_s: the longest wait in seconds.
void wait_for_predecessor(const std::string& pool, double most_s);

}  // namespace ringside
