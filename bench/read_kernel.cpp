#include "bench/read_kernel.hpp"

#include "common/reduction_block.hpp"

namespace ringside::RINGSIDE_ISA {

std::uint64_t read_all(const double* x, std::size_t rows) noexcept {
  // A cache line of words in four registers or more, each on its own, so that nothing but the loads takes time. Memory
  // is asked for as early as the reductions ask for it.
  constexpr std::size_t kLineRows = 8;
  constexpr std::size_t kRowsAtOnce = 4 * kLineRows;
  LaneBits running[kRowsAtOnce / kLanes] = {};
  const std::size_t whole = rows / kRowsAtOnce * kRowsAtOnce;
  for (std::size_t row = 0; row < whole; row += kRowsAtOnce) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRowsAtOnce; i += kLineRows) __builtin_prefetch(x + row + i + kRowsAhead);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRowsAtOnce; i += kLanes) {
      running[i / kLanes] ^= reinterpret_cast<LaneBits>(load(x + row + i));
    }
  }
  std::uint64_t words = 0;
  for (const LaneBits& lanes : running) {
    for (std::size_t i = 0; i < kLanes; ++i) words ^= lanes[i];
  }
  for (std::size_t row = whole; row < rows; ++row) {
    std::uint64_t word;
    __builtin_memcpy(&word, x + row, sizeof word);
    words ^= word;
  }
  return words;
}

}  // namespace ringside::RINGSIDE_ISA
