// SPDX-License-Identifier: BSD-3-Clause
// One rank of a run: its part of the buffers that the ranks of its node share, and the collective calls that attach and
// detach it (docs/publish/mpi.md). ringside_mpi_writer in mpi/ringside_mpi.h wraps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/cohort/cohort.hpp"
#include "common/cohort/cohort_writer.hpp"
#include "common/handoff/handoff_writer.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/ranks/boxes.hpp"
#include "mpi/counters.hpp"
#include "mpi/earlier_rings.hpp"
#include "mpi/job.hpp"
#include "mpi/rank_options.hpp"

namespace ringside::mpi {

/// The state of the whole run.
struct RunState {
  std::uint64_t global_iteration = 0;
  std::uint64_t global_persisted = 0;
  Waited waited;
};

/// Only one thread uses an object of this class.
class RankWriter {
 public:
  /// Attaches all ranks. take: returns this rank's options; may throw Error. All ranks succeed, or throw the same
  /// Error. Collective.
  RankWriter(MPI_Comm ranks, const std::function<RankOptions()>& take);

  /// Whether the step from which the run continues can be read. This is possible until the first publish.
  bool has_kept() const noexcept { return !has_published_ && kept_iteration_ != 0; }
  std::uint64_t kept_iteration() const noexcept { return kept_iteration_; }
  std::span<const std::byte> kept_part(std::size_t variable) const noexcept;
  std::optional<ScalarValue> kept_scalar(std::size_t scalar) const noexcept;

  /// Claims the node's step; `part` finds parts in it. If the status is not kOk, `failure` returns the reason.
  ClaimStatus claim() noexcept;
  Error failure(ClaimStatus status);
  /// This rank's part of a variable, in the claimed step and in the previous step; null if there is none.
  std::byte* part(std::size_t variable) noexcept;
  const std::byte* previous_part(std::size_t variable) noexcept;

  /// Requires a claimed step, and a greater iteration than the previous one.
  void publish(std::uint64_t iteration, std::span<const ScalarValue> scalars) noexcept;

  /// outcome: an Outcome. All ranks succeed, or throw the same Error; no call may follow in either case. Collective.
  void detach(std::uint32_t outcome);

  RunState state() const noexcept;
  const Job& job() const noexcept { return job_; }
  const ForkMark& process() const noexcept { return process_; }
  std::size_t variables() const noexcept { return parts_.size(); }
  std::size_t scalars() const noexcept { return scalar_count_; }
  bool is_claimed() const noexcept { return claimed_ != nullptr; }
  std::uint64_t last_iteration() const noexcept { return last_iteration_; }
  std::uint64_t published() const noexcept { return first_ ? first_->published() : other_->published(); }
  std::int64_t idle_ns() const noexcept { return first_ ? first_->idle_ns() : other_->idle_ns(); }

 private:
  /// The place of a rank's part of a variable in a step of the node.
  struct Part {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    // Used if the ring keeps another rank's copy of a replicated variable: this rank's own copies of two steps.
    std::vector<std::byte> copies;
  };

  void attach(const std::function<RankOptions()>& take);
  void check_same_release() const;
  void check_same_options(const std::string& own) const;
  std::optional<EarlierRings> find_start(const RankOptions& options);
  Schema node_schema(const RankOptions& options);
  void attach_first(RankOptions& options, const Schema& schema);
  void attach_other(const RankOptions& options, const std::vector<CohortMember>& members);
  std::vector<CohortMember> node_members() const;
  void take_kept();
  void continue_from(EarlierRings& earlier, const std::vector<Box>& boxes);
  void end(std::uint32_t outcome);
  void populate(const SharedMapping& payload) const noexcept;
  std::byte* part_of(Part& part, std::byte* step, std::uint64_t number) const noexcept;

  ForkMark process_;
  Job job_;
  StopFlag stop_;
  PayloadGeometry geometry_;
  std::vector<Part> parts_;
  std::vector<Box> boxes_;        // only on the job's first rank: the boxes of each rank, for all variables
  std::string regions_;           // the entries of the variables that this node keeps
  std::size_t scalar_count_ = 0;  // the number of the solver's own scalars
  std::optional<Cohort> cohort_;
  std::optional<HandoffWriter> first_;  // only on the node's first rank
  std::optional<CohortWriter> other_;   // only on the node's other ranks
  std::optional<Counters> counters_;    // only on the node's first rank
  bool agrees_ = false;                 // whether all ranks have agreed on resume_from_
  std::uint64_t resume_from_ = 0;
  std::uint64_t kept_iteration_ = 0;
  SharedMapping kept_;  // empty if the run continues from earlier rings: the kept step is then this run's first step
  KeptScalars kept_scalars_;
  bool has_published_ = false;
  bool ran_out_ = false;  // whether the last claim was interrupted or failed
  std::byte* claimed_ = nullptr;
  std::byte* previous_ = nullptr;
  std::uint64_t last_iteration_ = 0;
  std::int64_t step_began_ns_ = 0;
  std::int64_t idle_before_ns_ = 0;
};

}  // namespace ringside::mpi
