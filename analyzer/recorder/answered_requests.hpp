// SPDX-License-Identifier: BSD-3-Clause
// What was answered to the last request of each client that sends results of analyses: a request that comes again,
// because its reply was late or lost, gets the same answer, and its results are not recorded twice.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "proto/ringside.pb.h"

namespace ringside {

class AnsweredRequests {
 public:
  /// Clients that are remembered, the newest ones: one for each `ringside analyze` of a run.
  static constexpr std::size_t kMostClients = 64;

  /// How many results of that request were taken, if it was answered already.
  std::optional<std::uint32_t> taken_of(const wire::RecordAnalysis& request) const;
  void add(const wire::RecordAnalysis& request, std::uint32_t taken);

 private:
  struct Answer {
    std::uint64_t client;
    std::uint64_t request;
    std::uint32_t taken;
  };
  std::deque<Answer> last_;  // of each client; the oldest one first
};

}  // namespace ringside
