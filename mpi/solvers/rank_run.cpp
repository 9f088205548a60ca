// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/rank_run.hpp"

#include <cstring>
#include <utility>

#include "common/kernels/id_bytes.hpp"
#include "producer/solver/neighbours.hpp"

namespace ringside::mpi {
namespace {

AgreedError agreed(const ringside_error& error) {
  return {static_cast<ExitCode>(error.status), error.line};
}

}  // namespace

RankRun::RankRun(MPI_Comm ranks, const Problem& problem) : scalars_(problem.solver->scalars()) {
  const RunDescription& run = problem.description;
  ringside_writer_options given{};
  given.size = sizeof(given);
  given.solver = run.solver;
  given.problem = run.matrix;
  given.parameters = run.parameters;
  unsigned char problem_id[16];
  put_id(problem_id, run.problem_id);
  given.problem_id = problem_id;
  given.work = run.nonzeros;
  const Schema schema = problem.solver->variables();
  std::vector<ringside_variable> variables;
  std::vector<ringside_mpi_part> parts;
  for (const Variable& variable : schema.variables()) {
    variables.push_back(declared(variable));
    ringside_mpi_part& part = parts.emplace_back();
    part = {};
    part.size = sizeof(part);
    part.offset[0] = problem.first_row;
    part.extent[0] = problem.rows;
  }
  std::vector<ringside_scalar> scalars;
  for (const Scalar& scalar : scalars_) scalars.push_back(declared(scalar));
  ringside_error error{};
  error.size = sizeof(error);
  ringside_mpi_writer* writer = nullptr;
  const ringside_status status = ringside_mpi_attach(ranks, &given, variables.data(), parts.data(), parts.size(),
                                                     scalars.data(), scalars.size(), &writer, &error);
  if (status != RINGSIDE_OK) throw agreed(error);
  writer_.reset(writer);

  // All steps of a node have the same layout, which is taken from the first one.
  claimed_ = ringside_mpi_claim(writer);
  if (claimed_ != RINGSIDE_OK) throw this->error();
  const auto* const first = static_cast<const std::byte*>(ringside_mpi_buffer(writer, 0));
  for (std::uint32_t v = 0; v < variables.size(); ++v) {
    const auto* const begin = static_cast<const std::byte*>(ringside_mpi_buffer(writer, v));
    const std::uint64_t bytes = problem.rows * sizeof(double);
    places_.push_back({.offset = static_cast<std::uint64_t>(begin - first),
                       .entries = problem.rows,
                       .bytes = bytes,
                       .stored_bytes = bytes});
  }
}

std::optional<ContinuedStep> RankRun::kept() const {
  ContinuedStep kept;
  if (ringside_mpi_kept(writer_.get(), &kept.iteration) != RINGSIDE_OK) return std::nullopt;
  for (std::uint32_t s = 0; s < scalars_.size(); ++s) {
    ringside_value value{};
    if (ringside_mpi_kept_scalar(writer_.get(), s, &value) != RINGSIDE_OK) {
      throw scalar_is_missing(kept.iteration, scalars_[s]);
    }
    kept.scalars.push_back(static_cast<std::uint64_t>(value.i64));
  }
  return kept;
}

void RankRun::copy_kept(void* payload) const {
  for (std::uint32_t v = 0; v < places_.size(); ++v) {
    const void* data = nullptr;
    if (ringside_mpi_kept_variable(writer_.get(), v, &data, nullptr) != RINGSIDE_OK) throw error();
    std::memcpy(static_cast<std::byte*>(payload) + places_[v].offset, data, places_[v].bytes);
  }
}

ringside_status RankRun::claim(WhenFull) noexcept {
  if (!std::exchange(is_claimed_, false)) claimed_ = ringside_mpi_claim(writer_.get());
  return claimed_;
}

// A publish cannot fail here, because a step is claimed and the iterations ascend. The library measures the time
// between two steps itself.
void RankRun::publish(std::uint64_t iteration, std::int64_t, std::span<const ringside_value> scalars) noexcept {
  ringside_mpi_publish(writer_.get(), iteration, scalars.data(), scalars.size());
}

ringside_counts RankRun::counts() const noexcept {
  ringside_mpi_state state{};
  state.size = sizeof(state);
  ringside_mpi_progress(writer_.get(), &state);
  ringside_counts counts{};
  counts.published = state.published;
  counts.idle_ns = state.idle_ns;
  return counts;
}

void RankRun::detach(std::uint32_t outcome) {
  if (ringside_mpi_detach(writer_.get(), outcome) != RINGSIDE_OK) throw agreed(*ringside_mpi_error(writer_.get()));
}

Error RankRun::error() const {
  const ringside_error& error = *ringside_mpi_error(writer_.get());
  return {static_cast<ExitCode>(error.status), error.line};
}

}  // namespace ringside::mpi
