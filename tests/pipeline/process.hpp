// SPDX-License-Identifier: BSD-3-Clause
// Real processes for the tests: starts a program, returns what it printed, and kills it if the test ends first.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace ringside::testing {

using Words = std::vector<std::string>;

/// `words`, followed by `more`.
inline Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// For `in_child`: sets both limits of a resource.
inline std::function<void()> limiting(int resource, rlim_t value) {
  return [resource, value] {
    const rlimit limit{value, value};
    setrlimit(resource, &limit);
  };
}

struct Finished {
  int exit_code = -1;  // -1: killed by a signal
  int death_signal = 0;
  std::string out;
  std::string err;
};

class Process {
 public:
  /// Starts build/bin/PROGRAM. `in_child` runs between fork and exec (limits, affinity, working folder).
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const std::function<void()>& in_child = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Whether the process still runs.
  bool running() const;

  /// Blocks until standard error contains `text`. Returns false if the process closes standard error first.
  bool wait_for_err(const std::string& text);

  /// Blocks until standard output contains `text` `times` times. Returns false if the process closes standard output
  /// first.
  bool wait_for_out(const std::string& text, int times = 1);

  /// Waits until the process has ended.
  Finished finish();

  /// Sends the process the signal, and waits until the process has ended.
  Finished stop(int number) {
    signal(number);
    return finish();
  }

 private:
  bool read_some();
  bool wait_for(const std::string& text, int times, const std::string& read, const int& fd);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  Finished finished_;
};

/// Starts the program, waits for its end and returns the result.
Finished run(const std::string& program, const std::vector<std::string>& arguments,
             const std::function<void()>& in_child = {});

}  // namespace ringside::testing
