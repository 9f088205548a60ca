// SPDX-License-Identifier: BSD-3-Clause
// The standard streams. Standard output carries a program's answer: an answer that did not arrive is a failure, which
// run_program detects for all subcommands at their end. Standard error is for people: if it accepts nothing (a full
// disk under `2> log`), the program must continue.
#pragma once

#include <streambuf>
#include <string_view>

namespace ringside {

/// Occupies the standard descriptors that the caller has closed, so that no file opened later gets their number and
/// receives output. Writing to a closed standard output fails (EBADF). Call first thing in main.
void hold_standard_descriptors() noexcept;

/// Writes and flushes. False once standard output has refused anything.
bool write_standard_output(std::string_view text) noexcept;

/// Flushes everything printed, by whatever means. 0 if standard output has accepted everything since the program began,
/// else the errno value of a refused write; EIO if that is not known.
int finish_standard_output() noexcept;

/// While it exists, output to std::cout goes through write_standard_output, which keeps the reason of a failure.
class NotedOutput {
 public:
  NotedOutput();
  ~NotedOutput();
  NotedOutput(const NotedOutput&) = delete;
  NotedOutput& operator=(const NotedOutput&) = delete;

 private:
  std::streambuf* before_;
};

/// Writes to standard error; ignores errors.
void write_standard_error(std::string_view text) noexcept;

/// Ends the process as the kernel ends one that writes to a pipe without a reader; a shell expects that of `PROGRAM |
/// head`. Returns only if SIGPIPE cannot be raised.
void end_by_broken_pipe() noexcept;

}  // namespace ringside
