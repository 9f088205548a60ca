// SPDX-License-Identifier: BSD-3-Clause
// The writing half of the C interface: a HandoffWriter behind a handle.
#include <errno.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/handoff/handoff_environment.hpp"
#include "common/handoff/handoff_writer.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/fork_mark.hpp"
#include "common/platform/stop_flag.hpp"
#include "library/handle.hpp"
#include "library/ringside.h"

using namespace ringside;
using library::guarded;
using library::Line;
using library::refuse;

static_assert(sizeof(ringside_value) == sizeof(ScalarValue));
static_assert(RINGSIDE_F32 == static_cast<int>(DType::kF32) && RINGSIDE_U64 == static_cast<int>(DType::kU64));
static_assert(RINGSIDE_FIELD == static_cast<int>(Role::kField) && RINGSIDE_STATE == static_cast<int>(Role::kState));
static_assert(RINGSIDE_FINISHED == static_cast<int>(Outcome::kFinished));
static_assert(RINGSIDE_FAILED == static_cast<int>(Outcome::kFailed));
static_assert(RINGSIDE_VALUE_F64 == static_cast<int>(ValueType::kF64));
static_assert(RINGSIDE_VALUE_I64 == static_cast<int>(ValueType::kI64));
static_assert(RINGSIDE_VALUE_I128 == static_cast<int>(ValueType::kI128));

struct ringside_writer {
  ringside_writer(const HandoffOptions& options, const RunDescription& run, Schema schema, std::vector<Scalar> scalars)
      : scalar_count(scalars.size()),
        stop(options.stop),
        buffers(options.buffers),
        handoff(options, run, std::move(schema), std::move(scalars)) {
    kept = handoff.take_kept();
    if (kept) last_iteration = kept->iteration;
  }

  ForkMark process;
  std::size_t scalar_count;
  StopFlag stop;
  std::uint32_t buffers;
  HandoffWriter handoff;
  std::optional<KeptStep> kept;  // until the first publish
  std::byte* claimed = nullptr;  // the payload of the claimed step
  // While no analyzer is there and the solver is to go on (OnAnalyzerLoss::kContinue), its steps are written here, in
  // turn, and dropped. Allocated when the first one is needed.
  std::vector<SharedMapping> dropped;
  std::size_t next_dropped = 0;
  bool drops = false;  // the claimed step is one of them
  bool ended = false;  // detached
  std::uint64_t last_iteration = 0;
  std::int64_t step_began_ns = now_ns();  // the last publish, or the attachment
  std::int64_t idle_before_ns = 0;        // the producer's idle time until then
  Line line;
};

namespace {

constexpr std::size_t kSolverBytes = sizeof(RunDescription::solver) - 1;
constexpr std::size_t kProblemBytes = sizeof(RunDescription::matrix) - 1;
constexpr std::size_t kParametersBytes = sizeof(RunDescription::parameters) - 1;

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

std::string checked(std::string text, std::size_t most, const char* what) {
  if (text.size() > most) throw usage_error("{}: found {} bytes, expected at most {}", what, text.size(), most);
  return text;
}

template <class Enum>
Enum chosen(std::uint32_t value, std::span<const Enum> choices, Enum otherwise, const char* what) {
  if (value == 0) return otherwise;
  if (value > choices.size()) throw usage_error("{}: found {}, expected 1 to {}, or 0", what, value, choices.size());
  return choices[value - 1];
}

HandoffOptions handoff_options(const ringside_writer_options& given) {
  constexpr PoolUse kUses[] = {PoolUse::kFresh, PoolUse::kOverwrite, PoolUse::kResume};
  constexpr OnAnalyzerLoss kLosses[] = {OnAnalyzerLoss::kWait, OnAnalyzerLoss::kContinue, OnAnalyzerLoss::kStop};
  HandoffOptions options = handoff_options_of_environment();
  if (given.socket != nullptr) options.socket = given.socket;
  if (given.buffers != 0) options.buffers = given.buffers;
  constexpr double kLeastTimeoutS = 0.001;
  constexpr double kMostTimeoutS = 1e6;
  const double timeout_s = given.peer_timeout_s;
  if (!(timeout_s == 0 || (timeout_s >= kLeastTimeoutS && timeout_s <= kMostTimeoutS))) {
    throw usage_error("peer_timeout_s: found {}, expected {} to {}, or 0", timeout_s, kLeastTimeoutS, kMostTimeoutS);
  }
  if (given.peer_timeout_s > 0) options.peer_timeout_s = given.peer_timeout_s;
  options.pool_use = chosen<PoolUse>(given.pool_use, kUses, options.pool_use, "pool_use");
  options.on_analyzer_loss =
      chosen<OnAnalyzerLoss>(given.on_analyzer_loss, kLosses, options.on_analyzer_loss, "on_analyzer_loss");
  options.stop = StopFlag(given.stop);
  return options;
}

/// All that the iterates depend on besides the variables, which the attachment adds.
Id128 problem_id(const std::string& solver, const std::string& problem, const std::string& parameters,
                 const void* bytes, std::size_t count) {
  if (bytes == nullptr && count > 0) throw usage_error("problem_bytes: found NULL, expected {} bytes", count);
  const Id128 content = hash128(bytes, count);
  std::string all = solver + '\0' + problem + '\0' + parameters + '\0';
  all.append(reinterpret_cast<const char*>(&content), sizeof(content));
  return hash128(all.data(), all.size());
}

RunDescription describe(const ringside_writer_options& given) {
  const std::string solver =
      checked(text_or(given.solver, program_invocation_short_name), kSolverBytes, "the solver's name");
  const std::string problem = checked(text_or(given.problem, ""), kProblemBytes, "the problem");
  const std::string parameters = checked(text_or(given.parameters, ""), kParametersBytes, "the parameters");
  RunDescription run;
  run.run_id = random_id();
  run.problem_id = problem_id(solver, problem, parameters, given.problem_bytes, given.problem_bytes_count);
  run.nonzeros = given.work;
  run.started_realtime_ns = realtime_ns();
  assign(run.solver, solver);
  assign(run.matrix, problem);
  assign(run.parameters, parameters);
  return run;
}

Schema schema_of(const ringside_variable* variables, std::size_t count) {
  if (count > kMostVariables) {
    throw usage_error("variables: found {} variables, expected 1 to {}", count, kMostVariables);
  }
  if (count > 0 && variables == nullptr) throw usage_error("variables: found NULL, expected {} variables", count);
  std::vector<Variable> made;
  for (const ringside_variable& given : library::taken(variables, count, "ringside_variable")) {
    if (given.dims > RINGSIDE_MOST_DIMS) {
      throw usage_error("variables: variable '{}': {} dimensions; expected 0 to 8", text_or(given.name, ""),
                        given.dims);
    }
    if (given.reserved != 0) {
      throw usage_error("variables: variable '{}': reserved is {}; expected 0", text_or(given.name, ""),
                        given.reserved);
    }
    made.push_back({.name = text_or(given.name, ""),
                    .dtype = static_cast<DType>(given.dtype),
                    .shape = {given.shape, given.shape + given.dims},
                    .role = given.role == 0 ? Role::kField : static_cast<Role>(given.role),
                    .unit = text_or(given.unit, "")});
  }
  return Schema::of(std::move(made));
}

std::vector<Scalar> scalars_of(const ringside_scalar* scalars, std::size_t count) {
  if (count > 0 && scalars == nullptr) throw usage_error("scalars: found NULL, expected {} scalars", count);
  if (count > kMostScalars) throw usage_error("found {} scalars, expected at most {}", count, kMostScalars);
  std::vector<Scalar> made;
  for (const ringside_scalar& given : library::taken(scalars, count, "ringside_scalar")) {
    made.push_back({.name = text_or(given.name, ""),
                    .type = given.type == 0 ? ValueType::kF64 : static_cast<ValueType>(given.type),
                    .unit = text_or(given.unit, "")});
  }
  return made;
}

/// Throws Error (exit code 2) in a child of the process that attached.
void owned(const ringside_writer& writer) {
  if (!writer.process.is_owner()) throw writer.process.misuse();
}

Error after_detach() {
  return usage_error("the run has ended: ringside_detach was called; expected ringside_writer_free");
}

/// A buffer for a step that no analyzer takes.
std::byte* dropped_buffer(ringside_writer& writer) {
  if (writer.dropped.empty()) {
    const std::size_t bytes = writer.handoff.schema().payload_bytes();
    for (std::uint32_t b = 0; b < writer.buffers; ++b) {
      writer.dropped.push_back(SharedMapping::create("ringside-dropped", bytes, PeerAccess::kReadOnly));
    }
  }
  return writer.dropped[writer.next_dropped++ % writer.dropped.size()].data();
}

enum class Patience { kWait, kTry, kLast };

ringside_status claim_with(ringside_writer* writer, Patience patience) noexcept {
  if (writer == nullptr) return RINGSIDE_USAGE;
  writer->claimed = nullptr;
  if (writer->ended) return guarded(writer->line, []() -> ringside_status { throw after_detach(); });
  if (patience != Patience::kLast && writer->stop.is_set()) {
    writer->line.set("interrupted: `stop` is set");
    return RINGSIDE_INTERRUPTED;
  }
  HandoffWriter& handoff = writer->handoff;
  const Claim claimed = patience == Patience::kWait  ? handoff.claim()
                        : patience == Patience::kTry ? handoff.try_claim()
                                                     : handoff.claim_last();
  writer->claimed = claimed.payload;
  writer->drops = false;
  if (claimed) return RINGSIDE_OK;
  if (claimed.status == ClaimStatus::kFull && patience == Patience::kTry) return RINGSIDE_FULL;
  return guarded(writer->line, [&]() -> ringside_status {
    if (claimed.status != ClaimStatus::kFull) throw handoff.failure(claimed.status);
    writer->claimed = dropped_buffer(*writer);
    writer->drops = true;
    return RINGSIDE_OK;
  });
}

}  // namespace

ringside_status ringside_attach(const ringside_writer_options* options, const ringside_variable* variables,
                                size_t variable_count, const ringside_scalar* scalars, size_t scalar_count,
                                ringside_writer** out, ringside_error* error) {
  Line line;
  const ringside_status status = guarded(line, [&] {
    if (out == nullptr) return refuse(line, "ringside_attach: `out` is NULL; expected the place of a handle");
    *out = nullptr;
    ringside_writer_options given{};
    if (options != nullptr) given = library::taken(options, "ringside_writer_options");
    *out = new ringside_writer(handoff_options(given), describe(given), schema_of(variables, variable_count),
                               scalars_of(scalars, scalar_count));
    return static_cast<ringside_status>(RINGSIDE_OK);
  });
  library::pass_on(line, status, error);
  return status;
}

ringside_status ringside_kept(ringside_writer* writer, uint64_t* iteration) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->line, [&]() -> ringside_status {
    owned(*writer);
    if (!writer->kept) return RINGSIDE_END;
    if (iteration != nullptr) *iteration = writer->kept->iteration;
    return RINGSIDE_OK;
  });
}

ringside_status ringside_kept_variable(ringside_writer* writer, uint32_t variable, const void** data, size_t* bytes) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->line, [&]() -> ringside_status {
    owned(*writer);
    const Schema& schema = writer->handoff.schema();
    if (variable >= schema.size()) throw usage_error("variable {}: expected less than {}", variable, schema.size());
    if (!writer->kept) return RINGSIDE_END;
    const VariablePlace& place = schema.place(variable);
    if (data != nullptr) *data = writer->kept->payload() + place.offset;
    if (bytes != nullptr) *bytes = place.bytes;
    return RINGSIDE_OK;
  });
}

ringside_status ringside_kept_scalar(ringside_writer* writer, uint32_t scalar, ringside_value* value) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->line, [&]() -> ringside_status {
    owned(*writer);
    if (scalar >= writer->scalar_count) {
      throw usage_error("scalar {}: expected less than {}", scalar, writer->scalar_count);
    }
    if (!writer->kept) return RINGSIDE_END;
    if (!writer->kept->has_scalar(scalar)) return RINGSIDE_ABSENT;
    if (value != nullptr) value->i64 = writer->kept->scalar(scalar).i64();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_claim(ringside_writer* writer) {
  return claim_with(writer, Patience::kWait);
}

ringside_status ringside_try_claim(ringside_writer* writer) {
  return claim_with(writer, Patience::kTry);
}

ringside_status ringside_claim_last(ringside_writer* writer) {
  return claim_with(writer, Patience::kLast);
}

void* ringside_buffer(ringside_writer* writer, uint32_t variable) {
  if (writer == nullptr || writer->claimed == nullptr || !writer->process.is_owner() ||
      variable >= writer->handoff.schema().size()) {
    return nullptr;
  }
  return writer->claimed + writer->handoff.schema().place(variable).offset;
}

ringside_status ringside_publish(ringside_writer* writer, uint64_t iteration, const ringside_value* scalars,
                                 size_t scalar_count) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  if (!writer->process.is_owner() || writer->claimed == nullptr || iteration <= writer->last_iteration ||
      scalar_count > writer->scalar_count || (scalar_count > 0 && scalars == nullptr)) {
    return guarded(writer->line, [&]() -> ringside_status {
      owned(*writer);
      if (writer->ended) throw after_detach();
      if (writer->claimed == nullptr) throw usage_error("iteration {}: no step is claimed", iteration);
      if (iteration == 0) throw usage_error("iteration 0: expected 1 or more");
      if (iteration <= writer->last_iteration) {
        throw usage_error("iteration {}: expected more than {}, the one before", iteration, writer->last_iteration);
      }
      throw usage_error("iteration {}: found {} scalars, expected at most {}", iteration, scalar_count,
                        writer->scalar_count);
    });
  }
  const std::int64_t now = now_ns();
  const std::int64_t idle = writer->handoff.idle_ns();
  const std::int64_t generate_ns =
      std::max<std::int64_t>(now - writer->step_began_ns - (idle - writer->idle_before_ns), 0);
  if (!writer->drops) {
    ScalarValue values[kMostScalars];
    if (scalar_count > 0) std::memcpy(static_cast<void*>(values), scalars, scalar_count * sizeof(*scalars));
    writer->handoff.publish({.iteration = iteration, .generate_ns = generate_ns}, {values, scalar_count});
  }
  writer->claimed = nullptr;
  writer->kept.reset();
  writer->last_iteration = iteration;
  writer->step_began_ns = now_ns();
  writer->idle_before_ns = idle;
  return RINGSIDE_OK;
}

ringside_status ringside_detach(ringside_writer* writer, uint32_t outcome) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->line, [&]() -> ringside_status {
    owned(*writer);
    if (outcome > RINGSIDE_FAILED) {
      throw usage_error("outcome: found {}, expected 0 to {}", outcome, RINGSIDE_FAILED + 0);
    }
    if (writer->ended) throw after_detach();
    writer->claimed = nullptr;
    writer->handoff.detach(static_cast<Outcome>(outcome));
    writer->ended = true;
    return RINGSIDE_OK;
  });
}

ringside_status ringside_get_counts(ringside_writer* writer, ringside_counts* out) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->line, [&]() -> ringside_status {
    owned(*writer);
    ringside_counts counts{};
    counts.published = writer->handoff.published();
    counts.skipped = writer->handoff.skipped();
    counts.idle_ns = writer->handoff.idle_ns();
    library::give(counts, out, "ringside_counts");
    return RINGSIDE_OK;
  });
}

const char* ringside_writer_line(const ringside_writer* writer) {
  return writer != nullptr ? writer->line.text() : "no handle: found NULL";
}

void ringside_writer_free(ringside_writer* writer) {
  delete writer;
}
