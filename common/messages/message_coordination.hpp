// SPDX-License-Identifier: BSD-3-Clause
// `--coordination messages`: StepPublished and BufferReleased (proto/ringside.proto) over ZeroMQ. A side waits only for
// messages. The counters are still in shared memory: they confirm each message, and they remain after its sender has
// gone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/handoff/coordination.hpp"
#include "common/messages/channel.hpp"

namespace ringside {

/// The endpoint for the messages of the analyzer at `socket`. Throws Error (exit code 3) if that name is too long.
std::string steps_endpoint(const std::string& socket);

/// The messages of this process, for HandoffOptions and HandoffReader. Throws Error as steps_endpoint.
std::unique_ptr<Messages> make_messages(const std::string& socket);

class MessageCoordination final : public Coordination {
 public:
  /// The analyzer listens, for the producer of that name only; construct its side first. The producer connects and
  /// sends a hello, because an analyzer can send only to a producer from which it has received a message. ZeroMQ's
  /// thread starts with the context's first channel, on the cores of the thread that calls. Throws Error.
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
  std::string bound_;  // the analyzer's: the socket file
  std::string name_;   // on the wire
  std::uint64_t epoch_;
  Channel channel_;
  std::vector<std::string> frames_;  // of the current message; keeps its memory
  std::uint64_t seen_ = 0;
  std::int64_t announced_at_ns_ = 0;
  bool heard_ = false;  // whether the analyzer has received a message of the producer
};

}  // namespace ringside
