// SPDX-License-Identifier: BSD-3-Clause
// The standard streams. Standard output carries a program's answer: if a write to it fails, the program has failed.
// run_program checks this at the end of every subcommand. Standard error is for people: if writing to it fails (a full
// disk with `2> log`), the program must continue.
#pragma once

#include <streambuf>
#include <string_view>

namespace ringside {

/// Occupies the standard descriptors that the caller has closed, so that no file opened later gets their number and
/// receives output. Writing to a closed standard output fails (EBADF). Call this function first in main.
void hold_standard_descriptors() noexcept;

/// Writes and flushes. Returns false once any write to standard output has failed.
bool write_standard_output(std::string_view text) noexcept;

/// Flushes everything that was printed, by any function. Returns 0 if no write to standard output has failed since the
/// program began, otherwise the errno value of a failed write, or EIO if that value is not known.
int finish_standard_output() noexcept;

/// While this object exists, output to std::cout goes through write_standard_output, which keeps the reason of a
/// failure.
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

/// Ends the process by SIGPIPE, as the kernel ends a process that writes to a pipe without a reader; a shell expects a
/// program in `PROGRAM | head` to end this way. Returns only if SIGPIPE cannot be raised.
void end_by_broken_pipe() noexcept;

}  // namespace ringside
