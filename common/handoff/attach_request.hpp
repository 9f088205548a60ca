// SPDX-License-Identifier: BSD-3-Clause
// The request with which a producer attaches: what it publishes, and how. One message, which cannot change once the
// analyzer has received it: so one check suffices (docs/formats/handoff_protocol.md).
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
  std::uint32_t elastic = 0;  // 1: waiting cores are lent to the other side
  Id128 name;                 // with messages: the producer's, which marks its messages
  RunDescription run;         // its schema_id and entries are those of the variables
  std::uint32_t variables = 0;
  std::uint32_t scalars = 0;
  // With PoolUse::kResume: the iteration to continue from, and newer steps of the run are discarded; 0: the newest one.
  std::uint64_t resume_from = 0;
  // The pool that the producer requests, an absolute path: an analyzer of another pool refuses. Empty: any,
  // also where the path is longer.
  char pool[1024] = {};
};
static_assert(sizeof(AttachRequestHead) == 2096);

/// The largest request.
inline constexpr std::size_t kMostRequestBytes =
    sizeof(AttachRequestHead) + kMostVariables * sizeof(VariableDescription) + kMostScalars * sizeof(ResultDescription);
static_assert(kMostRequestBytes == 53'296);

struct AttachRequest {
  AttachRequestHead head;
  Schema schema;
  std::vector<Scalar> scalars;

  /// run: becomes that of these variables, which are a part of the problem. Throws Error (exit code 2) for scalars that
  /// docs/publish/variables.md refuses.
  AttachRequest(const RunDescription& run, Schema variables, std::vector<Scalar> published_scalars);

  /// The message. It travels with two descriptors: the payload memfd and the control memfd; or a third one: a memfd with the
  /// text of a ranks file.
  std::vector<std::byte> encode() const;

  /// From the bytes of a peer, which may be hostile, and the number of descriptors that came with them. Throws Error
  /// (exit code 2) for anything that no producer sends.
  static AttachRequest decode(std::span<const std::byte> message, std::size_t descriptors);

 private:
  AttachRequest(const AttachRequestHead& received, Schema variables, std::vector<Scalar> published_scalars)
      : head(received), schema(std::move(variables)), scalars(std::move(published_scalars)) {}
};

}  // namespace ringside
