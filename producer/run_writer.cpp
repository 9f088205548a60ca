// SPDX-License-Identifier: BSD-3-Clause
#include "producer/run_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "common/kernels/id_bytes.hpp"
#include "library/loan.hpp"

namespace ringside {
namespace {

// The result is never 0, because 0 would leave the choice to the environment.
std::uint32_t choice_of(PoolUse use) {
  switch (use) {
    case PoolUse::kOverwrite: return RINGSIDE_POOL_OVERWRITE;
    case PoolUse::kResume: return RINGSIDE_POOL_RESUME;
    case PoolUse::kFresh:
    case PoolUse::kFreshAgain: break;
  }
  return RINGSIDE_POOL_FRESH;
}

std::uint32_t choice_of(OnAnalyzerLoss loss) {
  switch (loss) {
    case OnAnalyzerLoss::kContinue: return RINGSIDE_LOSS_SKIP;  // the producer has memory for such steps
    case OnAnalyzerLoss::kStop: return RINGSIDE_LOSS_STOP;
    case OnAnalyzerLoss::kWait: break;
  }
  return RINGSIDE_LOSS_WAIT;
}

std::uint32_t choice_of(CoordinationKind coordination) {
  return coordination == CoordinationKind::kMessages ? RINGSIDE_COORDINATION_MESSAGES : RINGSIDE_COORDINATION_LOCKS;
}

Error error_of(const ringside_error& error) {
  return {static_cast<ExitCode>(error.status), error.line};
}

template <class Declared>
auto all_declared(const Declared& items) {
  std::vector<decltype(declared(*items.begin()))> all;
  for (const auto& item : items) all.push_back(declared(item));
  return all;
}

}  // namespace

ringside_variable declared(const Variable& variable) {
  ringside_variable made{};
  made.size = sizeof(made);
  made.dtype = static_cast<std::uint16_t>(variable.dtype);
  made.role = static_cast<std::uint16_t>(variable.role);
  made.dims = static_cast<std::uint32_t>(variable.shape.size());
  made.name = variable.name.c_str();
  made.unit = variable.unit.c_str();
  std::copy(variable.shape.begin(), variable.shape.end(), made.shape);
  return made;
}

ringside_scalar declared(const Scalar& scalar) {
  ringside_scalar made{};
  made.size = sizeof(made);
  made.type = static_cast<std::uint32_t>(scalar.type);
  made.name = scalar.name.c_str();
  made.unit = scalar.unit.c_str();
  return made;
}

Error scalar_is_missing(std::uint64_t iteration, const Scalar& scalar) {
  return usage_error(
      "--resume: the step of iteration {} was kept without the scalar '{}', which this solver needs to continue; "
      "--overwrite begins anew",
      iteration, scalar.name);
}

RunWriter::RunWriter(const RunWriterOptions& options, const RunDescription& run, const Schema& variables,
                     std::vector<Scalar> scalars)
    : variables_(variables), scalars_(std::move(scalars)) {
  for (std::size_t v = 0; v < variables_.size(); ++v) places_.push_back(variables_.place(v));
  ringside_writer_options given{};
  given.size = sizeof(given);
  given.buffers = options.publish.buffers;
  given.socket = options.process.socket.c_str();
  given.peer_timeout_s = options.peer.timeout_s;
  given.pool_use = choice_of(options.publish.pool_use());
  given.on_analyzer_loss = choice_of(options.publish.on_analyzer_loss);
  given.solver = run.solver;
  given.problem = run.matrix;
  given.parameters = run.parameters;
  unsigned char problem_id[16];
  put_id(problem_id, run.problem_id);
  given.problem_id = problem_id;
  given.work = run.nonzeros;
  given.stop = options.stop;
  given.coordination = choice_of(options.publish.coordination);
  given.shares_core = options.process.shared_core ? 1 : 0;
  // Without --elastic the list is empty but not NULL: an inherited RINGSIDE_ELASTIC has no effect.
  constexpr std::int32_t kNoCore = -1;
  given.lent_cores = options.lent_cores.empty() ? &kNoCore : options.lent_cores.data();
  given.lent_core_count = options.lent_cores.size();
  if (!options.lent_cores.empty()) library::borrow_cores();
  const std::vector<ringside_variable> all_variables = all_declared(variables_.variables());
  const std::vector<ringside_scalar> all_scalars = all_declared(scalars_);
  ringside_error error{};
  error.size = sizeof(error);
  ringside_writer* writer = nullptr;
  const ringside_status status = ringside_writer_attach(&given, all_variables.data(), all_variables.size(),
                                                        all_scalars.data(), all_scalars.size(), &writer, &error);
  if (status != RINGSIDE_OK) throw error_of(error);
  writer_.reset(writer);
}

void RunWriter::identify(RunDescription& run) const {
  ringside_run known{};
  known.size = sizeof(known);
  throw_unless_ok(ringside_writer_run(handle(), &known));
  run.run_id = id_at(known.run_id);
  run.problem_id = id_at(known.problem_id);
}

CoreBorrower RunWriter::analyzer_cores() const {
  const CoreLoan loan = library::loan_of(*handle()).value();
  return {*loan.cores, *loan.published};
}

std::optional<ContinuedStep> RunWriter::kept() const {
  ContinuedStep kept;
  const ringside_status status = ringside_writer_kept(handle(), &kept.iteration);
  if (status == RINGSIDE_ABSENT) return std::nullopt;
  throw_unless_ok(status);
  for (std::uint32_t s = 0; s < scalars_.size(); ++s) {
    ringside_value value{};
    const ringside_status found = ringside_writer_kept_scalar(handle(), s, &value);
    if (found == RINGSIDE_ABSENT) throw scalar_is_missing(kept.iteration, scalars_[s]);
    throw_unless_ok(found);
    kept.scalars.push_back(static_cast<std::uint64_t>(value.i64));
  }
  return kept;
}

void RunWriter::copy_kept(void* payload) const {
  for (std::uint32_t v = 0; v < variables_.size(); ++v) {
    const void* data = nullptr;
    std::size_t bytes = 0;
    throw_unless_ok(ringside_writer_kept_variable(handle(), v, &data, &bytes));
    std::memcpy(static_cast<std::byte*>(payload) + variables_.place(v).offset, data, bytes);
  }
}

ringside_counts RunWriter::counts() const noexcept {
  ringside_counts counts{};
  counts.size = sizeof(counts);
  ringside_writer_counts(handle(), &counts);
  return counts;
}

Error RunWriter::error() const {
  return error_of(*ringside_writer_error(handle()));
}

}  // namespace ringside
