// SPDX-License-Identifier: BSD-3-Clause
// A sum that also adds up its rounding errors (Neumaier 1974). The sum of thousands of block sums is then as exact as
// one addition, and the sum of PageRank's ranks stays 1 over any number of iterations.
#pragma once

#include <cmath>

namespace ringside {

class CompensatedSum {
 public:
  void add(double term) noexcept {
    const double total = total_ + term;
    // The addition lost the low-order part of the smaller operand.
    error_ += std::fabs(total_) >= std::fabs(term) ? (total_ - total) + term : (term - total) + total_;
    total_ = total;
  }

  /// Infinite or NaN if a term was infinite or NaN, or if the sum overflowed.
  double value() const noexcept { return std::isfinite(total_) ? total_ + error_ : total_; }

 private:
  double total_ = 0;
  double error_ = 0;
};

}  // namespace ringside
