// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/whole/step_parts.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "common/reductions/kernels/field_kernel.hpp"
#include "common/reductions/kernels/reduction_table.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside {
namespace {

// The layout of a field in memory: a word that states whether there is a change, the values, room for four parts of
// blocks, then the sums of the blocks. For boxes, the exact sums follow the values.
constexpr std::size_t kRoom = kReductionBlockRows;
constexpr std::size_t sums_word(std::size_t value_words) noexcept {
  return 1 + value_words + 4 * kRoom;
}

constexpr std::size_t kExactWords = sizeof(ExactSums) / sizeof(std::uint64_t);
static_assert(std::is_trivially_copyable_v<ExactSums>);

static_assert(sizeof(double) == sizeof(std::uint64_t));
double* doubles_at(std::uint64_t* words) noexcept {
  return reinterpret_cast<double*>(words);
}
const double* doubles_at(const std::uint64_t* words) noexcept {
  return reinterpret_cast<const double*>(words);
}

void widen(DType dtype, const std::byte* from, const std::byte* previous, std::size_t entries, double* x,
           double* change) noexcept {
  const FieldKernel& kernel = field_kernel_of(dtype);
  if (kernel.widen != nullptr) {
    kernel.widen(from, entries, x);
  } else {
    std::memcpy(x, from, entries * sizeof(double));
  }
  if (previous != nullptr) kernel.widen_change(from, previous, entries, change);
}

}  // namespace

StepParts::StepParts(const Schema& schema, std::span<const std::optional<PartPlace>> places, Team& team) : team_(team) {
  const std::size_t sums = plain::reduction_kernel.sums_per_block;
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const Variable& variable = schema.variables()[v];
    if (!places[v] || variable.role != Role::kField) continue;
    Field& field = fields_.emplace_back();
    field.variable = v;
    field.dtype = variable.dtype;
    field.offset = schema.place(v).offset;
    field.entries = schema.place(v).entries;
    field.place = *places[v];
    field.value_words = class_of(field.dtype) == DTypeClass::kInteger ? kIntegerFieldWords : kRealFieldWords;
    field.first_word = words_;
    if (field.place.in_boxes) {
      words_ += 1 + field.value_words + kExactWords;
      if (exact_.empty()) exact_ = std::vector<ExactThread>(static_cast<std::size_t>(team.threads()));
      continue;
    }
    const std::uint64_t begin = field.place.first % kReductionBlockRows;
    field.head = begin == 0 ? 0 : std::min(kReductionBlockRows - begin, field.entries);
    field.blocks = (field.entries - field.head) / kReductionBlockRows;
    field.tail = (field.entries - field.head) % kReductionBlockRows;
    words_ += sums_word(field.value_words) + field.blocks * sums;
    if (field.head == 0 || field.blocks == 0) continue;
    if (!scratch_) scratch_ = std::make_unique<ReductionScratch>(static_cast<std::size_t>(team.threads()));
    field.shifted = std::make_unique<FieldReducer>(field.dtype, field.blocks * kReductionBlockRows, *scratch_);
  }
}

void StepParts::store(const StepReducer& reducer, std::span<const std::uint64_t> results, const void* payload,
                      const void* previous, std::span<std::uint64_t> memory) noexcept {
  const std::size_t sums = plain::reduction_kernel.sums_per_block;
  for (Field& field : fields_) {
    const std::uint64_t entry_bytes = bytes_of(field.dtype);
    const auto* const x = static_cast<const std::byte*>(payload) + field.offset;
    const std::byte* const before =
        previous != nullptr ? static_cast<const std::byte*>(previous) + field.offset : nullptr;
    std::uint64_t* word = &memory[field.first_word];
    *word++ = before != nullptr;
    const auto values = reducer.values(field.variable, results);
    std::ranges::copy(values, word);
    word += field.value_words;
    if (field.place.in_boxes) {
      const ExactSums sums_of_boxes = exact_sums(field, x, before);
      std::memcpy(word, &sums_of_boxes, sizeof sums_of_boxes);
      continue;
    }
    double* const ends = doubles_at(word);
    const std::uint64_t behind = (field.head + field.blocks * kReductionBlockRows) * entry_bytes;
    widen(field.dtype, x, before, field.head, ends, ends + kRoom);
    widen(field.dtype, x + behind, before != nullptr ? before + behind : nullptr, field.tail, ends + 2 * kRoom,
          ends + 3 * kRoom);
    if (field.blocks == 0) continue;
    if (field.shifted) {
      const std::uint64_t skipped = field.head * entry_bytes;
      sweep_shifted(field, x + skipped, before != nullptr ? before + skipped : nullptr);
    }
    const std::span<const double> blocks =
        field.shifted ? field.shifted->block_sums() : reducer.field(field.variable).block_sums();
    std::ranges::copy(blocks.first(field.blocks * sums), ends + 4 * kRoom);
  }
}

void StepParts::sweep_shifted(Field& field, const std::byte* x, const std::byte* previous) noexcept {
  FieldReducer& reducer = *field.shifted;
  reducer.begin(previous);
  const std::uint64_t pieces = team_.pieces(reducer.blocks(), kReductionBlocksInPiece);
  team_.share(pieces, [&](std::uint64_t piece, int thread) noexcept {
    reducer.sweep(static_cast<std::size_t>(thread), x, piece_begin(reducer.blocks(), piece, pieces),
                  piece_begin(reducer.blocks(), piece + 1, pieces));
  });
}

ExactSums StepParts::exact_sums(const Field& field, const std::byte* x, const std::byte* previous) noexcept {
  for (ExactThread& thread : exact_) thread.sums = {};
  const bool is_integer = class_of(field.dtype) == DTypeClass::kInteger;
  const std::uint64_t entry_bytes = bytes_of(field.dtype);
  const std::uint64_t blocks = (field.entries + kReductionBlockRows - 1) / kReductionBlockRows;
  const std::uint64_t pieces = team_.pieces(blocks, kReductionBlocksInPiece);
  team_.share(pieces, [&](std::uint64_t piece, int number) noexcept {
    ExactThread& thread = exact_[static_cast<std::size_t>(number)];
    const std::uint64_t end = std::min(piece_begin(blocks, piece + 1, pieces) * kReductionBlockRows, field.entries);
    for (std::uint64_t at = piece_begin(blocks, piece, pieces) * kReductionBlockRows; at < end; at += kReductionBlockRows) {
      const std::size_t entries = std::min<std::uint64_t>(kReductionBlockRows, end - at);
      const std::byte* const before = previous != nullptr ? previous + at * entry_bytes : nullptr;
      widen(field.dtype, x + at * entry_bytes, before, entries, thread.x, thread.change);
      thread.adder.add(thread.x, before != nullptr ? thread.change : nullptr, entries, is_integer, thread.sums);
    }
  });
  ExactSums sums;
  for (const ExactThread& thread : exact_) sums.add(thread.sums);
  return sums;
}

FieldPart StepParts::part(std::size_t number, std::span<const std::uint64_t> memory) const noexcept {
  const Field& field = fields_[number];
  const std::uint64_t* const words = &memory[field.first_word];
  FieldPart part;
  part.first = field.place.first;
  part.entries = field.entries;
  part.has_change = words[0] != 0;
  part.is_integer = class_of(field.dtype) == DTypeClass::kInteger;
  part.values = {words + 1, field.value_words};
  const std::uint64_t* const rest = words + 1 + field.value_words;
  if (field.place.in_boxes) {
    part.exact_sums = reinterpret_cast<const ExactSums*>(rest);
    return part;
  }
  const double* const ends = doubles_at(rest);
  part.head = {ends, field.head};
  part.tail = {ends + 2 * kRoom, field.tail};
  if (part.has_change) {
    part.head_change = {ends + kRoom, field.head};
    part.tail_change = {ends + 3 * kRoom, field.tail};
  }
  part.block_sums = {ends + 4 * kRoom, field.blocks * plain::reduction_kernel.sums_per_block};
  return part;
}

}  // namespace ringside
