// SPDX-License-Identifier: BSD-3-Clause
// What a hostile producer may send and write: a request that is noise or nearly right, memory of any size with any
// seals, and counters and step descriptors that the fuzzer chooses. Each time the reader throws one Error, or returns
// steps in order and from memory that exists.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/handoff/handoff_reader.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

constexpr std::uint64_t kMostRows = 4096;  // of a request that may be accepted

AttachRequest nearly_right_request(FuzzedDataProvider& data) {
  AttachRequest request;
  request.buffers = data.ConsumeIntegralInRange<std::uint32_t>(2, 4);
  request.run.entries = data.ConsumeIntegralInRange<std::uint64_t>(1, kMostRows);
  auto* bytes = reinterpret_cast<unsigned char*>(&request);
  for (int changes = data.ConsumeIntegralInRange(0, 3); changes > 0; --changes) {
    bytes[data.ConsumeIntegralInRange<std::size_t>(0, sizeof request - 1)] = data.ConsumeIntegral<unsigned char>();
  }
  return request;
}

/// A producer's two shared memories; each may be missing.
struct Memories {
  std::optional<SharedMapping> payload;
  std::optional<SharedMapping> control;
};

void write_hostile_values(const Memories& memories, const AttachRequest& request, FuzzedDataProvider& data) {
  if (memories.control) {
    auto* control = new (memories.control->data()) HandoffControl;
    control->buffers = request.buffers;
    control->rows = request.run.entries;
    const auto small = [&data] { return data.ConsumeIntegralInRange<std::uint64_t>(0, 6); };
    control->released = data.ConsumeBool() ? small() : data.ConsumeIntegral<std::uint64_t>();
    control->published = data.ConsumeBool() ? control->released + small() : data.ConsumeIntegral<std::uint64_t>();
    if (data.ConsumeIntegralInRange(0, 7) == 0) {
      const std::size_t at = data.ConsumeIntegralInRange<std::size_t>(0, sizeof(HandoffControl) - 1);
      memories.control->data()[at] = std::byte{data.ConsumeIntegral<unsigned char>()};
    }
  }
  if (!memories.payload) return;
  auto* steps = reinterpret_cast<StepDescriptor*>(memories.payload->data());
  for (std::uint32_t b = 0; b < 4; ++b) {
    const std::uint64_t step = data.ConsumeIntegralInRange<std::uint64_t>(0, 8);
    steps[b] = {.step = step, .iteration = step + data.ConsumeIntegralInRange<std::uint64_t>(0, 2)};
    if (data.ConsumeIntegralInRange(0, 3) == 0) {
      auto* bytes = reinterpret_cast<unsigned char*>(&steps[b]);
      bytes[data.ConsumeIntegralInRange<std::size_t>(0, sizeof(StepDescriptor) - 1)] =
          data.ConsumeIntegral<unsigned char>();
    }
  }
}

void serve(HandoffReader& reader, FuzzedDataProvider& data) {
  Continuation from;
  if (data.ConsumeBool()) from.last = StepDescriptor{.step = 1, .iteration = data.ConsumeIntegralInRange(0u, 4u)};
  reader.accept(from);
  const std::atomic<bool> stop{true};  // the reader takes published steps and waits for no more
  std::uint64_t expected = reader.steps_released();
  std::uint64_t last_iteration = from.last ? from.last->iteration : 0;
  PublishedStep step;
  while (reader.next(step, false, &stop) == NextStatus::kStep) {
    fuzzing::demand(step.descriptor.step == expected++, "steps come in order");
    fuzzing::demand(step.descriptor.iteration > last_iteration, "iterations grow");
    last_iteration = step.descriptor.iteration;
    double sum = 0;
    for (std::uint64_t row = 0; row < reader.run().rows; ++row) sum += step.buffer[row];
    fuzzing::demand(sum == 0, "the buffer is the memory that was passed");
    reader.release();
  }
  reader.farewell(ExitCode::kDone, "");
  (void)reader.outcome();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return 0;
  UniqueFd ours(ends[0]);
  Peer producer{UniqueFd(ends[1])};

  const AttachRequest request = nearly_right_request(data);
  const bool ordinary = request.run.entries <= kMostRows && request.buffers <= 4;
  const PayloadGeometry geometry{ordinary ? request.buffers : 2, ordinary ? request.run.entries : 1};
  Memories memories;
  std::vector<int> fds;
  UniqueFd unsealed;
  if (data.ConsumeIntegralInRange(0, 15) != 0) {
    memories.payload = SharedMapping::create("fuzz", geometry.total_bytes(), PeerAccess::kReadOnly);
    fds.push_back(memories.payload->fd());
  }
  if (data.ConsumeIntegralInRange(0, 15) != 0) {
    const std::size_t odd = data.ConsumeIntegralInRange(0, 15) == 0 ? 64 : 0;
    memories.control = SharedMapping::create("fuzz", sizeof(HandoffControl) + odd, PeerAccess::kReadWrite);
    fds.push_back(memories.control->fd());
  } else {
    unsealed.reset(memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(unsealed.get(), sizeof(HandoffControl)) == 0) fds.push_back(unsealed.get());
  }
  write_hostile_values(memories, request, data);
  const std::vector<std::uint8_t> noise =
      data.ConsumeBytes<std::uint8_t>(data.ConsumeIntegralInRange<std::size_t>(0, 64));
  if (data.ConsumeIntegralInRange(0, 7) == 0) {
    producer.send(std::as_bytes(std::span(noise)), fds);
  } else {
    producer.send(std::as_bytes(std::span(&request, 1)), fds);
  }
  if (!noise.empty()) producer.send(std::as_bytes(std::span(noise)));  // in place of a goodbye

  fuzzing::run([&] {
    // The name is too long for the messages' socket: a request for messages is refused, and nothing is opened.
    HandoffReader reader(Peer(std::move(ours)), std::string(120, 's'), 0);
    fuzzing::demand(reader.run().rows >= 1, "there are rows");
    // The ring refuses what is larger than this; here it would only take memory.
    if (ordinary) serve(reader, data);
  });
  return 0;
}
