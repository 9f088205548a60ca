// SPDX-License-Identifier: BSD-3-Clause
// Stores the answer to the last request of each client that sends results of analyses. If a reply was late or lost and
// the client repeats its request, the request gets the same answer, and its results are not recorded twice.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "proto/ringside.pb.h"

namespace ringside {

class AnsweredRequests {
 public:
  /// The number of clients whose answers are stored; these are the newest clients. Each `ringside analyze` of a run is
  /// one client.
  static constexpr std::size_t kMostClients = 64;

  /// The number of results that were taken from `request`; empty if this request was not answered before.
  std::optional<std::uint32_t> taken_of(const wire::RecordAnalysis& request) const;
  void add(const wire::RecordAnalysis& request, std::uint32_t taken);

 private:
  struct Answer {
    std::uint64_t client;
    std::uint64_t request;
    std::uint32_t taken;
  };
  std::deque<Answer> last_;  // the last answer to each client; the oldest one is first
};

}  // namespace ringside
