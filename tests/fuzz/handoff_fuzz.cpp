// SPDX-License-Identifier: BSD-3-Clause
// The messages and memory of a hostile producer: a request of random bytes or a nearly right one, memory of any size
// with any seals, and counters and step descriptors that the fuzzer chooses. In every case, the reader must throw one
// Error, or return steps in order and from memory that exists.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/handoff/handoff_reader.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

constexpr std::uint64_t kMostRows = 4096;  // the most rows in a request that may be accepted

Variable any_variable(FuzzedDataProvider& data, std::size_t index) {
  Variable variable{.name = "v" + std::to_string(index)};
  variable.dtype = DType{data.ConsumeIntegralInRange<std::uint16_t>(1, 12)};
  variable.role = data.ConsumeBool() ? Role::kField : Role::kState;
  if (data.ConsumeBool()) variable.shape = {data.ConsumeIntegralInRange<std::uint64_t>(1, kMostRows)};
  return variable;
}

AttachRequest right_request(FuzzedDataProvider& data) {
  std::vector<Variable> variables;
  const auto count = data.ConsumeIntegralInRange<std::size_t>(1, 3);
  for (std::size_t v = 0; v < count; ++v) variables.push_back(any_variable(data, v));
  std::vector<Scalar> scalars(data.ConsumeIntegralInRange<std::size_t>(0, 4));
  for (std::size_t s = 0; s < scalars.size(); ++s) scalars[s].name = "s" + std::to_string(s);
  AttachRequest request(RunDescription{}, Schema::of(variables), scalars);
  request.head.buffers = data.ConsumeIntegralInRange<std::uint32_t>(2, 4);
  return request;
}

std::vector<std::byte> nearly_right_message(const AttachRequest& request, FuzzedDataProvider& data) {
  std::vector<std::byte> message = request.encode();
  for (int changes = data.ConsumeIntegralInRange(0, 3); changes > 0; --changes) {
    message[data.ConsumeIntegralInRange<std::size_t>(0, message.size() - 1)] =
        std::byte{data.ConsumeIntegral<unsigned char>()};
  }
  return message;
}

/// A producer's two shared memories; each may be missing.
struct Memories {
  std::optional<SharedMapping> payload;
  std::optional<SharedMapping> control;
};

void write_hostile_values(const Memories& memories, const AttachRequest& request, FuzzedDataProvider& data) {
  if (memories.control) {
    auto* control = new (memories.control->data()) HandoffControl;
    control->buffers = request.head.buffers;
    control->payload_bytes = request.schema.payload_bytes();
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
  if (data.ConsumeBool()) {
    from.last = StepWithScalars{.descriptor = {.step = 1, .iteration = data.ConsumeIntegralInRange(0u, 4u)}};
  }
  reader.accept(from);
  const std::atomic<bool> stop{true};  // so that the reader takes published steps but does not wait for more
  std::uint64_t expected = reader.steps_released();
  std::uint64_t last_iteration = from.last ? from.last->descriptor.iteration : 0;
  PublishedStep step;
  while (reader.next(step, false, &stop) == NextStatus::kStep) {
    fuzzing::demand(step.step.descriptor.step == expected++, "steps come in order");
    fuzzing::demand(step.step.descriptor.iteration > last_iteration, "iterations grow");
    last_iteration = step.step.descriptor.iteration;
    double sum = 0;
    for (std::uint64_t i = 0; i < reader.schema().payload_bytes(); ++i) sum += static_cast<double>(step.payload[i]);
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

  const AttachRequest request = right_request(data);
  const std::vector<std::byte> message = nearly_right_message(request, data);
  const PayloadGeometry geometry{request.head.buffers, request.schema.payload_bytes()};
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
    producer.send(message, fds);
  }
  if (!noise.empty()) producer.send(std::as_bytes(std::span(noise)));  // in place of a goodbye

  fuzzing::run([&] {
    // The name is too long for the socket of the messages, so that a request for messages is refused and nothing is
    // opened.
    HandoffReader reader(Peer(std::move(ours)), std::string(120, 's'), 0);
    fuzzing::demand(reader.run().entries >= 1, "the first variable has entries");
    serve(reader, data);
  });
  return 0;
}
