// SPDX-License-Identifier: BSD-3-Clause
// Groups of pinned threads side by side; each thread repeats its work and times every repeat. Threads meet at a barrier
// on which they spin, because a wake-up takes longer than many of the measured works.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ringside {

/// A reusable barrier for a fixed number of threads.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) noexcept : threads_(threads) {}
  /// Returns when all threads have called it. Their earlier stores are then visible to all.
  void wait() noexcept;

 private:
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

struct ThreadGroup {
  std::vector<int> cpus;  // one thread on each; at least one
  /// Each thread calls this function once before the start, all of them side by side: the function touches the thread's
  /// memory. May throw; may be empty. thread: from 0 within the group.
  std::function<void(int thread)> prepare;
  /// The work. Must not throw.
  std::function<void(int thread)> repeat;
};

struct Repetitions {
  enum class Pace {
    kFree,     // one barrier at the start; then no thread waits for another
    kTogether  // a barrier of all threads before each repeat; all have the same number of repeats
  };
  Pace pace = Pace::kFree;
  int repeats = 10;              // the least number of repeats of each thread
  std::int64_t at_least_ns = 0;  // kFree: minimum duration
  bool until_all_are_done =
      false;  // kFree: finished threads continue until the last one has finished, so that all repeats run under load
  /// One thread calls this function once, after every `prepare` and before any repeat. Must not throw; may be empty.
  std::function<void()> begun = nullptr;
};

/// Begin and end of a thread's repeats, by now_ns (common/platform/clock.hpp).
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

  /// kTogether: for each repeat, the time from the first thread's begin to the last thread's end.
  std::vector<double> seconds() const;
};

/// Runs the groups and returns their times in the same order. Throws Error (exit code 3) if a thread cannot be started
/// or pinned, and any error of a `prepare`; then no work has begun.
std::vector<GroupTimes> run_groups(std::span<const ThreadGroup> groups, const Repetitions& repetitions);

/// Runs one group.
GroupTimes run_group(const ThreadGroup& group, const Repetitions& repetitions);

}  // namespace ringside
