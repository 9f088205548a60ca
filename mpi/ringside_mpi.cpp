// SPDX-License-Identifier: BSD-3-Clause
// The C interface of runs of several ranks: a handle for a RankWriter.
#include "mpi/ringside_mpi.h"

#include <cstring>
#include <memory>
#include <vector>

#include "library/handle.hpp"
#include "library/writer_options.hpp"
#include "mpi/rank_writer.hpp"

using namespace ringside;
using library::guarded;
using library::LastError;
using library::Refusal;
using mpi::RankWriter;

namespace ringside::library {
template <>
inline constexpr std::size_t kFirstSize<ringside_mpi_part> = 136;
template <>
inline constexpr std::size_t kFirstSize<ringside_mpi_state> = 64;
}  // namespace ringside::library
static_assert(sizeof(ringside_mpi_part) == 136 && sizeof(ringside_mpi_state) == 64);
static_assert(sizeof(ringside_value) == sizeof(ScalarValue));

struct ringside_mpi_writer {
  template <class Take>
  ringside_mpi_writer(MPI_Comm ranks, const Take& take) : rank(ranks, take) {}

  RankWriter rank;
  bool ended = false;  // detach was called: no step may follow
  LastError error;
};

namespace {

Box box_of(const ringside_mpi_part& part, const Variable& variable) {
  if (part.distribution > RINGSIDE_MPI_REPLICATED) {
    throw usage_error("variable '{}': found distribution {}, expected 1 to {}, or 0", variable.name, part.distribution,
                      RINGSIDE_MPI_REPLICATED + 0);
  }
  Box box;
  if (part.distribution == RINGSIDE_MPI_REPLICATED) {
    box.distribution = Distribution::kReplicated;
    return box;
  }
  for (std::size_t d = 0; d < variable.shape.size(); ++d) {
    box.offset[d] = part.offset[d];
    box.extent[d] = part.extent[d];
  }
  return box;
}

mpi::RankOptions options_of(const ringside_writer_options* options, const ringside_variable* variables,
                            const ringside_mpi_part* parts, std::size_t variable_count, const ringside_scalar* scalars,
                            std::size_t scalar_count) {
  ringside_writer_options given{};
  if (options != nullptr) given = library::taken(options, "ringside_writer_options");
  mpi::RankOptions made{.handoff = library::handoff_options_of(given, nullptr),
                        .run = library::run_of(given),
                        .variables = library::variables_of(variables, variable_count),
                        .boxes = {},
                        .scalars = library::scalars_of(scalars, scalar_count)};
  if (variable_count == 0) throw usage_error("variables: found none, expected 1 to {}", kMostVariables);
  if (parts == nullptr) throw usage_error("parts: found NULL, expected {} parts", variable_count);
  const std::vector<ringside_mpi_part> taken = library::taken(parts, variable_count, "ringside_mpi_part");
  for (std::size_t v = 0; v < variable_count; ++v) made.boxes.push_back(box_of(taken[v], made.variables[v]));
  return made;
}

/// Runs call() in the process that attached. Failures become the handle's last error.
template <class Call>
ringside_status owned_call(ringside_mpi_writer* writer, const Call& call) noexcept {
  if (writer == nullptr) return RINGSIDE_USAGE;
  return guarded(writer->error, [&] {
    if (!writer->rank.process().is_owner()) throw Refusal(RINGSIDE_REASON_PROCESS, writer->rank.process().misuse());
    return call();
  });
}

void check_not_ended(const ringside_mpi_writer& writer) {
  if (writer.ended) {
    throw usage_error("the run has ended: ringside_mpi_detach was called; expected ringside_mpi_free");
  }
}

void check_publish(const ringside_mpi_writer& writer, std::uint64_t iteration, const ringside_value* scalars,
                   std::size_t scalar_count) {
  check_not_ended(writer);
  const RankWriter& rank = writer.rank;
  if (!rank.is_claimed())
    throw usage_error("iteration {}: no step is claimed; expected a call of ringside_mpi_claim first", iteration);
  if (iteration <= rank.last_iteration()) {
    throw usage_error("iteration {}: expected more than {}, the one before", iteration, rank.last_iteration());
  }
  if (scalar_count > rank.scalars()) {
    throw usage_error("iteration {}: found {} scalars, expected at most {}", iteration, scalar_count, rank.scalars());
  }
  if (scalar_count > 0 && scalars == nullptr) {
    throw usage_error("iteration {}: scalars is NULL; expected {}", iteration, scalar_count);
  }
}

void check_variable(const ringside_mpi_writer& writer, std::uint32_t variable) {
  const std::size_t count = writer.rank.variables();
  if (variable >= count) throw usage_error("variable {}: expected less than {}", variable, count);
}

}  // namespace

ringside_status ringside_mpi_attach(MPI_Comm comm, const ringside_writer_options* options,
                                    const ringside_variable* variables, const ringside_mpi_part* parts,
                                    size_t variable_count, const ringside_scalar* scalars, size_t scalar_count,
                                    ringside_mpi_writer** out, ringside_error* error) {
  const bool is_place = library::is_place_for(error);
  return guarded(is_place ? error : nullptr, [&]() -> ringside_status {
    if (out != nullptr) *out = nullptr;
    mpi::check_may_call();
    auto attached = std::make_unique<ringside_mpi_writer>(comm, [&] {  // all ranks receive a failure of this function
      if (!is_place) throw usage_error("ringside_error: its size is wrong; expected sizeof(ringside_error)");
      if (out == nullptr) throw usage_error("ringside_mpi_attach: `out` is NULL; expected the address of a handle");
      return options_of(options, variables, parts, variable_count, scalars, scalar_count);
    });
    *out = attached.release();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_mpi_kept(ringside_mpi_writer* writer, uint64_t* iteration) {
  return owned_call(writer, [&]() -> ringside_status {
    if (!writer->rank.has_kept()) return RINGSIDE_ABSENT;
    if (iteration != nullptr) *iteration = writer->rank.kept_iteration();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_mpi_kept_variable(ringside_mpi_writer* writer, uint32_t variable, const void** data,
                                           size_t* bytes) {
  return owned_call(writer, [&]() -> ringside_status {
    check_variable(*writer, variable);
    if (!writer->rank.has_kept()) return RINGSIDE_ABSENT;
    const std::span<const std::byte> part = writer->rank.kept_part(variable);
    if (data != nullptr) *data = part.data();
    if (bytes != nullptr) *bytes = part.size();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_mpi_kept_scalar(ringside_mpi_writer* writer, uint32_t scalar, ringside_value* value) {
  return owned_call(writer, [&]() -> ringside_status {
    if (scalar >= writer->rank.scalars()) {
      throw usage_error("scalar {}: expected less than {}", scalar, writer->rank.scalars());
    }
    const std::optional<ScalarValue> kept = writer->rank.kept_scalar(scalar);
    if (!kept) return RINGSIDE_ABSENT;
    if (value != nullptr) value->i64 = kept->i64();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_mpi_claim(ringside_mpi_writer* writer) {
  if (writer == nullptr) return RINGSIDE_USAGE;
  ClaimStatus status = ClaimStatus::kAnalyzerFailed;
  if (!writer->ended && writer->rank.process().is_owner()) {
    status = writer->rank.claim();
    if (status == ClaimStatus::kOk) return RINGSIDE_OK;
  }
  return owned_call(writer, [&]() -> ringside_status {
    check_not_ended(*writer);
    throw writer->rank.failure(status);
  });
}

void* ringside_mpi_buffer(ringside_mpi_writer* writer, uint32_t variable) {
  return writer != nullptr && writer->rank.process().is_owner() ? writer->rank.part(variable) : nullptr;
}

const void* ringside_mpi_previous(ringside_mpi_writer* writer, uint32_t variable) {
  return writer != nullptr && writer->rank.process().is_owner() ? writer->rank.previous_part(variable) : nullptr;
}

ringside_status ringside_mpi_publish(ringside_mpi_writer* writer, uint64_t iteration, const ringside_value* scalars,
                                     size_t scalar_count) {
  const ringside_status status = owned_call(writer, [&] { check_publish(*writer, iteration, scalars, scalar_count); });
  if (status != RINGSIDE_OK) return status;
  ScalarValue values[kMostScalars];
  if (scalar_count > 0) std::memcpy(static_cast<void*>(values), scalars, scalar_count * sizeof(*scalars));
  writer->rank.publish(iteration, {values, scalar_count});
  return RINGSIDE_OK;
}

ringside_status ringside_mpi_progress(ringside_mpi_writer* writer, ringside_mpi_state* out) {
  return owned_call(writer, [&] {
    const RankWriter& rank = writer->rank;
    const mpi::RunState known = rank.state();
    library::give(ringside_mpi_state{.size = 0,
                                     .rank = static_cast<std::uint32_t>(rank.job().all.rank()),
                                     .ranks = static_cast<std::uint32_t>(rank.job().all.size()),
                                     .node = static_cast<std::uint32_t>(rank.job().node_index),
                                     .nodes = static_cast<std::uint32_t>(rank.job().nodes),
                                     .waited_for_node = known.waited.node,
                                     .waited_ns = known.waited.ns,
                                     .published = rank.published(),
                                     .global_iteration = known.global_iteration,
                                     .global_persisted = known.global_persisted,
                                     .idle_ns = rank.idle_ns()},
                  out, "ringside_mpi_state");
  });
}

ringside_status ringside_mpi_detach(ringside_mpi_writer* writer, uint32_t outcome) {
  return owned_call(writer, [&] {
    check_not_ended(*writer);
    mpi::check_may_call();
    writer->ended = true;
    writer->rank.detach(outcome - 1);
  });
}

const ringside_error* ringside_mpi_error(const ringside_mpi_writer* writer) {
  return writer != nullptr ? &writer->error.get() : library::no_handle();
}

void ringside_mpi_free(ringside_mpi_writer* writer) {
  if (writer != nullptr && writer->rank.process().is_owner()) delete writer;
}
