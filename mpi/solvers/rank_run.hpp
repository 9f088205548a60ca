// SPDX-License-Identifier: BSD-3-Clause
// The run that a rank publishes together with the other ranks. It uses ringside_mpi.h, like any solver of several
// ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/platform/error.hpp"
#include "mpi/ringside_mpi.h"
#include "producer/run_writer.hpp"
#include "producer/solver/problem.hpp"

namespace ringside::mpi {

class RankRun final : public StepWriter {
 public:
  /// Attaches all ranks with the options from the environment, and claims the first step. Throws AgreedError, which is
  /// the same on all ranks, or Error if the claim fails. Collective.
  RankRun(MPI_Comm ranks, const Problem& problem);

  /// The step from which the run continues; empty if it begins anew. Throws Error (exit code 2) if the step lacks a
  /// scalar.
  std::optional<ContinuedStep> kept() const;

  std::span<const VariablePlace> places() const noexcept override { return places_; }
  void copy_kept(void* payload) const override;
  ringside_status claim(WhenFull when_full) noexcept override;
  ringside_status claim_last() noexcept override { return claim(WhenFull::kWait); }
  void* buffer() noexcept override { return ringside_mpi_buffer(writer_.get(), 0); }
  void publish(std::uint64_t iteration, std::int64_t generate_ns,
               std::span<const ringside_value> scalars) noexcept override;
  void skip() noexcept override {}  // never called, because a claim waits for a buffer
  ringside_counts counts() const noexcept override;

  /// The reason why this rank's last claim failed; empty if it succeeded.
  std::optional<Error> failure() const { return claimed_ == RINGSIDE_OK ? std::nullopt : std::optional(error()); }

  /// Ends the run on all ranks, with the same outcome. Throws AgreedError. Collective.
  void detach(std::uint32_t outcome);

 private:
  Error error() const;

  struct Free {
    void operator()(ringside_mpi_writer* writer) const noexcept { ringside_mpi_free(writer); }
  };
  std::vector<VariablePlace> places_;
  std::vector<Scalar> scalars_;
  std::unique_ptr<ringside_mpi_writer, Free> writer_;
  ringside_status claimed_ = RINGSIDE_OK;  // status of the last claim
  bool is_claimed_ = true;                 // whether only the constructor has claimed so far
};

}  // namespace ringside::mpi
