// SPDX-License-Identifier: BSD-3-Clause
// A member of a cohort that exchanges no messages with the analyzer. Such a member writes its parts into the first
// member's buffers; counters in shared memory show when a buffer is free. The first member has a HandoffWriter instead.
#pragma once

#include <cstdint>

#include "common/cohort/cohort.hpp"
#include "common/handoff/futex_coordination.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/handoff_writer.hpp"
#include "common/handoff/peer.hpp"
#include "common/handoff/shared_mapping.hpp"

namespace ringside {

/// One thread claims and publishes. Many threads may write to the buffers.
class CohortWriter {
 public:
  /// Maps the first member's memory. `cohort` must outlive this object. Throws the errors of SharedMapping::join.
  CohortWriter(UniqueFd payload, UniqueFd control, const PayloadGeometry& geometry, Cohort& cohort,
               std::int64_t spin_ns);

  /// Returns the buffer for the next step. Waits while the analyzer still copies from that buffer. The status is kOk,
  /// kStopped (the caller's flag is set), or kAnalyzerFailed, for which Cohort::failure() has the reason.
  Claim claim() noexcept;
  /// Publishes this member's part, like HandoffWriter::publish, but without scalars: only the first member publishes
  /// those.
  void publish(const StepReport& report) noexcept;

  const SharedMapping& payload() const noexcept { return payload_; }
  std::uint64_t published() const noexcept { return next_step_; }
  std::int64_t idle_ns() const noexcept { return idle_ns_; }

 private:
  PayloadGeometry geometry_;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  HandoffControl* control_;
  Cohort& cohort_;
  std::int64_t spin_ns_;
  FutexCoordination coordination_;
  const Peer nobody_;  // represents no process: Cohort::beat checks the members
  bool claimed_ = false;
  std::uint64_t next_step_ = 0;
  std::int64_t idle_ns_ = 0;
  std::int64_t idle_reported_ns_ = 0;
};

}  // namespace ringside
