// The standard streams. Standard output is where a program's answer goes: an answer that did not arrive is a failure,
// found in one place for all subcommands (run_program), at their end. Standard error is for people: that it takes
// nothing (a full disk under `2> log`) must not end what the program does.
#pragma once

#include <streambuf>
#include <string_view>

namespace ringside {

/// Takes the standard descriptors that the caller has closed, so that no file opened later becomes one of them and is
/// printed into. Writing to a closed standard output fails (EBADF). Call first thing in main.
void hold_standard_descriptors() noexcept;

/// Writes and flushes. False, also from then on, once standard output has refused anything.
bool write_standard_output(std::string_view text) noexcept;

/// Flushes what was printed, by whatever means. 0 if standard output has taken everything since the program began, else
/// the errno value of a write it refused; EIO where that is not known.
int finish_standard_output() noexcept;

/// As long as it lives, what goes to std::cout goes through write_standard_output, which keeps the reason of a failure.
class NotedOutput {
 public:
  NotedOutput();
  ~NotedOutput();
  NotedOutput(const NotedOutput&) = delete;
  NotedOutput& operator=(const NotedOutput&) = delete;

 private:
  std::streambuf* before_;
};

/// Writes to standard error, or not.
void write_standard_error(std::string_view text) noexcept;

/// Ends the process as the kernel ends one that writes to a pipe without a reader, which is what a shell expects of
/// `PROGRAM | head`. Returns only if SIGPIPE cannot be raised.
void end_by_broken_pipe() noexcept;

}  // namespace ringside
