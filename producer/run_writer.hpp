// SPDX-License-Identifier: BSD-3-Clause
// The run that this process publishes. It uses include/ringside.h like any solver. The writer attaches with the options
// of the command line, and throws failures of the library as Errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"
#include "common/threads/core_loan.hpp"
#include "include/ringside.h"

namespace ringside {

struct RunWriterOptions {
  const PublishOptions& publish;
  const PeerOptions& peer;
  const ProcessOptions& process;
  std::vector<int> lent_cores = {};    // with --elastic: lent while a claim waits; then the analyzer's are borrowed
  const volatile int* stop = nullptr;  // ends a wait when it is set; must outlive the writer
};

/// Where the producer's loop (producer/producer.hpp) sends its steps: to the analyzer of one process, or to the
/// analyzer of a node with several ranks (mpi/solvers/rank_run.hpp).
class StepWriter {
 public:
  virtual ~StepWriter() = default;

  /// The places of this process's part of each variable in a step's memory, relative to the beginning of the first
  /// variable's part.
  virtual std::span<const VariablePlace> places() const noexcept = 0;

  /// Copies the kept step's variables to their places in `payload`. Call before the first publish. Throws Error.
  virtual void copy_kept(void* payload) const = 0;

  // Returns a status of ringside.h; RINGSIDE_FULL is returned only with kSkip.
  virtual ringside_status claim(WhenFull when_full) noexcept = 0;
  virtual ringside_status claim_last() noexcept = 0;
  /// The place of the claimed step's first variable.
  virtual void* buffer() noexcept = 0;
  /// Requires a claimed step, and a greater iteration than the previous one.
  virtual void publish(std::uint64_t iteration, std::int64_t generate_ns,
                       std::span<const ringside_value> scalars) noexcept = 0;
  /// Counts a step that is not published because there was no room for it.
  virtual void skip() noexcept = 0;
  virtual ringside_counts counts() const noexcept = 0;
};

/// The step from which a run continues.
struct ContinuedStep {
  std::uint64_t iteration = 0;
  std::vector<std::uint64_t> scalars;  // their words, in the order in which they were declared
};

/// A solver's variable and scalar as ringside.h declares them. The results point to the names of the arguments.
ringside_variable declared(const Variable& variable);
ringside_scalar declared(const Scalar& scalar);

/// The Error (exit code 2) for a kept step that lacks a scalar which the run declares.
Error scalar_is_missing(std::uint64_t iteration, const Scalar& scalar);

class RunWriter final : public StepWriter {
 public:
  /// Attaches to an analyzer. run: supplies solver, matrix, parameters, nonzeros and problem_id. Throws Error with the
  /// library's exit code and line.
  RunWriter(const RunWriterOptions& options, const RunDescription& run, const Schema& variables,
            std::vector<Scalar> scalars);

  ringside_writer* handle() const noexcept { return writer_.get(); }

  /// Replaces run_id and problem_id by the analyzer's: a resumed run keeps its run_id.
  void identify(RunDescription& run) const;
  /// The note that the analyzer sent about the attachment; usually empty.
  std::string note() const { return ringside_writer_note(handle()); }
  /// The analyzer's cores, lent while the analyzer waits for a step. Requires `lent_cores`.
  CoreBorrower analyzer_cores() const;

  /// With --resume: the step to continue from; empty if there was none. Throws Error (exit code 2) if that step lacks a
  /// scalar that the run declares.
  std::optional<ContinuedStep> kept() const;

  std::span<const VariablePlace> places() const noexcept override { return places_; }
  void copy_kept(void* payload) const override;
  ringside_status claim(WhenFull when_full) noexcept override {
    return when_full == WhenFull::kWait ? ringside_writer_claim(handle()) : ringside_writer_try_claim(handle());
  }
  ringside_status claim_last() noexcept override { return ringside_writer_claim_last(handle()); }
  void* buffer() noexcept override { return ringside_writer_buffer(handle(), 0); }
  /// This cannot fail, because a buffer has been claimed, and the iterations rise.
  void publish(std::uint64_t iteration, std::int64_t generate_ns,
               std::span<const ringside_value> scalars) noexcept override {
    ringside_writer_publish_timed(handle(), iteration, generate_ns, scalars.data(), scalars.size());
  }
  void skip() noexcept override { ringside_writer_skip(handle()); }
  ringside_counts counts() const noexcept override;

  /// Ends the run: returns when every published step is committed. outcome: RINGSIDE_OUTCOME_... Throws Error.
  void detach(std::uint32_t outcome) { throw_unless_ok(ringside_writer_detach(handle(), outcome)); }
  /// The last failure.
  Error error() const;

 private:
  void throw_unless_ok(ringside_status status) const {
    if (status != RINGSIDE_OK) throw error();
  }

  struct Free {
    void operator()(ringside_writer* writer) const noexcept { ringside_writer_free(writer); }
  };
  Schema variables_;
  std::vector<VariablePlace> places_;
  std::vector<Scalar> scalars_;
  std::unique_ptr<ringside_writer, Free> writer_;
};

}  // namespace ringside
