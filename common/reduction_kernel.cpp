#include "common/reduction_kernel.hpp"

#include "common/reduction_list.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

struct alignas(64) State {
  OfIterate of_iterate;
  OfChange of_change;
};
constexpr std::size_t kSumsPerBlock = OfIterate::kBlockSums + OfChange::kBlockSums;

void clear(void* state) noexcept {
  new (&static_cast<State*>(state)->of_iterate) OfIterate;
  new (&static_cast<State*>(state)->of_change) OfChange;
}

void sweep(void* state_memory, double* block_sums, const SweepPart& part) noexcept {
  State& state = *static_cast<State*>(state_memory);
  new (&state.of_iterate) OfIterate;
  for (std::uint64_t number = part.first_block; number < part.end_block; ++number) {
    Block block;
    block.first_row = number * kBlockRows;
    const std::uint64_t left = part.rows - block.first_row;
    block.rows = left < kBlockRows ? left : kBlockRows;
    block.x = part.x + block.first_row;
    block.previous = part.previous != nullptr ? part.previous + block.first_row : nullptr;

    double* sums = block_sums + number * kSumsPerBlock;
    state.of_iterate.add_block(block, sums);
    if (block.previous != nullptr) state.of_change.add_block(block, sums + OfIterate::kBlockSums);
  }
}

/// sum over blocks of block_sums[block][column], in order, with the rounding errors collected beside it (Neumaier,
/// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974).
double total_of(const double* block_sums, std::uint64_t blocks, std::size_t column) noexcept {
  double sum = 0;
  double error = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const double term = block_sums[block * kSumsPerBlock + column];
    const double next = sum + term;
    error += __builtin_fabs(sum) >= __builtin_fabs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
  // Beside an infinite sum the error is infinity less infinity: no news.
  return __builtin_isfinite(sum) ? sum + error : sum;
}

void finish(void* states, std::size_t threads, const double* block_sums, std::uint64_t rows, bool has_change,
            Reductions& result) noexcept {
  State* state = static_cast<State*>(states);
  for (std::size_t other = 1; other < threads; ++other) {
    state->of_iterate.merge(state[other].of_iterate);
    state->of_change.merge(state[other].of_change);
  }
  result = Reductions{};
  result.rows = rows;
  double totals[kSumsPerBlock] = {};
  const std::size_t columns = has_change ? kSumsPerBlock : OfIterate::kBlockSums;
  for (std::size_t column = 0; column < columns; ++column) {
    totals[column] = total_of(block_sums, (rows + kBlockRows - 1) / kBlockRows, column);
  }
  state->of_iterate.finish(totals, result);
  if (has_change) state->of_change.finish(totals + OfIterate::kBlockSums, result);
}

}  // namespace

const ReductionKernel reduction_kernel = {kBlockRows, kSumsPerBlock, sizeof(State), clear, sweep, finish};

}  // namespace ringside::RINGSIDE_ISA
