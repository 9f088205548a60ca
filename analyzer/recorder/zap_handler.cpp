// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/zap_handler.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/program/log.hpp"

namespace ringside {
namespace {

constexpr int kMostAnswers = 32;                    // per call
constexpr std::int64_t kLogIntervalNs = 10'000'000'000;  // between two log lines about clients turned away

// The frames of a question.
enum Frame : std::size_t { kVersion, kRequestId, kDomain, kAddress, kIdentity, kMechanism, kKey, kFrames };

}  // namespace

ZapHandler::ZapHandler(ChannelContext& context, Allowed allowed, std::string list)
    : allowed_(std::move(allowed)), list_(std::move(list)), questions_(context, ChannelKind::kReply) {
  allowed_();
  questions_.bind("inproc://zeromq.zap.01");
}

void ZapHandler::answer() noexcept {
  for (int answered = 0; answered < kMostAnswers && questions_.receive(frames_); ++answered) {
    const bool allowed = frames_.size() == kFrames && frames_[kVersion] == "1.0" && frames_[kMechanism] == "CURVE" &&
                         is_allowed(frames_[kKey]);
    const std::string_view request_id = frames_.size() > kRequestId ? std::string_view(frames_[kRequestId]) : "";
    const std::array<std::string_view, 6> reply = {
        "1.0", request_id, allowed ? "200" : "400", allowed ? "OK" : "the key is not on the list", "", ""};
    questions_.send(reply);
    if (!allowed) log_turned_away();
  }
}

bool ZapHandler::is_allowed(const std::string& key) noexcept {
  try {
    const std::string text = key_text(key);
    const std::vector<std::string> allowed = allowed_();
    return !text.empty() && std::find(allowed.begin(), allowed.end(), text) != allowed.end();
  } catch (const std::exception&) {
    return false;
  }
}

void ZapHandler::log_turned_away() noexcept {
  ++turned_away_;
  if (said_ns_ != 0 && now_ns() - said_ns_ < kLogIntervalNs) return;
  log_warning("event=clients_turned_away count={} keys={}", turned_away_, list_);
  said_ns_ = now_ns();
  turned_away_ = 0;
}

}  // namespace ringside
