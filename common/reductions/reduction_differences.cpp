// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_differences.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

namespace ringside {
namespace {

class Comparison {
 public:
  void compare(std::string_view field, double recorded, double recomputed) {
    const auto before = std::bit_cast<std::uint64_t>(recorded);
    const auto now = std::bit_cast<std::uint64_t>(recomputed);
    if (before == now) return;
    FieldDifference found{std::string(field), fmt::format("{}", recorded), fmt::format("{}", recomputed)};
    if (found.recorded == found.recomputed) {
      found.recorded += fmt::format(" ({:#018x})", before);
      found.recomputed += fmt::format(" ({:#018x})", now);
    }
    found_.push_back(std::move(found));
  }

  void compare(std::string_view field, std::uint64_t recorded, std::uint64_t recomputed) {
    if (recorded == recomputed) return;
    found_.push_back({std::string(field), std::to_string(recorded), std::to_string(recomputed)});
  }

  std::vector<FieldDifference> take() { return std::move(found_); }

 private:
  std::vector<FieldDifference> found_;
};

}  // namespace

std::vector<FieldDifference> differences(const Reductions& recorded, const Reductions& recomputed) {
  static_assert(sizeof(Reductions) == 2416, "each field is compared below, unless it may differ");
  Comparison comparison;
  const auto compare = [&](std::string_view field, auto Reductions::*value) {
    comparison.compare(field, recorded.*value, recomputed.*value);
  };
  compare("rows", &Reductions::rows);
  compare("sum", &Reductions::sum);
  compare("mean", &Reductions::mean);
  compare("min", &Reductions::min);
  compare("max", &Reductions::max);
  compare("l1", &Reductions::l1);
  compare("l2", &Reductions::l2);
  compare("linf", &Reductions::linf);
  compare("has_change", &Reductions::has_change);
  compare("change_l1", &Reductions::change_l1);
  compare("change_l2", &Reductions::change_l2);
  compare("change_linf", &Reductions::change_linf);
  compare("non_finite", &Reductions::non_finite);
  compare("top_count", &Reductions::top_count);
  for (std::size_t i = 0; i < kTopEntries; ++i) {
    comparison.compare(fmt::format("top[{}].row", i), recorded.top[i].row, recomputed.top[i].row);
    comparison.compare(fmt::format("top[{}].value", i), recorded.top[i].value, recomputed.top[i].value);
  }
  for (std::size_t bin = 0; bin < kHistogramBins; ++bin) {
    comparison.compare(fmt::format("histogram[{}]", bin), recorded.histogram[bin], recomputed.histogram[bin]);
  }
  return comparison.take();
}

}  // namespace ringside
