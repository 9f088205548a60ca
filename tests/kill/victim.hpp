// SPDX-License-Identifier: BSD-3-Clause
// A process that the kill loop starts and kills, at random instants and with random options. The process writes its
// output to a log file. Waiting for the process has a time limit, because the kill loop must detect processes that do
// not end.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside::testing {

/// --peer-timeout of the programs: longer than a new analyzer needs to open its pool and sync it on a disk that other
/// processes keep busy. With 10 s, runs gave up while another process repeatedly wrote and synced 600 MB.
inline constexpr int kPeerTimeoutS = 60;

/// A process that takes longer counts as hung.
inline constexpr int kHangMs = 150'000;

class Victim {
 public:
  /// program: a path. Its standard output and error are appended to the file `log`.
  Victim(const std::string& program, const std::vector<std::string>& arguments, const std::string& log);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  void kill();  // SIGKILL

  /// The exit code, or 128 + the number of the signal that ended the process; nothing if it still runs after kHangMs.
  std::optional<int> wait();

 private:
  void reap(bool block);

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<int> ended_;
};

/// The processes whose parent is `parent` and whose program has this name.
std::vector<pid_t> children_of(pid_t parent, const std::string& program);

/// Waits until this process has no children left, including adopted orphans. After kHangMs, kills them and returns
/// false.
bool wait_for_orphans();

/// In most calls, waits until `progress` is true, so that the killed process has something to lose. Returns false if
/// `progress` never becomes true.
bool let_work_begin(std::mt19937_64& random, const std::function<bool()>& progress);

/// Waits for a random time: often short, sometimes well into the work.
void let_time_pass(std::mt19937_64& random, int at_most_ms);

/// True once in `n` times.
bool one_in(int n, std::mt19937_64& random);

/// Returns `one` or `other`, at random.
std::string either(const char* one, const char* other, std::mt19937_64& random);

}  // namespace ringside::testing
