// Stands behind the persistence interface in place of the hardware: carries everything out in memory and writes down
// what it was asked to do, by which thread and in which function of the protocol.
//
// A trace must come out the same from the same seed, though OpenMP's threads and the ring's sync thread run when they
// like. The threads of one copy touch words of their own, so that any interleaving of their stores is one that could
// have been: each thread writes a log of its own, and the seed interleaves them. A sync of the sync thread stops at a
// gate until whoever drives the scenario lets it end.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "analyzer/ring/persistence.hpp"
#include "tests/crash/pool_bytes.hpp"
#include "tests/crash/random.hpp"
#include "tests/crash/trace.hpp"

namespace ringside::crash {

class Recorder final : public Persistence {
 public:
  /// Appends to `trace`. The constructing thread drives: syncs it calls itself end at once.
  Recorder(PoolBytes& pool, Trace& trace) : pool_(pool), trace_(trace), driver_(std::this_thread::get_id()) {}

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
  /// Ends a parallel part: puts the threads' logs into the trace, interleaved as `random` says.
  void join_threads(Random& random);

  /// Waits until the sync thread has called `sync`, which it must be about to do.
  void await_sync();
  /// Lets that sync end. Only while one waits.
  void end_sync();
  /// The owner is gone: its sync thread may run to its end, and nothing is written down any more.
  void let_go();

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
  bool in_sync_ = false;  // guarded by mutex_
  bool may_end_ = false;  // guarded by mutex_
  bool let_go_ = false;   // guarded by mutex_
};

}  // namespace ringside::crash
