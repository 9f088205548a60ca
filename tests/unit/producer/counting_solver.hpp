// SPDX-License-Identifier: BSD-3-Clause
// A solver of one row for which the test chooses the changes and the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "producer/solver/solver.hpp"

namespace ringside::testing {

/// The solver has one row. x_k = x_{k-1} + 1; the reported change is what the test sets for each iteration (1 by
/// default).
class Counting final : public Solver {
 public:
  std::vector<double> change;
  std::uint64_t breaks_down_in = 0;  // the iteration that breaks down; 0: none

  std::uint64_t rows() const noexcept override { return 1; }
  std::uint64_t nonzeros() const noexcept override { return 1; }
  std::string_view format() const noexcept override { return "csr"; }
  std::string parameters() const override { return ""; }
  void share_among(Team&) override {}
  void start(void* payload) const noexcept override { *static_cast<double*>(payload) = 0; }
  void prepare(const void* payload, std::span<const std::uint64_t>) noexcept override {
    made_ = static_cast<std::size_t>(*static_cast<const double*>(payload));
  }
  double growth_limit() const noexcept override { return 1; }
  bool may_overwrite_previous() const noexcept override { return true; }
  Change iterate(const void* previous, void* next) noexcept override {
    if (made_ + 1 == breaks_down_in) return {.broken_down = true};
    *static_cast<double*>(next) = *static_cast<const double*>(previous) + 1;
    const double l1 = made_ < change.size() ? change[made_] : 1;
    ++made_;
    return {.l1 = l1, .linf = l1, .criterion = l1};
  }

 private:
  std::size_t made_ = 0;
};

}  // namespace ringside::testing
