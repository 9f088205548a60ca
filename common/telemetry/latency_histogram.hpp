// SPDX-License-Identifier: BSD-3-Clause
// Percentiles of a time that is measured once per step; the samples are not stored. As in HdrHistogram, each power of
// two has 64 linear bins, so that a percentile is at most 1.6 % above the measured value. The maximum is exact.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ringside {

class LatencyHistogram {
 public:
  void add(std::int64_t ns) noexcept {
    const std::uint64_t value = ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
    ++counts_[bin_of(value)];
    ++total_;
    if (value > max_) max_ = value;
  }

  /// The smallest bin edge that at least `share` (0..1) of the samples do not exceed; 0 without samples.
  std::uint64_t percentile(double share) const noexcept {
    if (total_ == 0) return 0;
    const double wanted = share * static_cast<double>(total_);
    std::uint64_t seen = 0;
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
      seen += counts_[bin];
      if (seen > 0 && static_cast<double>(seen) >= wanted) return upper_edge(bin) < max_ ? upper_edge(bin) : max_;
    }
    return max_;
  }

  std::uint64_t max() const noexcept { return max_; }

 private:
  static constexpr unsigned kPartsLog2 = 6;
  static constexpr std::uint64_t kParts = 1u << kPartsLog2;

  // Each value below 64 has a bin of its own; each higher octave [2^e, 2^(e+1)) has 64 bins.
  static std::size_t bin_of(std::uint64_t value) noexcept {
    if (value < kParts) return value;
    const unsigned octave = static_cast<unsigned>(std::bit_width(value)) - 1 - kPartsLog2;
    return (octave + 1) * kParts + ((value >> octave) - kParts);
  }
  static std::uint64_t upper_edge(std::size_t bin) noexcept {
    if (bin < kParts) return bin;
    const std::size_t octave = bin / kParts - 1;
    return ((kParts + bin % kParts + 1) << octave) - 1;
  }

  std::array<std::uint64_t, (64 - kPartsLog2 + 1) * kParts> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace ringside
