// SPDX-License-Identifier: BSD-3-Clause
// The writing half of the C interface: a handle for a HandoffWriter.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/handoff_writer.hpp"
#include "common/kernels/id_bytes.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "library/bound_threads.hpp"
#include "library/handle.hpp"
#include "library/loan.hpp"
#include "library/own_analyzer.hpp"
#include "include/ringside.h"
#include "library/writer_options.hpp"

using namespace ringside;
using library::guarded;
using library::LastError;
using library::Refusal;

static_assert(sizeof(ringside_value) == sizeof(ScalarValue));
static_assert(RINGSIDE_F32 == static_cast<int>(DType::kF32) && RINGSIDE_U64 == static_cast<int>(DType::kU64));
static_assert(RINGSIDE_ROLE_FIELD == static_cast<int>(Role::kField) &&
              RINGSIDE_ROLE_STATE == static_cast<int>(Role::kState));
static_assert(RINGSIDE_OUTCOME_FINISHED == static_cast<int>(Outcome::kFinished) + 1);
static_assert(RINGSIDE_OUTCOME_FAILED == static_cast<int>(Outcome::kFailed) + 1);
static_assert(RINGSIDE_VALUE_F64 == static_cast<int>(ValueType::kF64));
static_assert(RINGSIDE_VALUE_I64 == static_cast<int>(ValueType::kI64));
static_assert(RINGSIDE_VALUE_I128 == static_cast<int>(ValueType::kI128));

struct ringside_writer {
  ringside_writer(std::unique_ptr<library::OwnAnalyzer> own, const HandoffOptions& options, const RunDescription& run, Schema schema,
                  std::vector<Scalar> scalars, bool has_own_memory)
      : own_analyzer(std::move(own)),
        bound_threads(own_analyzer ? own_analyzer->cores() : std::vector<int>()),
        scalar_count(scalars.size()),
        stop(options.stop),
        buffers(options.buffers),
        peer_timeout_s(options.peer_timeout_s),
        skips(has_own_memory),
        lends(options.elastic),
        handoff(options, run, std::move(schema), std::move(scalars)) {
    note = handoff.note();
    kept = handoff.take_kept();
    if (!kept) return;
    last_iteration = kept->iteration;
    previous = kept->payload();
  }

  ForkMark process;
  std::unique_ptr<library::OwnAnalyzer> own_analyzer;  // null: the run has another analyzer
  std::optional<library::BoundThreads> bound_threads;  // set while own_analyzer is not null
  std::size_t scalar_count;
  StopFlag stop;
  std::uint32_t buffers;
  double peer_timeout_s;
  bool skips;  // on_analyzer_loss is RINGSIDE_LOSS_SKIP
  bool lends;  // claims lend cores
  HandoffWriter handoff;
  std::string note;                     // the note of the first attachment
  std::optional<KeptStep> kept;         // reset by the claim after the first publish
  bool kept_is_over = false;            // whether the first step is published
  std::byte* claimed = nullptr;         // the payload of the claimed step
  const std::byte* previous = nullptr;  // the payload of the last published step, or of the kept step
  // Buffers for the steps of a solver that continues without an analyzer (RINGSIDE_LOSS_CONTINUE). They are used in
  // turn, and their content is dropped. All are allocated when the first one is needed.
  std::vector<SharedMapping> dropped;
  std::size_t next_dropped = 0;
  bool drops = false;   // whether the claimed step is in one of these buffers
  bool ran_out = false;  // whether the last claim was interrupted or failed; claims for a last step do not count
  bool leaves = false;  // detach was called: no step may follow
  bool ended = false;   // the run is detached
  std::uint64_t last_iteration = 0;
  std::int64_t step_began_ns = now_ns();  // the time of the last publish, or of the attachment
  std::int64_t idle_before_ns = 0;        // the producer's idle time until step_began_ns
  LastError error;
};

namespace {

/// Throws Error (exit code 2) in a child of the process that attached.
void owned(const ringside_writer& writer) {
  if (!writer.process.is_owner()) throw Refusal(RINGSIDE_REASON_PROCESS, writer.process.misuse());
}

/// Runs call() in the process that attached. Failures become the handle's last error.
template <class Call>
ringside_status owned_call(ringside_writer* writer, const Call& call) noexcept {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->error, [&] {
    owned(*writer);
    return call();
  });
}

Error after_detach() {
  return usage_error("the run has ended: ringside_writer_detach was called; expected ringside_writer_free");
}

bool has_kept(const ringside_writer& writer) {
  return writer.kept && !writer.kept_is_over;
}

const VariablePlace& place_of(const ringside_writer& writer, std::uint32_t variable) {
  const Schema& schema = writer.handoff.schema();
  if (variable >= schema.size()) throw usage_error("variable {}: expected less than {}", variable, schema.size());
  return schema.place(variable);
}

/// A buffer for a step that no analyzer receives.
std::byte* dropped_buffer(ringside_writer& writer) {
  if (writer.dropped.empty()) {
    const std::size_t bytes = writer.handoff.schema().payload_bytes();
    std::vector<SharedMapping> made;
    for (std::uint32_t b = 0; b < writer.buffers; ++b) {
      made.push_back(SharedMapping::create("ringside-dropped", bytes, PeerAccess::kReadOnly));
    }
    writer.dropped = std::move(made);
  }
  return writer.dropped[writer.next_dropped % writer.dropped.size()].data();
}

/// Why a claim returned no buffer. Exit code 2 means that a later analyzer refused the run, because the first analyzer
/// has accepted it.
Error failure_of(ringside_writer& writer, ClaimStatus status) {
  owned(writer);
  const Error error = writer.handoff.failure(status);
  if (error.code() == ExitCode::kUsage) throw Refusal(RINGSIDE_REASON_REFUSED, error);
  return error;
}

enum class Patience { kWait, kTry, kNone, kLast };

ringside_status claim_with(ringside_writer* writer, Patience patience) noexcept {
  if (writer == nullptr) return RINGSIDE_USAGE;
  writer->claimed = nullptr;
  if (writer->leaves || !writer->process.is_owner()) {
    return owned_call(writer, [] { throw after_detach(); });
  }
  if (writer->kept_is_over) writer->kept.reset();
  if (patience != Patience::kLast && writer->stop.is_set()) {
    writer->ran_out = true;
    return writer->error.set(RINGSIDE_INTERRUPTED, "interrupted: `stop` is set");
  }
  HandoffWriter& handoff = writer->handoff;
  const Claim claimed = patience == Patience::kWait   ? handoff.claim()
                        : patience == Patience::kTry  ? handoff.try_claim()
                        : patience == Patience::kNone ? handoff.claim_at_once()
                                                      : handoff.claim_last();
  writer->claimed = claimed.payload;
  writer->drops = false;
  if (patience != Patience::kLast) writer->ran_out = !claimed;  // a last step after a stop does not finish the run
  if (claimed) return RINGSIDE_OK;
  // The caller may try again, or may continue without the step; ringside_writer_skip counts steps that are left out.
  if (claimed.status == ClaimStatus::kFull &&
      (patience == Patience::kTry || patience == Patience::kNone || writer->skips)) {
    writer->ran_out = false;
    return RINGSIDE_FULL;
  }
  return guarded(writer->error, [&] {
    if (claimed.status != ClaimStatus::kFull) throw failure_of(*writer, claimed.status);
    writer->claimed = dropped_buffer(*writer);
    writer->drops = true;
    writer->ran_out = false;
    handoff.count_skip();
  });
}

/// Refuses to publish a step, with the reason.
ringside_status refuse_publish(ringside_writer& writer, std::uint64_t iteration, std::int64_t generate_ns,
                               const ringside_value* scalars, std::size_t scalar_count) noexcept {
  return owned_call(&writer, [&]() -> ringside_status {
    if (writer.leaves) throw after_detach();
    if (iteration == 0) throw usage_error("iteration 0: expected 1 or more");
    if (iteration <= writer.last_iteration && has_kept(writer)) {
      throw usage_error(
          "iteration {}: the run continues from iteration {}, which the pool keeps: expected {} or more (the kept step "
          "and the steps after it), or pool_use `overwrite` to begin the run anew",
          iteration, writer.last_iteration, writer.last_iteration + 1);
    }
    if (iteration <= writer.last_iteration) {
      throw usage_error("iteration {}: expected more than {}, the one before", iteration, writer.last_iteration);
    }
    if (scalar_count > writer.scalar_count) {
      throw usage_error("iteration {}: found {} scalars, expected at most {}", iteration, scalar_count,
                        writer.scalar_count);
    }
    if (scalar_count > 0 && scalars == nullptr) {
      throw usage_error("iteration {}: scalars is NULL; expected {}", iteration, scalar_count);
    }
    if (generate_ns < 0) {
      throw usage_error("iteration {}: generate_ns is {}; expected 0 or more", iteration, generate_ns);
    }
    throw usage_error("iteration {}: no step is claimed", iteration);
  });
}

/// Whether a publish with these arguments is valid if a step is claimed.
bool is_publishable(const ringside_writer& writer, std::uint64_t iteration, std::int64_t generate_ns,
                    const ringside_value* scalars, std::size_t scalar_count) noexcept {
  return iteration > writer.last_iteration && generate_ns >= 0 && scalar_count <= writer.scalar_count &&
         (scalar_count == 0 || scalars != nullptr);
}

/// The solver's working time since the previous publish.
std::int64_t time_since_publish(const ringside_writer& writer) noexcept {
  const std::int64_t waited = writer.handoff.idle_ns() - writer.idle_before_ns;
  return std::max<std::int64_t>(now_ns() - writer.step_began_ns - waited, 0);
}

}  // namespace

ringside_status ringside_writer_attach(const ringside_writer_options* options, const ringside_variable* variables,
                                       size_t variable_count, const ringside_scalar* scalars, size_t scalar_count,
                                       ringside_writer** out, ringside_error* error) {
  if (!library::is_place_for(error)) return RINGSIDE_USAGE;
  return guarded(error, [&] {
    if (out == nullptr) throw usage_error("ringside_writer_attach: `out` is NULL; expected the address of a handle");
    *out = nullptr;
    ringside_writer_options given{};
    if (options != nullptr) given = library::taken(options, "ringside_writer_options");
    try {
      const RunDescription run = library::run_of(given);
      Schema schema = library::schema_of(variables, variable_count);
      std::vector<Scalar> numbers = library::scalars_of(scalars, scalar_count);
      std::unique_ptr<library::OwnAnalyzer> own = library::own_analyzer_for(given);
      const HandoffOptions handoff = library::handoff_options_of(given, own.get());
      *out = new ringside_writer(std::move(own), handoff, run, std::move(schema), std::move(numbers),
                                 given.on_analyzer_loss == RINGSIDE_LOSS_SKIP);
    } catch (const RefusedError& refused) {
      if (refused.code() != ExitCode::kUsage) throw;
      throw Refusal(RINGSIDE_REASON_REFUSED, refused);
    }
  });
}

ringside_status ringside_writer_kept(ringside_writer* writer, uint64_t* iteration) {
  return owned_call(writer, [&]() -> ringside_status {
    if (!has_kept(*writer)) return RINGSIDE_ABSENT;
    if (iteration != nullptr) *iteration = writer->kept->iteration;
    return RINGSIDE_OK;
  });
}

ringside_status ringside_writer_kept_variable(ringside_writer* writer, uint32_t variable, const void** data,
                                              size_t* bytes) {
  return owned_call(writer, [&]() -> ringside_status {
    const VariablePlace& place = place_of(*writer, variable);
    if (!has_kept(*writer)) return RINGSIDE_ABSENT;
    if (data != nullptr) *data = writer->kept->payload() + place.offset;
    if (bytes != nullptr) *bytes = place.bytes;
    return RINGSIDE_OK;
  });
}

ringside_status ringside_writer_kept_scalar(ringside_writer* writer, uint32_t scalar, ringside_value* value) {
  return owned_call(writer, [&]() -> ringside_status {
    if (scalar >= writer->scalar_count) {
      throw usage_error("scalar {}: expected less than {}", scalar, writer->scalar_count);
    }
    if (!has_kept(*writer)) return RINGSIDE_ABSENT;
    if (!writer->kept->has_scalar(scalar)) return RINGSIDE_ABSENT;
    if (value != nullptr) value->i64 = writer->kept->scalar(scalar).i64();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_writer_claim(ringside_writer* writer) {
  return claim_with(writer, Patience::kWait);
}

ringside_status ringside_writer_try_claim(ringside_writer* writer) {
  return claim_with(writer, Patience::kTry);
}

ringside_status ringside_writer_claim_at_once(ringside_writer* writer) {
  return claim_with(writer, Patience::kNone);
}

ringside_status ringside_writer_claim_last(ringside_writer* writer) {
  return claim_with(writer, Patience::kLast);
}

ringside_status ringside_writer_skip(ringside_writer* writer) {
  return owned_call(writer, [&] {
    if (writer->leaves) throw after_detach();
    writer->handoff.count_skip();
  });
}

void* ringside_writer_buffer(ringside_writer* writer, uint32_t variable) {
  if (writer == nullptr || writer->claimed == nullptr || !writer->process.is_owner() ||
      variable >= writer->handoff.schema().size()) {
    return nullptr;
  }
  return writer->claimed + writer->handoff.schema().place(variable).offset;
}

const void* ringside_writer_previous(ringside_writer* writer, uint32_t variable) {
  if (writer == nullptr || writer->previous == nullptr || !writer->process.is_owner() ||
      variable >= writer->handoff.schema().size()) {
    return nullptr;
  }
  return writer->previous + writer->handoff.schema().place(variable).offset;
}

ringside_status ringside_writer_publish_timed(ringside_writer* writer, uint64_t iteration, int64_t generate_ns,
                                              const ringside_value* scalars, size_t scalar_count) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  if (!writer->process.is_owner() || writer->claimed == nullptr ||
      !is_publishable(*writer, iteration, generate_ns, scalars, scalar_count)) {
    return refuse_publish(*writer, iteration, generate_ns, scalars, scalar_count);
  }
  if (writer->drops) {
    ++writer->next_dropped;
  } else {
    ScalarValue values[kMostScalars];
    if (scalar_count > 0) std::memcpy(static_cast<void*>(values), scalars, scalar_count * sizeof(*scalars));
    writer->handoff.publish({.iteration = iteration, .generate_ns = generate_ns}, {values, scalar_count});
  }
  writer->previous = writer->claimed;
  writer->claimed = nullptr;
  writer->kept_is_over = true;
  writer->last_iteration = iteration;
  writer->idle_before_ns = writer->handoff.idle_ns();
  writer->step_began_ns = now_ns();
  return RINGSIDE_OK;
}

ringside_status ringside_writer_publish(ringside_writer* writer, uint64_t iteration, const ringside_value* scalars,
                                        size_t scalar_count) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return ringside_writer_publish_timed(writer, iteration, time_since_publish(*writer), scalars, scalar_count);
}

ringside_status ringside_writer_put(ringside_writer* writer, uint64_t iteration, const void* const* arrays,
                                    const ringside_value* scalars, size_t scalar_count) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  const Schema& schema = writer->handoff.schema();
  for (std::size_t v = 0; v < schema.size(); ++v) {
    if (arrays != nullptr && arrays[v] != nullptr) continue;
    return owned_call(writer, [&]() -> ringside_status {
      throw usage_error("iteration {}: the array of variable {} is NULL; expected {} bytes", iteration, v,
                        schema.place(v).bytes);
    });
  }
  // Arguments that `publish` would refuse are refused before the wait.
  if (!is_publishable(*writer, iteration, 0, scalars, scalar_count)) {
    return refuse_publish(*writer, iteration, 0, scalars, scalar_count);
  }
  const ringside_status claimed = ringside_writer_claim(writer);
  if (claimed != RINGSIDE_OK) return claimed;
  for (std::size_t v = 0; v < schema.size(); ++v) {
    std::memcpy(writer->claimed + schema.place(v).offset, arrays[v], schema.place(v).bytes);
  }
  return ringside_writer_publish(writer, iteration, scalars, scalar_count);
}

ringside_status ringside_writer_detach(ringside_writer* writer, uint32_t outcome) {
  return owned_call(writer, [&]() -> ringside_status {
    if (outcome < RINGSIDE_OUTCOME_FINISHED || outcome > RINGSIDE_OUTCOME_FAILED) {
      throw usage_error("outcome: found {}, expected 1 to {}", outcome, RINGSIDE_OUTCOME_FAILED + 0);
    }
    if (writer->ended) throw after_detach();
    writer->claimed = nullptr;
    writer->leaves = true;
    writer->bound_threads.reset();  // no step will follow, so the threads get their cores back
    const bool stopped = outcome == RINGSIDE_OUTCOME_FINISHED && writer->ran_out;
    writer->handoff.detach(stopped ? Outcome::kInterrupted : static_cast<Outcome>(outcome - RINGSIDE_OUTCOME_FINISHED));
    writer->ended = true;
    if (writer->own_analyzer) writer->own_analyzer->finish(writer->peer_timeout_s);
    return RINGSIDE_OK;
  });
}

ringside_status ringside_writer_counts(ringside_writer* writer, ringside_counts* out) {
  return owned_call(writer, [&] {
    ringside_counts counts{};
    counts.buffers = writer->buffers;
    counts.published = writer->handoff.published();
    counts.skipped = writer->handoff.skipped();
    counts.idle_ns = writer->handoff.idle_ns();
    library::give(counts, out, "ringside_counts");
  });
}

ringside_status ringside_writer_reply(ringside_writer* writer, double* value, uint64_t* number) {
  return owned_call(writer, [&]() -> ringside_status {
    const HandoffWriter::Replies& replies = writer->handoff.replies();
    if (number != nullptr) *number = replies.count;
    if (replies.count == 0) return RINGSIDE_ABSENT;
    if (value != nullptr) *value = replies.last;
    return RINGSIDE_OK;
  });
}

ringside_status ringside_writer_run(ringside_writer* writer, ringside_run* out) {
  return owned_call(writer, [&] {
    const RunDescription& run = writer->handoff.run();
    ringside_run made{};
    put_id(made.run_id, run.run_id);
    put_id(made.problem_id, run.problem_id);
    made.started_unix_ns = run.started_realtime_ns;
    made.work = run.nonzeros;
    made.solver = run.solver;
    made.problem = run.matrix;
    made.parameters = run.parameters;
    library::give(made, out, "ringside_run");
  });
}

const char* ringside_writer_account(const ringside_writer* writer) {
  return writer != nullptr && writer->own_analyzer ? writer->own_analyzer->account().c_str() : "";
}

const char* ringside_writer_note(const ringside_writer* writer) {
  return writer != nullptr ? writer->note.c_str() : "";
}

std::optional<CoreLoan> library::loan_of(ringside_writer& writer) noexcept {
  if (!writer.lends) return std::nullopt;
  return writer.handoff.loan();
}

const ringside_error* ringside_writer_error(const ringside_writer* writer) {
  return writer != nullptr ? &writer->error.get() : library::no_handle();
}

void ringside_writer_free(ringside_writer* writer) {
  delete writer;
}
