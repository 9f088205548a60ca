// SPDX-License-Identifier: BSD-3-Clause
// Sends results to the run's analyzer over the analyzer's control socket. At most one request is unanswered at a time,
// so that neither side is flooded. No function here waits.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/messages/channel.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

class AnalysisChannel {
 public:
  /// The most results that may wait to be sent. When this many results wait (`is_full`), the callers read no more
  /// results.
  static constexpr std::size_t kMostPending = 8192;

  /// socket: the path of the analyzer's socket. The analyzer may begin to listen there later. Throws Error (exit code
  /// 3).
  explicit AnalysisChannel(const std::string& socket);

  /// Adds results to be recorded, in the order of their steps.
  void add(const wire::AnalysisResults& results) { pending_.push_back(results); }
  bool is_full() const noexcept { return pending_.size() >= kMostPending; }
  bool is_empty() const noexcept { return pending_.empty(); }

  /// Reads a reply, and sends the next request if one is due. wants_status: also requests the status, between two
  /// requests that send results.
  void turn(bool wants_status);
  /// The newest status that arrived; empty until the first one.
  const std::optional<wire::Status>& status() const noexcept { return status_; }
  /// The reason why the analyzer takes no more results of this run; empty: the analyzer still takes results.
  const std::string& refusal() const noexcept { return refusal_; }

  /// The results that were not recorded.
  std::vector<wire::AnalysisResults> take_pending();

 private:
  void receive();
  void send_results();
  void send_status_request();

  ChannelContext context_;
  Channel control_;
  std::deque<wire::AnalysisResults> pending_;
  std::optional<wire::Status> status_;
  std::string refusal_;
  const std::uint64_t client_;
  std::uint64_t request_ = 1;  // number of the present request, which is repeated until it is answered
  std::int64_t sent_ns_ = 0;   // when the request was sent; 0: no reply is expected
  std::int64_t next_ns_ = 0;   // no request is sent before this time
  std::int64_t status_ns_ = 0;  // time of the last status request
  std::vector<std::string> frames_;
};

}  // namespace ringside
