// SPDX-License-Identifier: BSD-3-Clause
// The analyzer's side of the account: its working time and its waiting time, summed over one run. One thread writes all
// members. The report's thread reads the atomics (relaxed: no figure depends on another figure). The histogram is read
// after the run.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/handoff/step_descriptor.hpp"
#include "common/json/json.hpp"
#include "common/telemetry/latency_histogram.hpp"

namespace ringside {

/// The producer's side of the account, taken from the descriptors of the producer's steps. A program that publishes
/// through the library reports its times only in these descriptors.
struct PublisherAccount {
  std::atomic<std::int64_t> generate_ns{0};
  std::atomic<std::int64_t> producer_idle_ns{0};
  std::atomic<std::uint64_t> steps_skipped{0};
  std::atomic<bool> has_change{false};  // whether the first two scalars are the change; a solver may publish others
  std::atomic<double> residual_l1{0};
  std::atomic<double> residual_linf{0};
  std::atomic<std::int64_t> begun_ns{0};         // CLOCK_MONOTONIC: the start of the first step; 0: no step yet
  std::atomic<std::int64_t> published_at_ns{0};  // the time of the last step

  void add(const StepDescriptor& step) noexcept;
  void set_change(const StepDescriptor& step) noexcept;
};

struct AnalyzerAccount {
  std::atomic<std::uint64_t> steps_committed{0};
  std::atomic<std::uint64_t> steps_persisted{0};
  std::atomic<std::uint64_t> steps_not_kept{0};  // released without a copy, because a trigger has frozen the ring
  std::atomic<std::uint64_t> leases_broken{0};  // steps overwritten although a reader held them
  std::atomic<std::uint64_t> bytes_transferred{0};
  std::atomic<std::uint64_t> last_iteration{0};
  std::atomic<std::int64_t> transfer_ns{0};
  std::atomic<std::int64_t> commit_ns{0};
  std::atomic<std::int64_t> analyze_ns{0};
  std::atomic<std::int64_t> record_ns{0};  // time to count and record a step, and to choose the next step's slot
  std::atomic<std::int64_t> analyzer_idle_ns{0};
  std::atomic<std::int64_t> producer_cores_lent_ns{0};  // sum of the times of our threads on the producer's cores
  std::atomic<std::int64_t> ended_ns{0};                // CLOCK_MONOTONIC: when the last work on an iterate ended
  LatencyHistogram hand_off;                            // from publish to the first copied byte
  PublisherAccount publisher;
};

/// The keys of `--summary` that the analyzer measures (seconds as doubles), without the histogram.
Json to_json(const AnalyzerAccount& account);

/// The keys of `--summary` that describe the producer, taken from the descriptors of its steps. The residuals are null
/// if the solver does not publish them.
Json publisher_json(const AnalyzerAccount& account);

/// Returns {p50, p99, max} in nanoseconds.
Json to_json(const LatencyHistogram& histogram);

}  // namespace ringside
