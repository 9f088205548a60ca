// SPDX-License-Identifier: BSD-3-Clause
// `ringside run --attend`: libringside starts this for a program that was started without us (library/own_analyzer.hpp
// has the other side and the records). This process leaves the program's session, so that it gets no Ctrl-C, and is no
// longer one of its children. It ends with the program's run, or with the program.
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
  /// The value of --attend, which must be the first of these arguments; empty if it is not.
  static std::optional<std::string> asked_in(int argc, const char* const* argv);

  /// value: "3:0,1", a descriptor and the program's cores. Leaves the program's process tree: returns in a new process.
  /// Throws Error (exit code 2) if it was not started by a program.
  explicit Attendance(const std::string& value);

  /// The program's process number, and its command line in words.
  pid_t program() const noexcept { return program_; }
  std::string words() const;

  void tell(std::string_view name, std::string_view value) noexcept;
  void ready(const Variables& variables) noexcept;
  void refuse(const Error& error) noexcept;

  /// For the Child that represents the program. Call it once.
  UniqueFd take_pidfd() noexcept { return std::move(pidfd_); }
  /// A copy, because this side continues to write.
  UniqueFd copy_of_socket() const;

 private:
  void send(std::string_view record) noexcept;

  pid_t program_ = 0;
  UniqueFd pidfd_;
  UniqueFd socket_;
};

/// Waits if an analyzer whose program has ended still has the pool: it commits the published steps, then ends. So a
/// killed program can be restarted at once. most_s: the longest wait.
void wait_for_predecessor(const std::string& pool, double most_s);

}  // namespace ringside
