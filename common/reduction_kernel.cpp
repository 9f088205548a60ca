#include "common/reduction_kernel.hpp"

#include "common/reduction_list.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

struct alignas(64) State {
  OfIterate of_iterate;
  OfChange of_change;
};
constexpr std::size_t kSumsPerBlock = OfIterate::kBlockSums + OfChange::kBlockSums;

/// Fetches what comes next, a share at a time between the reductions of this block, so that memory is busy while they
/// look at what is in the cache: of the iterate alone the block after the next (the last share of the next one would be
/// wanted as soon as it is asked for), of two iterates the next one (more would not fit beside the rest). Hints only:
/// past the end of the array there is no fault.
class ReadAhead {
 public:
  explicit ReadAhead(const Block& block) noexcept {
    if (block.previous == nullptr) {
      x_ = reinterpret_cast<const char*>(block.x + 2 * kBlockRows);
      share_bytes_ = share_of(OfIterate::kCount);
    } else {
      x_ = reinterpret_cast<const char*>(block.x + kBlockRows);
      previous_ = reinterpret_cast<const char*>(block.previous + kBlockRows);
      share_bytes_ = share_of(OfIterate::kCount + OfChange::kCount);
    }
  }

  void share() noexcept {
    for (std::size_t i = 0; i < share_bytes_; i += kLineBytes) __builtin_prefetch(x_ + i);
    x_ += share_bytes_;
    if (previous_ == nullptr) return;
    for (std::size_t i = 0; i < share_bytes_; i += kLineBytes) __builtin_prefetch(previous_ + i);
    previous_ += share_bytes_;
  }

 private:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t share_of(std::size_t shares) noexcept {
    constexpr std::size_t kLines = kBlockRows * sizeof(double) / kLineBytes;
    return (kLines + shares - 1) / shares * kLineBytes;
  }

  const char* x_;
  const char* previous_ = nullptr;
  std::size_t share_bytes_;
};

std::size_t count_non_finite(const double* x, std::size_t rows) noexcept {
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows; ++row) count += !__builtin_isfinite(x[row]);
  return count;
}

/// min, max and non_finite of the block.
void look_at(Block& block) noexcept {
  // Several registers of each, so that no comparison waits for the one before.
  constexpr std::size_t kRegisters = 4;
  constexpr std::size_t kRowsAtOnce = kRegisters * kLanes;
  Lanes low[kRegisters];
  Lanes high[kRegisters];
  LaneBits spoiled{};
  for (std::size_t r = 0; r < kRegisters; ++r) {
    low[r] = __builtin_inf() - Lanes{};
    high[r] = -low[r];
  }
  const std::size_t whole = block.rows / kRowsAtOnce * kRowsAtOnce;
  for (std::size_t row = 0; row < whole; row += kRowsAtOnce) {
    for (std::size_t r = 0; r < kRegisters; ++r) {
      const Lanes x = load(block.x + row + r * kLanes);
      low[r] = lesser(x, low[r]);
      high[r] = greater(x, high[r]);
      spoiled |= reinterpret_cast<LaneBits>(x - x);  // 0, or NaN if x is NaN or infinite
    }
  }
  block.min = fold(low, [](auto a, auto b) { return lesser(a, b); });
  block.max = fold(high, [](auto a, auto b) { return greater(a, b); });
  std::uint64_t any_spoiled = 0;
  for (std::size_t i = 0; i < kLanes; ++i) any_spoiled |= spoiled[i];
  for (std::size_t row = whole; row < block.rows; ++row) {
    block.min = lesser(block.x[row], block.min);
    block.max = greater(block.x[row], block.max);
  }
  block.non_finite =
      any_spoiled == 0 ? count_non_finite(block.x + whole, block.rows - whole) : count_non_finite(block.x, block.rows);
}

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
    look_at(block);

    double* sums = block_sums + number * kSumsPerBlock;
    ReadAhead ahead(block);
    const auto read_ahead = [&] { ahead.share(); };
    state.of_iterate.add_block(block, sums, read_ahead);
    if (block.previous != nullptr) state.of_change.add_block(block, sums + OfIterate::kBlockSums, read_ahead);
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
