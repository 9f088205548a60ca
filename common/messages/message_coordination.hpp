// SPDX-License-Identifier: BSD-3-Clause
// `--coordination messages`: StepPublished and BufferReleased (proto/ringside.proto) over ZeroMQ. Each side waits only
// for messages. The counters remain in shared memory: they confirm each message, and they still exist when the sender
// has gone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/handoff/coordination.hpp"
#include "common/messages/channel.hpp"

namespace ringside {

/// The endpoint for messages to the analyzer at `socket`. Throws Error (exit code 3) if the endpoint's name is too
/// long.
std::string steps_endpoint(const std::string& socket);

/// Makes the Messages of this process, for HandoffOptions and HandoffReader. Throws the errors of steps_endpoint.
std::unique_ptr<Messages> make_messages(const std::string& socket);

class MessageCoordination final : public Coordination {
 public:
  /// The analyzer's side listens, and accepts only the producer with the name in `address`; construct this side first.
  /// The producer's side connects and sends a hello, because an analyzer can send only to a producer from which it has
  /// received a message. ZeroMQ's thread starts with the context's first channel, on the cores of the calling thread.
  /// Throws Error.
  MessageCoordination(ChannelContext& context, Side side, const MessageAddress& address,
                      const std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other);
  ~MessageCoordination() override;

  void announce() noexcept override;
  std::uint64_t seen() noexcept override;

 private:
  std::uint64_t seen_at_last() noexcept override { return seen_ = other_.load(std::memory_order_acquire); }
  void sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept override;
  void relax() noexcept override;
  void take_message() noexcept;

  Side side_;
  std::string bound_;  // the path of the analyzer's socket file
  std::string name_;   // the name as it is sent
  std::uint64_t epoch_;
  Channel channel_;
  std::vector<std::string> frames_;  // the frames of the current message; the memory is reused
  std::uint64_t seen_ = 0;
  std::int64_t announced_at_ns_ = 0;
  bool heard_ = false;  // whether the analyzer has received a message from the producer
};

}  // namespace ringside
