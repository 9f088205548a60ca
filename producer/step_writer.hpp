// SPDX-License-Identifier: BSD-3-Clause
// Where the steps of the producer's loop go (producer/producer.hpp): to the analyzer of one process
// (producer/run_writer.hpp), or to that of a node with several ranks (mpi/solvers/rank_run.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "common/options/options.hpp"
#include "common/schema/schema.hpp"
#include "library/ringside.h"

namespace ringside {

class StepWriter {
 public:
  virtual ~StepWriter() = default;

  /// Where this process's part of each variable lies in every step's memory, counted from the first one's beginning.
  virtual std::span<const VariablePlace> places() const noexcept = 0;

  /// Copies the kept step's variables to their places in `payload`. Before the first publish. Throws Error.
  virtual void copy_kept(void* payload) const = 0;

  // Statuses as of ringside.h. RINGSIDE_FULL: with kSkip only.
  virtual ringside_status claim(WhenFull when_full) noexcept = 0;
  virtual ringside_status claim_last() noexcept = 0;
  /// Of the claimed step: where the first variable begins.
  virtual void* buffer() noexcept = 0;
  /// Requires a claimed step, and a greater iteration than the one before.
  virtual void publish(std::uint64_t iteration, std::int64_t generate_ns,
                       std::span<const ringside_value> scalars) noexcept = 0;
  /// A step found no room and is not published.
  virtual void skip() noexcept = 0;
  virtual ringside_counts counts() const noexcept = 0;
};

}  // namespace ringside
