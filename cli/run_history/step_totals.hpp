// SPDX-License-Identifier: BSD-3-Clause
// Sums over a run's steps, from its records in order. Each step counts once: as recorded, or as missing.
#pragma once

#include <cstdint>

#include "proto/ringside.pb.h"

namespace ringside {

/// Sums over the recorded steps of one run.
struct StepSums {
  std::uint64_t steps = 0;
  std::uint64_t steps_skipped = 0;
  std::uint64_t leases_broken = 0;
  std::int64_t generate_ns = 0;
  std::int64_t producer_idle_ns = 0;
  std::int64_t analyzer_idle_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t commit_ns = 0;
  std::int64_t analyze_ns = 0;
  std::int64_t record_ns = 0;
  std::uint64_t bytes_transferred = 0;
  std::uint64_t rebuilt = 0;          // number of records made from the ring, which lack the analyzer's durations
  std::uint64_t records_missing = 0;  // number of steps without a record

  std::int64_t producer_ns() const noexcept { return generate_ns + producer_idle_ns; }
  std::int64_t analyzer_ns() const noexcept { return analyzer_work_ns() + analyzer_idle_ns; }
  std::int64_t analyzer_work_ns() const noexcept { return transfer_ns + commit_ns + analyze_ns + record_ns; }
};

struct StepTotals {
  std::uint64_t steps_before = 0;     // number of steps of this run before the first record that was read
  std::uint64_t counted_to = 0;       // commit_seq: each step up to here is in `sums`, as recorded or as missing
  std::uint64_t named_to = 0;         // commit_seq: RecordsMissing named all steps from counted_to up to here
  std::uint64_t steps_persisted = 0;  // the largest number reported so far
  StepSums sums;

  /// Adds a step. Returns false if it was already counted, because a RecordsMissing named it.
  bool add(const wire::StepRecord& step);
  void add(const wire::RecordsMissing& missing);
};

}  // namespace ringside
