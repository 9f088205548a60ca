// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/kernels/reduction_kernel.hpp"

#include "common/reductions/kernels/field_results.hpp"
#include "common/reductions/kernels/reduction_state.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

using State = ReductionState;

void clear(void* state) noexcept {
  new (&static_cast<State*>(state)->of_iterate) OfIterate;
  new (&static_cast<State*>(state)->of_change) OfChange;
}

void clear_but_change(void* state) noexcept {
  new (&static_cast<State*>(state)->of_iterate) OfIterate;
}

void clear_found(void* found) noexcept {
  new (&static_cast<FoundReductions*>(found)->of_iterate) OfIterate::Found;
  new (&static_cast<FoundReductions*>(found)->of_change) OfChange::Found;
}

void clear_found_but_change(void* found) noexcept {
  new (&static_cast<FoundReductions*>(found)->of_iterate) OfIterate::Found;
}

void fold(void* found_memory, const void* state) noexcept {
  auto& found = *static_cast<FoundReductions*>(found_memory);
  found.of_iterate.merge(static_cast<const State*>(state)->of_iterate);
  found.of_change.merge(static_cast<const State*>(state)->of_change);
}

void unfold(void* state, const void* found_memory) noexcept {
  const auto& found = *static_cast<const FoundReductions*>(found_memory);
  static_cast<State*>(state)->of_iterate.merge(found.of_iterate);
  static_cast<State*>(state)->of_change.merge(found.of_change);
}

void sweep(void* state_memory, double* block_sums, const SweepPart& part) noexcept {
  State& state = *static_cast<State*>(state_memory);
  for (std::uint64_t number = part.first_block; number < part.end_block; ++number) {
    Block block;
    block.first_row = number * kBlockRows;
    const std::uint64_t left = part.rows - block.first_row;
    block.rows = left < kBlockRows ? left : kBlockRows;
    block.x = part.x + block.first_row;
    block.previous = part.previous != nullptr ? part.previous + block.first_row : nullptr;

    double* sums = block_sums + number * kSumsPerBlock;
    state.of_iterate.add_block<Values>(block, sums);
    if (block.previous != nullptr) state.of_change.add_block<Changes>(block, sums + OfIterate::kBlockSums);
  }
}

/// totals[column] = sum over blocks of block_sums[block][column], in order, with the rounding errors collected beside
/// it (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974).
void add_blocks(const double* block_sums, std::uint64_t blocks, double* totals) noexcept {
  // A register of columns at a time: within a column every addition waits for the one before.
  for (std::size_t column = 0; column < kSumsPerBlock; column += kRegisterDoubles) {
    Lanes sum{};
    Lanes error{};
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const Lanes term = load(block_sums + block * kSumsPerBlock + column);
      const Lanes next = sum + term;
      const Lanes from_term = (sum - next) + term;
      const Lanes from_sum = (term - next) + sum;
      error += magnitude(sum) >= magnitude(term) ? from_term : from_sum;
      sum = next;
    }
    // Beside an infinite sum, the error is infinity minus infinity and means nothing.
    for (std::size_t i = 0; i < kRegisterDoubles; ++i) {
      totals[column + i] = __builtin_isfinite(sum[i]) ? sum[i] + error[i] : sum[i];
    }
  }
}

std::uint64_t finish(const void* state_memory, const double* block_sums, std::uint64_t rows, bool has_change,
                     const ExactReductions* exact, std::uint64_t* values) noexcept {
  const State& state = *static_cast<const State*>(state_memory);
  double totals[kSumsPerBlock];
  add_blocks(block_sums, (rows + kBlockRows - 1) / kBlockRows, totals);
  // Always the same NaN: which of several would result depends on the order of operands, which the compiler chooses.
  for (double& total : totals) {
    if (total != total) total = __builtin_nan("");
  }
  const std::size_t words = exact != nullptr ? kIntegerFieldWords : kRealFieldWords;
  __builtin_memset(values, 0, words * sizeof *values);
  FieldResults results(values, rows, exact != nullptr);
  state.of_iterate.finish(totals, results);
  if (has_change) state.of_change.finish(totals + OfIterate::kBlockSums, results);
  if (exact != nullptr) exact->finish(results, has_change);
  return results.presence();
}

}  // namespace

const ReductionKernel reduction_kernel = {.block_rows = kBlockRows,
                                          .sums_per_block = kSumsPerBlock,
                                          .state_bytes = sizeof(State),
                                          .found_bytes = sizeof(FoundReductions),
                                          .clear = clear,
                                          .clear_but_change = clear_but_change,
                                          .sweep = sweep,
                                          .copy = copy_reduced,
                                          .clear_found = clear_found,
                                          .clear_found_but_change = clear_found_but_change,
                                          .fold = fold,
                                          .unfold = unfold,
                                          .finish = finish};

}  // namespace ringside::RINGSIDE_ISA
