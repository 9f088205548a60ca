// SPDX-License-Identifier: BSD-3-Clause
// A vector of a published step as the rows at the border of a part read it, with its ghosts behind it. A step's memory
// has no room for ghosts, so what these rows read is copied; the other rows read the step itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "producer/kernels/product_parts.hpp"
#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

class GhostedVector {
 public:
  /// part: with numbered ghosts.
  GhostedVector(const CsrMatrix& part, const BlockSets& sets, std::span<const std::uint64_t> work_before, Team& team)
      : rows_(part.rows),
        vector_(sets.at_border.empty() ? 0 : part.columns),
        copied_(BlockParts::of_some(sets.read, work_before, team)) {}

  /// Own rows and ghosts.
  double* data() noexcept { return vector_.data(); }

  /// Copies what rows at the border read of `own`.
  const double* copy(const double* own) noexcept {
    copied_.for_each([&](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t end = std::min(last * kBlockRows, rows_);
      std::copy(own + first * kBlockRows, own + end, vector_.data() + first * kBlockRows);
    });
    return vector_.data();
  }

 private:
  std::uint64_t rows_;
  Array<double> vector_;
  BlockParts copied_;
};

}  // namespace ringside
