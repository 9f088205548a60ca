// SPDX-License-Identifier: BSD-3-Clause
// The request with which a producer attaches: what it publishes, and how. The request is one message. A message cannot
// change after the analyzer has received it, so one check suffices (docs/formats/handoff_protocol.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/handoff/handoff_layout.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// The fixed part. `variables` VariableDescriptions and `scalars` ResultDescriptions follow it.
struct AttachRequestHead {
  MessageHeader header{.kind = MessageKind::kAttachRequest};
  std::uint32_t buffers = 0;
  PoolUse pool_use = PoolUse::kFresh;
  CoordinationKind coordination = CoordinationKind::kLocks;
  std::uint32_t elastic = 0;  // 1: each side lends its waiting cores to the other
  Id128 name;                 // with messages: the producer's name, which each of its messages carries
  RunDescription run;         // its schema_id and its number of entries come from the variables
  std::uint32_t variables = 0;
  std::uint32_t scalars = 0;
  // With PoolUse::kResume: the iteration to continue from (newer steps of the run are discarded), or 0 for the newest.
  std::uint64_t resume_from = 0;
  // The absolute path of the pool that the producer requests; an analyzer of another pool refuses. Empty: any pool, or
  // the path is too long for this field.
  char pool[1024] = {};
};
static_assert(sizeof(AttachRequestHead) == 2096);

/// The size of the largest request.
inline constexpr std::size_t kMostRequestBytes =
    sizeof(AttachRequestHead) + kMostVariables * sizeof(VariableDescription) + kMostScalars * sizeof(ResultDescription);
static_assert(kMostRequestBytes == 53'296);

struct AttachRequest {
  AttachRequestHead head;
  Schema schema;
  std::vector<Scalar> scalars;

  /// The members entries, schema_id and problem_id of `run` are set from `variables`, which are a part of the problem.
  /// Throws Error (exit code 2) for scalars that violate docs/publish/variables.md.
  AttachRequest(const RunDescription& run, Schema variables, std::vector<Scalar> published_scalars);

  /// The message. It must be sent with two descriptors: the payload memfd and the control memfd. For a run of several
  /// nodes, a third descriptor is sent: a memfd with the text of a ranks file.
  std::vector<std::byte> encode() const;

  /// Decodes a request from a peer, which may be hostile. descriptors: the number of descriptors that came with the
  /// request. Throws Error (exit code 2) if no real producer would send such a request.
  static AttachRequest decode(std::span<const std::byte> message, std::size_t descriptors);

 private:
  AttachRequest(const AttachRequestHead& received, Schema variables, std::vector<Scalar> published_scalars)
      : head(received), schema(std::move(variables)), scalars(std::move(published_scalars)) {}
};

}  // namespace ringside
