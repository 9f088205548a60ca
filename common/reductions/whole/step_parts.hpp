// SPDX-License-Identifier: BSD-3-Clause
// Computes the values that a node contributes for its parts of all fields, after a step was reduced. These values are
// sums over blocks of the whole field, not over the node's own blocks. If the node's part begins at a block of the
// whole field, the reducer has already computed these sums; otherwise the part is swept once more. A part that consists
// of boxes is swept for exact sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/reductions/field_reducer.hpp"
#include "common/reductions/reduction_scratch.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/reductions/whole/exact_sums.hpp"
#include "common/reductions/whole/whole_field.hpp"
#include "common/schema/schema.hpp"
#include "common/threads/team.hpp"

namespace ringside {

/// The entries of a whole field that a node keeps: consecutive entries of the whole field, beginning with `first`. If
/// the field is divided into boxes, the entries may be anywhere, and `first` is the number of entries that the previous
/// nodes keep.
struct PartPlace {
  std::uint64_t first = 0;
  bool in_boxes = false;
};

/// Allocates at construction only. Only one thread may use it, except for `part`.
class StepParts {
 public:
  /// schema: the schema of the node. places: one for each variable; nothing: the variable has no results of the whole
  /// run. `team` must outlive this object.
  StepParts(const Schema& schema, std::span<const std::optional<PartPlace>> places, Team& team);

  /// The number of words for the parts of one step.
  std::size_t words() const noexcept { return words_; }
  std::size_t fields() const noexcept { return fields_.size(); }
  std::size_t variable_of(std::size_t field) const noexcept { return fields_[field].variable; }

  /// Writes the parts of a step to `memory`, which has words() words. reducer: must have just reduced the payload, with
  /// the result `results`. previous: the same as in that reduction.
  void store(const StepReducer& reducer, std::span<const std::uint64_t> results, const void* payload,
             const void* previous, std::span<std::uint64_t> memory) noexcept;

  /// Reads a part that `store` wrote; any thread may call it. The result refers to `memory`.
  FieldPart part(std::size_t field, std::span<const std::uint64_t> memory) const noexcept;

 private:
  struct Field {
    std::size_t variable;
    DType dtype;
    std::uint64_t offset;  // the place of the variable in the payload
    std::uint64_t entries;
    PartPlace place;
    std::uint64_t head = 0;    // entries before the first whole block; these three numbers are 0 for boxes
    std::uint64_t blocks = 0;  // number of whole blocks
    std::uint64_t tail = 0;
    std::size_t value_words;
    std::size_t first_word;                  // its place in the memory of `store`
    std::unique_ptr<FieldReducer> shifted;  // reduces the whole blocks, if they differ from the node's own
  };

  /// The memory with which a thread adds entries to exact sums, aligned to a cache line (64 bytes).
  struct alignas(64) ExactThread {
    ExactAdder adder;
    ExactSums sums;
    double x[kReductionBlockRows];
    double change[kReductionBlockRows];
  };

  void sweep_shifted(Field& field, const std::byte* x, const std::byte* previous) noexcept;
  ExactSums exact_sums(const Field& field, const std::byte* x, const std::byte* previous) noexcept;

  Team& team_;
  std::unique_ptr<ReductionScratch> scratch_;  // for the shifted reducers
  std::vector<ExactThread> exact_;             // one for each thread; empty if no field is divided into boxes
  std::vector<Field> fields_;
  std::size_t words_ = 0;
};

}  // namespace ringside
