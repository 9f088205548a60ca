// SPDX-License-Identifier: BSD-3-Clause
// What five passes over an iterate would cost if they were fused. `--passes 5` reads the iterate five times from
// memory, as the published work does, and keeps this meaning; so no program of Ringside uses this class.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/platform/error.hpp"
#include "common/reductions/field_reducer.hpp"
#include "common/reductions/kernels/reduction_table.hpp"
#include "common/reductions/reduction_scratch.hpp"

namespace ringside::bench {

/// What --passes does not do: every pass reduces a part of the iterate before any pass reads the next part, so that
/// only the first pass reads memory. Each pass has results of its own, as if it had swept the iterate alone.
class FusedPasses {
 public:
  static constexpr std::size_t kPasses = 5;

  explicit FusedPasses(std::size_t rows) {
    for (std::unique_ptr<Pass>& pass : passes_) pass = std::make_unique<Pass>(rows);
  }

  /// Only the first pass computes the change.
  void reduce(const double* x, const double* previous) noexcept {
    for (const std::unique_ptr<Pass>& pass : passes_) pass->begin(pass == passes_.front() ? previous : nullptr);
    const std::uint64_t blocks = passes_.front()->field.blocks();
    for (std::uint64_t block = 0; block < blocks; block += kPartBlocks) {
      for (const std::unique_ptr<Pass>& pass : passes_) {
        pass->field.sweep(0, x, block, std::min(block + kPartBlocks, blocks));
      }
    }
    for (const std::unique_ptr<Pass>& pass : passes_) pass->finish();
  }

  /// Throws Error if a pass of the last `reduce` has other bits than a sweep.
  void check(const double* x, const double* previous) const {
    Pass sweep(passes_.front()->field.entries());
    for (const std::unique_ptr<Pass>& pass : passes_) {
      sweep.begin(pass == passes_.front() ? previous : nullptr);
      sweep.field.sweep(0, x, 0, sweep.field.blocks());
      sweep.finish();
      if (sweep.values != pass->values) throw damage_error("a fused pass and a sweep have different results");
    }
  }

 private:
  // 16: x and the previous x take 256 KiB, which is at most half of a usual second-level cache.
  static constexpr std::uint64_t kPartBlocks = 16;

  struct Pass {
    explicit Pass(std::size_t rows) : field(DType::kF64, rows, scratch) {}
    void begin(const double* previous) noexcept { field.begin(previous); }
    void finish() noexcept {
      values.fill(0);
      values.back() = field.finish(values.data());
    }

    ReductionScratch scratch{1};
    FieldReducer field;
    std::array<std::uint64_t, kRealFieldWords + 1> values;  // the last word: which values are present
  };

  std::array<std::unique_ptr<Pass>, kPasses> passes_;
};

}  // namespace ringside::bench
