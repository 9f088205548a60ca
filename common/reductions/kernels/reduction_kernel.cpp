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
    block.next = block.x + kBlockRows;
    block.previous = part.previous != nullptr ? part.previous + block.first_row : nullptr;

    double* sums = block_sums + number * kSumsPerBlock;
    if (block.previous == nullptr) {
      state.of_iterate.add_block<Values>(block, sums);
      continue;
    }
    OfIterate::Running values;
    OfChange::Running changes;
    take_rows(block.x, block.previous, 0, block.rows / kRunning * kRunning, values, changes);
    state.of_iterate.add_block<Values>(values, block, sums);
    state.of_change.add_block<Changes>(changes, block, sums + OfIterate::kBlockSums);
  }
}

void run_on(double* running, bool of_change, std::uint64_t taken, const double* values, std::size_t count) noexcept {
  double* const of_its_list = of_change ? running + OfIterate::kBlockSums * kRunning : running;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = (taken + i) % kRunning;
    if (of_change) {
      OfChange::run_on(of_its_list, values[i], lane);
    } else {
      OfIterate::run_on(of_its_list, values[i], lane);
    }
  }
}

void fold_running(const double* running, double* sums) noexcept {
  for (std::size_t s = 0; s < kSums; ++s) {
    Lanes lanes[kRunning / kRegisterDoubles];
    __builtin_memcpy(lanes, running + s * kRunning, sizeof lanes);
    sums[s] = RINGSIDE_ISA::fold(lanes, [](auto a, auto b) { return a + b; });
  }
}

/// totals[column] += sum over blocks of block_sums[block][column], in order, with the rounding errors collected
/// separately (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974).
void add_blocks(const double* block_sums, std::uint64_t blocks, double* totals, double* errors) noexcept {
  // Processes a register of columns at a time, because within a column every addition waits for the previous one.
  for (std::size_t column = 0; column < kSumsPerBlock; column += kRegisterDoubles) {
    Lanes sum = load(totals + column);
    Lanes error = load(errors + column);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const Lanes term = load(block_sums + block * kSumsPerBlock + column);
      const Lanes next = sum + term;
      const Lanes from_term = (sum - next) + term;
      const Lanes from_sum = (term - next) + sum;
      error += magnitude(sum) >= magnitude(term) ? from_term : from_sum;
      sum = next;
    }
    __builtin_memcpy(totals + column, &sum, sizeof sum);
    __builtin_memcpy(errors + column, &error, sizeof error);
  }
}

void finish_sums(const double* totals, bool has_change, FieldResults& results) noexcept {
  OfIterate::finish_sums(totals, results);
  if (has_change) OfChange::finish_sums(totals + OfIterate::kBlockSums, results);
}

std::uint64_t finish(const void* state_memory, const double* block_sums, std::uint64_t rows, bool has_change,
                     const ExactReductions* exact, std::uint64_t* values) noexcept {
  const State& state = *static_cast<const State*>(state_memory);
  double totals[kSumsPerBlock] = {};
  double errors[kSumsPerBlock] = {};
  add_blocks(block_sums, (rows + kBlockRows - 1) / kBlockRows, totals, errors);
  for (std::size_t s = 0; s < kSumsPerBlock; ++s) totals[s] = settled_total(totals[s], errors[s]);
  const std::size_t words = exact != nullptr ? kIntegerFieldWords : kRealFieldWords;
  __builtin_memset(values, 0, words * sizeof *values);
  FieldResults results(values, rows, exact != nullptr);
  state.of_iterate.finish(totals, results);
  if (has_change) {
    state.of_change.finish(totals + OfIterate::kBlockSums, results);
    results.settle_change();
  }
  if (exact != nullptr) exact->finish(results, has_change);
  return results.presence();
}

}  // namespace

const ReductionKernel reduction_kernel = {.block_rows = kBlockRows,
                                          .sums_per_block = kSumsPerBlock,
                                          .sums = kSums,
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
                                          .run_on = run_on,
                                          .fold_running = fold_running,
                                          .add_blocks = add_blocks,
                                          .finish_sums = finish_sums,
                                          .finish = finish};

}  // namespace ringside::RINGSIDE_ISA
