// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/analysis_channel.hpp"

#include <algorithm>
#include <iterator>
#include <random>

#include "common/platform/clock.hpp"
#include "common/telemetry/record_stream.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kLostNs = 5'000'000'000;     // a request without a reply after this time is lost (dead analyzer)
constexpr std::int64_t kPauseNs = 10'000'000;       // pause before repeating; the analyzer answers 100 times per second
constexpr std::int64_t kRefusedNs = 100'000'000;    // the pause after a temporary refusal
constexpr std::int64_t kStatusNs = 20'000'000;      // the time between two requests for the analyzer's status
constexpr std::size_t kRequestBytes = 48u << 10;    // the largest request; the analyzer accepts more
constexpr std::size_t kReplyBytes = std::size_t{2} << 20;

std::uint64_t draw_client() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

}  // namespace

AnalysisChannel::AnalysisChannel(const std::string& socket)
    : control_(context_, ChannelKind::kDealer, {.max_message_bytes = kReplyBytes, .name = {}, .curve = {}}),
      client_(draw_client()) {
  control_.connect(telemetry_at(socket).control);
}

void AnalysisChannel::turn(bool wants_status) {
  receive();
  const std::int64_t now = now_ns();
  if (sent_ns_ != 0 && now - sent_ns_ < kLostNs) return;
  if (now < next_ns_) return;
  if (wants_status && now - status_ns_ >= kStatusNs) return send_status_request();
  if (!pending_.empty() && refusal_.empty()) send_results();
}

void AnalysisChannel::send_status_request() {
  wire::ControlRequest request;
  request.mutable_status();
  if (control_.send(request.SerializeAsString())) sent_ns_ = now_ns();
  status_ns_ = now_ns();
}

void AnalysisChannel::send_results() {
  wire::ControlRequest request;
  wire::RecordAnalysis& asked = *request.mutable_record_analysis();
  asked.set_client(client_);
  asked.set_request(request_);
  std::size_t bytes = 0;
  for (const wire::AnalysisResults& results : pending_) {
    bytes += results.ByteSizeLong() + 8;
    if (bytes > kRequestBytes && asked.results_size() > 0) break;
    *asked.add_results() = results;
  }
  if (control_.send(request.SerializeAsString())) sent_ns_ = now_ns();
}

void AnalysisChannel::receive() {
  while (control_.receive(frames_)) {
    wire::ControlReply reply;
    if (frames_.size() != 1 || !reply.ParseFromString(frames_.front())) continue;
    if (reply.has_status()) {
      status_ = reply.status();
      sent_ns_ = 0;
    } else if (reply.has_refused()) {
      if (reply.refused().may_ask_again()) {
        next_ns_ = now_ns() + kRefusedNs;
      } else {
        refusal_ = reply.refused().why();
      }
      sent_ns_ = 0;
    } else if (reply.has_analysis_recorded() && reply.analysis_recorded().request() == request_) {
      const std::size_t taken = std::min<std::size_t>(reply.analysis_recorded().taken(), pending_.size());
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
      ++request_;  // the analyzer would mistake a request with an answered number for a repetition
      sent_ns_ = 0;
      if (taken == 0) next_ns_ = now_ns() + kPauseNs;  // the steps of these results are committed, but not yet recorded
    }
  }
}

std::vector<wire::AnalysisResults> AnalysisChannel::take_pending() {
  receive();
  std::vector<wire::AnalysisResults> rest(std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.end()));
  pending_.clear();
  return rest;
}

}  // namespace ringside
