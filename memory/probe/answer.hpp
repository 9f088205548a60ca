// SPDX-License-Identifier: BSD-3-Clause
// The result of a probe: an answer with its confidence and evidence, or "undetermined" with the reason.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ringside::probe {

inline constexpr const char* kUndetermined = "undetermined";
inline constexpr double kLeastConfidence = 0.8;  // with less confidence, an answer is "undetermined"

struct Answer {
  std::string question;  // "size", "line", "ways", "prefetch", "write", "replacement"
  int level = 1;         // 1: nearest to the processor
  std::string answer = kUndetermined;
  std::uint64_t value = 0;  // bytes or ways; 0 for other questions
  double confidence = 0;    // 0 to 1
  std::string evidence;     // if the answer is undetermined, the reason for this

  bool determined() const { return answer != kUndetermined; }
};

/// Independent trials with one verdict each. The confidence in the most frequent verdict is (agreeing + 1) / (trials +
/// 2), which is the posterior mean of the verdict's share under a uniform prior.
class Votes {
 public:
  void add(std::uint64_t verdict) { verdicts_.push_back(verdict); }
  std::size_t trials() const { return verdicts_.size(); }
  std::uint64_t winner() const {
    std::uint64_t best = 0;
    std::size_t most = 0;
    for (const std::uint64_t verdict : verdicts_) {
      if (count(verdict) > most) best = verdict, most = count(verdict);
    }
    return best;
  }
  std::size_t agreeing() const { return count(winner()); }
  double confidence() const { return static_cast<double>(agreeing() + 1) / static_cast<double>(trials() + 2); }
  /// Whether no more trials are needed, because the confidence has reached 0.9 or `most` trials were made.
  bool decided(std::size_t most = 24) const { return trials() >= most || (trials() >= 8 && confidence() >= 0.9); }

 private:
  std::size_t count(std::uint64_t verdict) const {
    return static_cast<std::size_t>(std::count(verdicts_.begin(), verdicts_.end(), verdict));
  }
  std::vector<std::uint64_t> verdicts_;
};

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace ringside::probe
