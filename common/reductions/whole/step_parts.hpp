// SPDX-License-Identifier: BSD-3-Clause
// What a node has to tell of its parts of all fields of a step, after the step was reduced: the sums of the blocks of the
// whole field, not of the node's own. If the node's part begins at a block of the whole, these are the sums that the
// reducer made; if not, the part is swept once more. A part that consists of boxes is swept for exact sums.
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

/// Which entries of a whole field a node keeps: those from this one on, one after the other in the order of the whole. If the
/// field is spread in boxes: entries anywhere, and `first` is how many the nodes before this one keep.
struct PartPlace {
  std::uint64_t first = 0;
  bool in_boxes = false;
};

/// Allocates at construction only. One thread uses it, apart from `part`.
class StepParts {
 public:
  /// schema: the node's. places: by variable; nothing: no results of the whole are made of it. team: outlives this object.
  StepParts(const Schema& schema, std::span<const std::optional<PartPlace>> places, Team& team);

  /// Words that a step's parts take.
  std::size_t words() const noexcept { return words_; }
  std::size_t fields() const noexcept { return fields_.size(); }
  std::size_t variable_of(std::size_t field) const noexcept { return fields_[field].variable; }

  /// Writes the parts of a step to `memory`, which has words() words. reducer, results: has reduced the payload, to these
  /// words. previous: as it was then.
  void store(const StepReducer& reducer, std::span<const std::uint64_t> results, const void* payload,
             const void* previous, std::span<std::uint64_t> memory) noexcept;

  /// Reads what `store` wrote. Any thread. The result refers to `memory`.
  FieldPart part(std::size_t field, std::span<const std::uint64_t> memory) const noexcept;

 private:
  struct Field {
    std::size_t variable;
    DType dtype;
    std::uint64_t offset;  // in the payload
    std::uint64_t entries;
    PartPlace place;
    std::uint64_t head = 0;    // entries before the first whole block; these three are 0 of boxes
    std::uint64_t blocks = 0;  // whole ones
    std::uint64_t tail = 0;
    std::size_t value_words;
    std::size_t first_word;                  // of what `store` writes
    std::unique_ptr<FieldReducer> shifted;  // of the whole blocks, if they are not the node's own
  };

  /// What a thread needs to add entries to exact sums. 64: a cache line.
  struct alignas(64) ExactThread {
    ExactAdder adder;
    ExactSums sums;
    double x[kReductionBlockRows];
    double change[kReductionBlockRows];
  };

  void sweep_shifted(Field& field, const std::byte* x, const std::byte* previous) noexcept;
  ExactSums exact_sums(const Field& field, const std::byte* x, const std::byte* previous) noexcept;

  Team& team_;
  std::unique_ptr<ReductionScratch> scratch_;  // of the shifted reducers
  std::vector<ExactThread> exact_;             // by thread; empty: no field is spread in boxes
  std::vector<Field> fields_;
  std::size_t words_ = 0;
};

}  // namespace ringside
