// SPDX-License-Identifier: BSD-3-Clause
#include "node/streams/thread_groups.hpp"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/thread.hpp"

namespace ringside {
namespace {

// More spins than at any barrier whose threads are all running. After so many spins, another program must occupy the
// core of a thread, so this thread yields its own core.
constexpr int kSpinsBeforeYield = 100'000;

/// Data shared by the threads of one run.
struct SharedRun {
  SharedRun(int threads, const Repetitions& wanted) : repetitions(wanted), barrier(threads), unfinished(threads) {}

  const Repetitions& repetitions;
  SpinBarrier barrier;
  std::atomic<int> unfinished;
  std::atomic<bool> failed{false};
  std::mutex guards_error;
  std::exception_ptr error;
};

void fail_with(SharedRun& run, std::exception_ptr error) {
  const std::lock_guard lock(run.guards_error);
  if (!run.error) run.error = std::move(error);
  run.failed.store(true);
}

void prepare_thread(SharedRun& run, const ThreadGroup& group, int thread) {
  try {
    const int cpu = group.cpus[static_cast<std::size_t>(thread)];
    if (const int error = bind_calling_thread(cpu)) {
      throw system_error("cannot run a thread on CPU {}: {}", cpu, errno_text(error));
    }
    if (group.prepare && !run.failed.load()) group.prepare(thread);
  } catch (...) {
    fail_with(run, std::current_exception());
  }
}

void repeat_once(const ThreadGroup& group, int thread, ThreadTimes& times) noexcept {
  const std::int64_t begin = now_ns();
  group.repeat(thread);
  const std::int64_t end = now_ns();
  times.begin_ns.push_back(begin);
  times.end_ns.push_back(end);
}

void repeat_freely(SharedRun& run, const ThreadGroup& group, int thread, ThreadTimes& times) noexcept {
  const Repetitions& wanted = run.repetitions;
  const std::int64_t start = now_ns();
  bool done = false;
  while (!done || (wanted.until_all_are_done && run.unfinished.load(std::memory_order_relaxed) > 0)) {
    repeat_once(group, thread, times);
    if (!done && times.repeats() >= static_cast<std::size_t>(wanted.repeats) &&
        times.end_ns.back() - start >= wanted.at_least_ns) {
      done = true;
      run.unfinished.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

/// first: whether this is the first of all threads.
void run_thread(SharedRun& run, const ThreadGroup& group, int thread, bool first, ThreadTimes& times) {
  prepare_thread(run, group, thread);
  times.cpu = group.cpus[static_cast<std::size_t>(thread)];
  times.begin_ns.reserve(static_cast<std::size_t>(run.repetitions.repeats));
  times.end_ns.reserve(static_cast<std::size_t>(run.repetitions.repeats));
  run.barrier.wait();
  if (run.failed.load()) return;
  if (run.repetitions.begun) {
    if (first) run.repetitions.begun();
    run.barrier.wait();
  }
  if (run.repetitions.pace == Repetitions::Pace::kFree) return repeat_freely(run, group, thread, times);
  for (int repeat = 0; repeat < run.repetitions.repeats; ++repeat) {
    run.barrier.wait();
    repeat_once(group, thread, times);
  }
}

}  // namespace

void SpinBarrier::wait() noexcept {
  const std::uint32_t round = round_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);  // publishes the stores of all threads before their arrival
    return;
  }
  for (int spins = 0; round_.load(std::memory_order_acquire) == round;) {
    _mm_pause();
    if (spins < kSpinsBeforeYield) {
      ++spins;
    } else {
      sched_yield();
    }
  }
}

std::vector<double> GroupTimes::seconds() const {
  std::vector<double> seconds;
  for (std::size_t repeat = 0; repeat < threads.front().repeats(); ++repeat) {
    std::int64_t begin = threads.front().begin_ns[repeat];
    std::int64_t end = threads.front().end_ns[repeat];
    for (const ThreadTimes& thread : threads) {
      begin = std::min(begin, thread.begin_ns[repeat]);
      end = std::max(end, thread.end_ns[repeat]);
    }
    seconds.push_back(static_cast<double>(end - begin) * 1e-9);
  }
  return seconds;
}

std::vector<GroupTimes> run_groups(std::span<const ThreadGroup> groups, const Repetitions& repetitions) {
  std::size_t all = 0;
  for (const ThreadGroup& group : groups) all += group.cpus.size();
  SharedRun run(static_cast<int>(all), repetitions);
  std::vector<GroupTimes> times;
  for (const ThreadGroup& group : groups) times.push_back({std::vector<ThreadTimes>(group.cpus.size())});

  std::vector<std::thread> threads;
  threads.reserve(all);
  std::atomic<bool> may_begin{false};  // if one thread cannot be started, the others must not wait at the barrier
  std::atomic<bool> give_up{false};
  try {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t t = 0; t < groups[g].cpus.size(); ++t) {
        const bool first = g == 0 && t == 0;
        threads.emplace_back([&run, &may_begin, &give_up, &group = groups[g], &own = times[g].threads[t], t, first] {
          may_begin.wait(false);
          if (!give_up.load()) run_thread(run, group, static_cast<int>(t), first, own);
        });
      }
    }
  } catch (const std::system_error& error) {
    give_up.store(true);
    fail_with(run, std::make_exception_ptr(system_error("cannot start {} threads: {}", all, error.what())));
  }
  may_begin.store(true);
  may_begin.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (run.error) std::rethrow_exception(run.error);
  return times;
}

GroupTimes run_group(const ThreadGroup& group, const Repetitions& repetitions) {
  return run_groups(std::span(&group, 1), repetitions).front();
}

}  // namespace ringside
