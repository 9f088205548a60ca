// SPDX-License-Identifier: BSD-3-Clause
#include "common/messages/message_coordination.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <span>
#include <string_view>

#include "common/platform/clock.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

// A message has two varints of at most ten bytes, each after a tag of one byte.
constexpr std::size_t kMostBytes = 22;
// A longer message ends the connection of its sender. ZeroMQ's own greeting, which contains the name, must also fit.
constexpr std::size_t kMaxMessageBytes = 256;
// Only the newest message of a side matters, so only a few are held.
constexpr int kMessagesHeld = 256;
// The number of messages received at once, so that a flood of them cannot keep this side from checking the time.
constexpr int kMessagesAtOnce = 64;
// A waiting side repeats its count: if a message is lost together with its connection, the run waits for a second but
// does not end.
constexpr std::int64_t kRepeatNs = 1'000'000'000;
// The longest time for which an attaching producer waits for the analyzer's answer to its hello.
constexpr std::int64_t kGreetingNs = 20'000'000;

Channel make_channel(ChannelContext& context, Side side, const std::string& name) {
  ChannelOptions options{.max_message_bytes = kMaxMessageBytes, .high_water_mark = kMessagesHeld};
  if (side == Side::kAnalyzer) return Channel(context, ChannelKind::kRouter, options);
  options.name = name;
  return Channel(context, ChannelKind::kDealer, options);
}

std::string steps_path(const std::string& socket) {
  return socket + ".steps";
}

template <class Message>
std::string_view serialise(const Message& message, std::span<char> buffer) noexcept {
  const std::size_t bytes = message.ByteSizeLong();
  message.SerializeToArray(buffer.data(), static_cast<int>(buffer.size()));
  return {buffer.data(), bytes};
}

/// Parses a message. Also returns false if memory for unknown fields is short, because the peer repeats its count.
template <class Message>
bool parse(std::string_view bytes, Message& message) noexcept {
  try {
    return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::string steps_endpoint(const std::string& socket) {
  return ipc_endpoint(steps_path(socket));
}

MessageCoordination::MessageCoordination(ChannelContext& context, Side side, const MessageAddress& address,
                                         const std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other)
    : Coordination(own, other),
      side_(side),
      name_(to_string(address.name)),
      epoch_(address.epoch),
      channel_(make_channel(context, side, name_)) {
  const std::string endpoint = steps_endpoint(address.socket);
  if (side == Side::kAnalyzer) {
    channel_.bind(endpoint);
    bound_ = steps_path(address.socket);
    return;
  }
  channel_.connect(endpoint);
  announce();
  // Lets ZeroMQ's thread, which may share the core, do its handshake now and not during the first iterations.
  channel_.wait_ns(kGreetingNs);
}

MessageCoordination::~MessageCoordination() {
  if (!bound_.empty()) unlink(bound_.c_str());  // ZeroMQ does not remove this file
}

void MessageCoordination::announce() noexcept {
  announced_at_ns_ = now_ns();
  const std::uint64_t count = own_.load(std::memory_order_relaxed);
  std::array<char, kMostBytes> buffer;
  if (side_ == Side::kProducer) {
    wire::StepPublished message;
    message.set_epoch(epoch_);
    message.set_published(count);
    channel_.send(serialise(message, buffer));
  } else {
    if (!heard_) return;  // the producer's first message will be answered instead
    wire::BufferReleased message;
    message.set_epoch(epoch_);
    message.set_released(count);
    const std::array<std::string_view, 2> frames = {name_, serialise(message, buffer)};
    channel_.send(frames);
  }
  // ZeroMQ's own thread, which may share this core, now has work. Without this call, the calling thread would keep the
  // core for milliseconds.
  sched_yield();
}

std::uint64_t MessageCoordination::seen() noexcept {
  for (int i = 0; i < kMessagesAtOnce && channel_.receive(frames_); ++i) take_message();
  return seen_;
}

/// Accepts the message in `frames_` if it comes from the peer, belongs to this attachment, and the peer's shared
/// counter confirms it.
void MessageCoordination::take_message() noexcept {
  const bool named = side_ == Side::kAnalyzer;  // on the analyzer's side, the sender's name precedes each message
  if (frames_.size() != (named ? 2u : 1u) || (named && frames_[0] != name_)) return;
  std::uint64_t epoch = 0;
  std::uint64_t count = 0;
  if (named) {
    wire::StepPublished message;
    if (!parse(frames_[1], message)) return;
    epoch = message.epoch();
    count = message.published();
  } else {
    wire::BufferReleased message;
    if (!parse(frames_[0], message)) return;
    epoch = message.epoch();
    count = message.released();
  }
  if (epoch != epoch_) return;
  if (named && !heard_) {
    heard_ = true;
    announce();
  }
  // Acquire: the peer's stores before the count are visible here, as they are without messages.
  if (count > seen_ && count <= other_.load(std::memory_order_acquire)) seen_ = count;
}

void MessageCoordination::sleep(std::uint64_t, std::int64_t at_most_ns) noexcept {
  if (now_ns() - announced_at_ns_ >= kRepeatNs) announce();
  channel_.wait_ns(at_most_ns);
}

/// Yields the core, because ZeroMQ's own thread, which delivers the awaited message, may share it.
void MessageCoordination::relax() noexcept {
  sched_yield();
}

namespace {

class ProcessMessages final : public Messages {
 public:
  std::unique_ptr<Coordination> coordinate(Side side, const MessageAddress& address,
                                           const std::atomic<std::uint64_t>& own,
                                           const std::atomic<std::uint64_t>& other) override {
    return std::make_unique<MessageCoordination>(context_, side, address, own, other);
  }

 private:
  ChannelContext context_;
};

}  // namespace

std::unique_ptr<Messages> make_messages(const std::string& socket) {
  (void)steps_endpoint(socket);
  return std::make_unique<ProcessMessages>();
}

}  // namespace ringside
