// SPDX-License-Identifier: BSD-3-Clause
// `ringside run --attend`: what libringside starts for a program that was started without us (library/own_analyzer.hpp has the
// other side and the records). From here on this process belongs to no one: not to the program's session, whose Ctrl-C it does
// not get, and not to its children. It ends with the program's run, or with the program.
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
  /// The value of --attend among these words, which must come first; nothing if it is not there.
  static std::optional<std::string> asked_in(int argc, const char* const* argv);

  /// value: "3:0,1", a descriptor and the cores of the program. Leaves the program's process tree: returns in a new process.
  /// Throws Error (exit code 2) if no program has started this.
  explicit Attendance(const std::string& value);

  /// The program's process, by its number, and its command line in words.
  pid_t program() const noexcept { return program_; }
  std::string words() const;

  void tell(std::string_view name, std::string_view value) noexcept;
  void ready(const Variables& variables) noexcept;
  void refuse(const Error& error) noexcept;

  /// For the Child that stands for the program. Once.
  UniqueFd take_pidfd() noexcept { return std::move(pidfd_); }
  /// A copy: this side goes on writing.
  UniqueFd copy_of_socket() const;

 private:
  void send(std::string_view record) noexcept;

  pid_t program_ = 0;
  UniqueFd pidfd_;
  UniqueFd socket_;
};

/// Waits while an analyzer has the pool whose program has ended: it commits what that had published, and goes. So a program that was
/// killed may be started again at once. most_s: how long that may take.
void wait_for_predecessor(const std::string& pool, double most_s);

}  // namespace ringside
