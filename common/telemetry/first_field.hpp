// SPDX-License-Identifier: BSD-3-Clause
// The reductions that tables and records show of a step: those of its first field, as doubles.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "common/records/step_figures.hpp"
#include "common/results/catalogue.hpp"

namespace ringside {

class FirstField {
 public:
  /// catalogue: of a run with these variables. Without a field, all figures are 0.
  FirstField(const Schema& schema, const Catalogue& catalogue);

  /// words: of a step, Catalogue::words of them. What is absent is 0.
  ReductionScalars scalars(std::span<const std::uint64_t> words) const noexcept;

 private:
  Catalogue catalogue_;  // owns what `results_` points to
  std::array<const Result*, scalar_count()> results_{};
};

}  // namespace ringside
