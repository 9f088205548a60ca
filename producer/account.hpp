// SPDX-License-Identifier: BSD-3-Clause
// The producer's side of the account: its working time and its waiting time, summed over the run. One thread writes the
// members and the report's thread reads them, so they are atomic (relaxed: no figure depends on another figure).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/json/json.hpp"
#include "common/options/options.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {

struct ProducerAccount {
  std::atomic<std::uint64_t> iterations{0};    // the iteration that the solver has reached, also after a resume
  std::atomic<std::uint64_t> resumed_from{0};  // the kept iteration from which the run continued; 0: it began anew
  std::atomic<std::uint64_t> steps_published{0};
  std::atomic<std::uint64_t> steps_skipped{0};
  std::atomic<std::int64_t> generate_ns{0};
  std::atomic<std::int64_t> producer_idle_ns{0};
  std::atomic<std::int64_t> analyzer_cores_lent_ns{0};  // sum of the times of our threads on the analyzer's cores
  std::atomic<double> residual_l1{0};
  std::atomic<double> residual_linf{0};
  std::atomic<double> criterion{0};         // the figure that --tolerance bounds
  std::atomic<double> residual_growth{-1};  // the criterion's recent factor per iteration; below 0: unknown
  std::atomic<double> iterations_left{-1};  // estimated number until the tolerance is met; below 0: no estimate
  std::atomic<std::int64_t> load_ns{0};
  std::atomic<std::int64_t> begun_ns{0};  // CLOCK_MONOTONIC: the first iteration's start
  std::atomic<std::int64_t> ended_ns{0};  // CLOCK_MONOTONIC: the last iteration's end
  std::atomic<bool> converged{false};
};

/// Stores a figure of the account.
template <class T>
void set(std::atomic<T>& figure, T value) noexcept {
  figure.store(value, std::memory_order_relaxed);
}

/// An estimate as a figure of the account; -1 if there is no estimate.
inline double to_figure(const std::optional<std::uint64_t>& estimate) noexcept {
  return estimate ? static_cast<double>(*estimate) : -1.0;
}

/// The keys of `--summary` about the matrix's memory: its place and size, and the cost of faults since `begin`
/// (producer/memory/matrix_memory.hpp). For a matrix in DRAM, only the place is given.
Json far_account(const SolveOptions& options, const std::optional<FarUse>& begin);

/// The keys of `--summary` that the producer measures (seconds as doubles), and the instants begun_ns and ended_ns.
Json to_json(const ProducerAccount& account);

}  // namespace ringside
