// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/answered_requests.hpp"

namespace ringside {

std::optional<std::uint32_t> AnsweredRequests::taken_of(const wire::RecordAnalysis& request) const {
  for (const Answer& answer : last_) {
    if (answer.client == request.client() && answer.request == request.request()) return answer.taken;
  }
  return std::nullopt;
}

void AnsweredRequests::add(const wire::RecordAnalysis& request, std::uint32_t taken) {
  if (request.client() == 0) return;  // from a client of an older build, which has no number
  std::erase_if(last_, [&](const Answer& answer) { return answer.client == request.client(); });
  last_.push_back({.client = request.client(), .request = request.request(), .taken = taken});
  if (last_.size() > kMostClients) last_.pop_front();
}

}  // namespace ringside
