// SPDX-License-Identifier: BSD-3-Clause
// Groups of pinned threads side by side, each thread repeating its work and timing every repeat. Threads meet at a
// barrier on which they spin: a wake-up costs more than many of the measured works.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ringside {

/// For a fixed number of threads, any number of times.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) noexcept : threads_(threads) {}
  /// Returns when all threads have called it. What each stored before is then seen by all.
  void wait() noexcept;

 private:
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

struct ThreadGroup {
  std::vector<int> cpus;  // one thread on each; at least one
  /// Called once by each thread before the start, by all of them side by side: it touches the thread's memory. May
  /// throw; may be empty. thread: from 0 within the group.
  std::function<void(int thread)> prepare;
  /// The work. Must not throw.
  std::function<void(int thread)> repeat;
};

struct Repetitions {
  enum class Pace {
    kFree,     // one barrier at the start, then each thread by itself
    kTogether  // a barrier of all threads before each repeat; all do the same number
  };
  Pace pace = Pace::kFree;
  int repeats = 10;              // of each thread, at least
  std::int64_t at_least_ns = 0;  // kFree: and so long
  bool until_all_are_done =
      false;  // kFree: threads that are done continue until the last one is: all repeats are loaded
  /// Called once, by one thread, after every `prepare` and before any repeat. Must not throw; may be empty.
  std::function<void()> begun = nullptr;
};

/// When a thread's repeats began and ended, by now_ns (common/platform/clock.hpp).
struct ThreadTimes {
  int cpu = 0;
  std::vector<std::int64_t> begin_ns;
  std::vector<std::int64_t> end_ns;

  std::size_t repeats() const noexcept { return end_ns.size(); }
  double seconds_of(std::size_t repeat) const noexcept {
    return static_cast<double>(end_ns[repeat] - begin_ns[repeat]) * 1e-9;
  }
};

struct GroupTimes {
  std::vector<ThreadTimes> threads;

  /// kTogether: the time from the first thread's begin to the last thread's end, of each repeat.
  std::vector<double> seconds() const;
};

/// Runs them; returns each group's times in the order of the groups. Throws Error (exit code 3) if a thread cannot be
/// started or pinned, and what a `prepare` throws; no work has begun then.
std::vector<GroupTimes> run_groups(std::span<const ThreadGroup> groups, const Repetitions& repetitions);

/// One group.
GroupTimes run_group(const ThreadGroup& group, const Repetitions& repetitions);

}  // namespace ringside
