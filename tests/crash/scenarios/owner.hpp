// SPDX-License-Identifier: BSD-3-Clause
// An analyzer's part in a scenario: it opens the ring, begins runs and commits with the real RingWriter, and adds each
// call's acknowledgement to the trace when the call returns. The scenarios use an Owner, and so do the checks that
// reopen an image and continue the run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/reductions/reduction.hpp"
#include "tests/crash/scenarios/drawn_leases.hpp"
#include "tests/crash/scenarios/published.hpp"
#include "tests/crash/scenarios/setting.hpp"
#include "tests/crash/scenarios/tracing_persistence.hpp"

namespace ringside::crash {

class Owner {
 public:
  /// Opens the ring in `pool` and repairs its superblocks and run table entries. Throws Error as RingView::parse does.
  /// `seed` decides when syncs end and how threads interleave. leases: the leases of the readers; may be null.
  Owner(PoolBytes& pool, Trace& trace, const Setting& setting, Published& published, std::uint64_t seed,
        DrawnLeases* leases = nullptr);
  ~Owner();  // without `finish`, the owner counts as killed

  /// from: the iteration to which the run goes back; 0: the run continues from its newest iteration.
  void begin_run(std::uint32_t run, std::uint64_t from = 0);
  void clear();
  /// Lets a reader begin to hold `slot`, if the slot keeps an iterate.
  void hold(std::uint32_t slot);
  /// Commits the next iterate of the run with the complete protocol, which includes the reductions.
  void commit_next();
  void finish();

  /// The iteration of this run's newest iterate; 0 if the run has no iterate.
  std::uint64_t newest() const noexcept { return newest_; }
  /// The iterate that begin_run handed over, from which the solver continues; it has payload_bytes bytes.
  const std::byte* handed_over() const noexcept { return handed_over_.data(); }
  const RingView& ring() const noexcept { return writer_->ring(); }

 private:
  std::optional<std::uint32_t> free_victim();
  std::uint32_t expected_victim();
  void check_reductions();
  void maybe_end_sync();
  void end_sync();

  const Setting setting_;
  Published& published_;
  Random random_;
  TracingPersistence persistence_;
  std::unique_ptr<Team> team_;
  std::unique_ptr<RingWriter> writer_;
  std::unique_ptr<StepReducer> reducer_;  // only if the setting reduces during the transfer
  std::uint32_t run_ = 0;
  std::uint64_t newest_ = 0;
  std::vector<std::byte> handed_over_;
  std::vector<std::uint64_t> holds_;      // commit_seq by slot; 0: the slot keeps no iterate
  DrawnLeases* const leases_;
  std::optional<std::uint32_t> ahead_;    // the victim that was chosen before its step began
  std::vector<char> disregarded_;         // slots whose lease was broken, and whose lock has not been obtained since
  std::optional<std::uint64_t> syncing_;  // the commit for which a sync is in progress
  std::uint64_t requested_ = 0;           // the newest commit for which a sync was requested
};

}  // namespace ringside::crash
