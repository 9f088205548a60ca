// SPDX-License-Identifier: BSD-3-Clause
// The control socket of an analyzer, whose replies a test chooses.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/messages/channel.hpp"
#include "common/telemetry/record_stream.hpp"
#include "proto/ringside.pb.h"

namespace ringside::testing {

class FakeAnalyzer {
 public:
  explicit FakeAnalyzer(const std::string& socket) { control_.bind(telemetry_at(socket).control); }

  /// Returns whether a request was received; `asked` then returns this request.
  bool receive(int wait_ms) {
    if (!control_.receive(frames_) && (!control_.wait(wait_ms) || !control_.receive(frames_))) return false;
    return asked_.ParseFromString(frames_.back());
  }
  const wire::ControlRequest& asked() const { return asked_; }

  /// Answers the last request.
  void reply(const wire::ControlReply& reply) {
    const std::string text = reply.SerializeAsString();
    control_.send(std::array<std::string_view, 2>{frames_.front(), text});
  }
  void reply_taken(std::uint64_t request, std::uint32_t taken) {
    wire::ControlReply said;
    said.mutable_analysis_recorded()->set_request(request);
    said.mutable_analysis_recorded()->set_taken(taken);
    reply(said);
  }
  void refuse(const std::string& why, bool may_ask_again) {
    wire::ControlReply said;
    said.mutable_refused()->set_why(why);
    said.mutable_refused()->set_may_ask_again(may_ask_again);
    reply(said);
  }

 private:
  ChannelContext context_;
  Channel control_{context_, ChannelKind::kRouter};
  std::vector<std::string> frames_;
  wire::ControlRequest asked_;
};

}  // namespace ringside::testing
