// SPDX-License-Identifier: BSD-3-Clause
// The bytes that both processes share while a run is attached: docs/formats/handoff_protocol.md as code. These bytes
// last no longer than the attachment. The layout has a version number because the two sides may be built at different
// times.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/handoff/run_description.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/threads/core_loan.hpp"

namespace ringside {

inline constexpr std::uint64_t kHandoffMagic = 0x3146464f44485352;  // "RSHDOFF1", little-endian
inline constexpr std::uint32_t kHandoffVersion = 7;

// At least 2: x_{k-1} is read from the buffer published last, while x_k is written into another buffer. At most 64: the
// descriptors of 64 buffers fill a page.
inline constexpr std::uint32_t kMinBuffers = 2;
inline constexpr std::uint32_t kMaxBuffers = 64;

// Buffers begin at multiples of a huge page; the memfd is sparse, so that small iterates use no extra memory.
inline constexpr std::size_t kBufferAlignmentBytes = std::size_t{2} << 20;

// The state words. A side that waits for the other's counter also stops waiting when the other's state changes.
enum : std::uint32_t { kProducerAttaching = 0, kProducerRunning = 1, kProducerDetached = 2 };
enum : std::uint32_t { kAnalyzerAbsent = 0, kAnalyzerServing = 1, kAnalyzerFailed = 2 };

/// The control memfd. alignas(64): the two sides write to different cache lines.
struct HandoffControl {
  // The producer writes these words before it passes the memfd on. They never change.
  alignas(64) std::uint64_t magic = kHandoffMagic;
  std::uint32_t version = kHandoffVersion;
  std::uint32_t buffers = 0;
  std::uint64_t payload_bytes = 0;

  // The producer writes these words.
  alignas(64) std::atomic<std::uint64_t> published{0};  // number of published steps; step s is visible once it is > s
  std::atomic<std::uint32_t> producer_state{kProducerAttaching};
  // 1: with `elastic`, the producer lends cores but has no threads that would use the analyzer's, so the analyzer lends
  // none. Written before the memfd is passed on. Earlier versions leave 0. alignas: the word before it is reserved.
  alignas(8) std::atomic<std::uint32_t> lends_only{0};

  // The analyzer writes these words.
  alignas(64) std::atomic<std::uint64_t> released{0};  // number of committed steps; buffer s mod B is free if it is > s
  std::atomic<std::uint64_t> epoch{0};                 // attachments of this producer so far, including this one
  std::atomic<std::uint32_t> analyzer_state{kAnalyzerAbsent};
  // 1: a trigger ends the run. The producer then gets no further buffer; it gets the farewell. A successor of this
  // analyzer also ends the run.
  std::atomic<std::uint32_t> run_ends{0};
  // The triggers' replies (docs/use/questions.md): `reply` has the bits of the newest one (a double), `replies` the
  // number of replies. Versions that send no replies leave both 0.
  std::atomic<std::uint64_t> reply{0};
  std::atomic<std::uint64_t> replies{0};
  std::atomic<std::uint64_t> persisted{0};  // the number of steps on the medium, if persistence was requested

  // With `elastic`: the cores of each side, and whether the other side may use them (docs/inside/architecture.md).
  LentCores producer_cores;
  LentCores analyzer_cores;
};
static_assert(sizeof(HandoffControl) == 704 && std::is_standard_layout_v<HandoffControl>);
static_assert(offsetof(HandoffControl, published) == 64 && offsetof(HandoffControl, producer_state) == 72 &&
              offsetof(HandoffControl, lends_only) == 80 && offsetof(HandoffControl, released) == 128 &&
              offsetof(HandoffControl, replies) == 160 && offsetof(HandoffControl, persisted) == 168 &&
              offsetof(HandoffControl, producer_cores) == 192 && offsetof(HandoffControl, analyzer_cores) == 448);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);
static_assert(kMaxBuffers * sizeof(StepDescriptor) == 4096 &&
              kMaxBuffers * (sizeof(StepDescriptor) + kMostFurtherScalars * 8) <= kBufferAlignmentBytes);

/// The layout of the payload memfd: a step descriptor and further scalars for each buffer, then the buffers. A buffer
/// contains the variables at the same offsets as a slot of the ring (Schema::place).
struct PayloadGeometry {
  std::uint32_t buffers = 0;
  std::uint64_t payload_bytes = 0;

  std::size_t stride_bytes() const noexcept {
    return (payload_bytes + kBufferAlignmentBytes - 1) / kBufferAlignmentBytes * kBufferAlignmentBytes;
  }
  static constexpr std::size_t descriptors_offset() noexcept { return 0; }
  /// The words for further scalars: kMostFurtherScalars for each buffer.
  static constexpr std::size_t further_scalars_offset() noexcept { return kMaxBuffers * sizeof(StepDescriptor); }
  std::size_t buffer_offset(std::uint64_t step) const noexcept {
    return kBufferAlignmentBytes + (step % buffers) * stride_bytes();
  }
  std::size_t total_bytes() const noexcept { return kBufferAlignmentBytes + buffers * stride_bytes(); }
};

// --- messages over the socket ------------------------------------------------------------------------------------

enum class MessageKind : std::uint32_t { kAttachRequest = 1, kAttachReply = 2, kDetach = 3, kFarewell = 4 };

/// How the run ended, as the producer saw it.
enum class Outcome : std::uint32_t { kFinished = 0, kInterrupted = 1, kDiverged = 2, kFailed = 3 };

struct MessageHeader {
  std::uint64_t magic = kHandoffMagic;
  std::uint32_t version = kHandoffVersion;
  MessageKind kind{};
};

/// What a run may do with iterates of other runs that it finds in the pool. A run always continues from its own
/// iterates.
enum class PoolUse : std::uint32_t {
  kFresh = 0,      // nothing: if there are any, the run is refused
  kOverwrite = 1,  // discard those iterates
  kResume = 2,     // continue from the newest iterate, if it is of the same problem
  kFreshAgain = 3  // like kFresh, after an analyzer died during this request: an unfinished pool belongs to this run
};

/// How a side notifies the other that its counter has grown.
enum class CoordinationKind : std::uint32_t {
  kLocks = 0,    // a futex on the counter itself
  kMessages = 1  // ZeroMQ messages
};

// The request of a producer is in attach_request.hpp.

/// If `resumed`, a descriptor comes with the reply: a memfd with the variables of the step to continue from, followed
/// by KeptScalars.
struct AttachReply {
  MessageHeader header{.kind = MessageKind::kAttachReply};
  std::uint32_t exit_code = 0;  // 0: accepted; otherwise an ExitCode, and `message` is the line for the user
  std::uint32_t resumed = 0;    // 1: a run in the pool continues
  std::uint64_t epoch = 0;
  Id128 run_id;            // if `resumed`: the id of the run that continues
  StepDescriptor kept;     // if `resumed`: the descriptor of the step to continue from
  char message[912] = {};  // if accepted: a note for the user, or an empty string
};

struct Detach {
  MessageHeader header{.kind = MessageKind::kDetach};
  Outcome outcome = Outcome::kFinished;
  std::uint32_t reserved = 0;
  std::uint64_t steps_published = 0;
};

struct Farewell {
  MessageHeader header{.kind = MessageKind::kFarewell};
  std::uint32_t exit_code = 0;  // 0: all published steps were committed (and persisted, if requested)
  std::uint32_t stopping = 0;   // 1: the analyzer was asked to stop, and another one may take over
  std::uint64_t steps_committed = 0;
  char message[992] = {};
};
static_assert(sizeof(AttachReply) == 1024 && sizeof(Detach) == 32 && sizeof(Farewell) == 1024);

/// This struct follows the payload in the memfd with the step to continue from, and begins at the next page. The struct
/// has the scalars of the request's list, in the order of that list; scalars that the kept step lacks are marked as
/// absent.
struct KeptScalars {
  std::uint64_t present = 0;  // bit i: scalar i is present
  std::uint64_t words[kMostFurtherScalars] = {};
};
static_assert(sizeof(KeptScalars) == 520);

constexpr std::size_t kept_scalars_offset(std::uint64_t payload_bytes) noexcept {
  constexpr std::size_t kPage = 4096;
  return (payload_bytes + kPage - 1) / kPage * kPage;
}

}  // namespace ringside
