// SPDX-License-Identifier: BSD-3-Clause
// Implements the persistence interface in place of the hardware: executes every call in memory, and traces the call,
// its thread and the function of the protocol that made the call.
//
// The same seed must give the same trace, although the order in which OpenMP's threads and the ring's sync thread run
// is not fixed. The threads of one copy store to different words, so that every interleaving of their stores is
// possible: each thread writes its own log, and the seed interleaves the logs. A sync of the sync thread waits at a
// gate until the thread that drives the scenario lets it end.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "analyzer/ring/persistence.hpp"
#include "tests/crash/images/pool_bytes.hpp"
#include "tests/crash/images/random.hpp"
#include "tests/crash/images/trace.hpp"

namespace ringside::crash {

class TracingPersistence final : public Persistence {
 public:
  /// Appends to `trace`. The thread that constructs this object drives the scenario: syncs that this thread calls end
  /// at once.
  TracingPersistence(PoolBytes& pool, Trace& trace) : pool_(pool), trace_(trace), driver_(std::this_thread::get_id()) {}

  void store64(std::uint64_t* to, std::uint64_t value) noexcept override;
  std::uint64_t copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept override;
  void flush(const void* address, std::size_t bytes) noexcept override;
  void drain() noexcept override;
  int sync() noexcept override;

  void enter(Phase phase) noexcept { phase_ = phase; }
  void acknowledge(Event event) {
    event.phase = phase_;
    trace_.push_back(event);
  }
  /// Ends a parallel part: adds the threads' logs to the trace, interleaved at random.
  void join_threads(Random& random);

  /// Waits until the sync thread has called `sync`. Requires that the sync thread is about to call `sync`.
  void await_sync();
  /// Lets the awaited sync end. Requires that a sync is waiting.
  void end_sync();
  /// Call when the owner has ended: its sync thread may finish, and its syncs are no longer traced.
  void abandon();

 private:
  static constexpr int kMaxThreads = 8;

  void add(Event event) noexcept;

  PoolBytes& pool_;
  Trace& trace_;
  const std::thread::id driver_;
  Phase phase_ = Phase::kNone;
  Trace of_thread_[kMaxThreads];

  std::mutex mutex_;
  std::condition_variable changed_;
  bool in_sync_ = false;    // guarded by mutex_
  bool may_end_ = false;    // guarded by mutex_
  bool abandoned_ = false;  // guarded by mutex_
};

}  // namespace ringside::crash
