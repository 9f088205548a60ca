// A block of rows at a time, in two halves: the product of the block's rows into 8 kB that stay in the first-level
// cache, then one sweep over these that finishes the iterate. The arithmetic is written in registers of the instruction
// set's own width; eight logical lanes are one, two or four of them.
#include "producer/pagerank_kernel.hpp"

#include <immintrin.h>

#include "producer/block_rows.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 8;
#elif defined(__AVX__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
constexpr int kLanes = 8;
constexpr int kParts = kLanes / kWidth;

using Register = double __attribute__((vector_size(kWidth * 8)));
using Bits = long long __attribute__((vector_size(kWidth * 8)));

inline Register load(const double* from) noexcept {
  Register value;
  __builtin_memcpy(&value, from, sizeof value);  // one load, whatever the alignment
  return value;
}

template <bool kStream>
inline void store(double* to, Register value) noexcept {
  if constexpr (!kStream) {
    __builtin_memcpy(to, &value, sizeof value);
  } else {
#if defined(__AVX512F__)
    _mm512_stream_pd(to, value);
#elif defined(__AVX__)
    _mm256_stream_pd(to, value);
#else
    _mm_stream_pd(to, value);
#endif
  }
}

inline Register absolute(Register value) noexcept {
  constexpr long long kAllButSign = 0x7fff'ffff'ffff'ffff;
  return reinterpret_cast<Register>(reinterpret_cast<Bits>(value) & kAllButSign);
}

// Asks for the line that holds from[ahead]. It may lie past the array: a prefetch never faults.
template <class T>
inline void prefetch(const T* from, std::uint64_t ahead) noexcept {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + ahead * sizeof(T)));
}

// ---- First half: sum[r] = sum over the entries (r, c), in column order, of value * contribution[c] ----
//
// In a run, rows of m entries: per row m loads and m additions, 1/8 of an instruction each with AVX-512; from memory
// 8 B (contribution, each line read once for all the rows that look at it), nothing of the matrix. Elsewhere: per row
// 8 B (row_begin) + 2 B (single), per nonzero 4 B (column), 8 B (value, if there are any) and one gathered 8 B load.

// 4 kB: far enough for the line to arrive, near enough for the second-level cache to keep it (measured: 1, 2, 8 kB).
constexpr std::uint64_t kPrefetchAhead = 512;

// Rows offset .. offset + 8 * kVectors - 1 of a run, `column` being those of its first row. Each row's sum stays in its
// lane for all the entries.
template <int kVectors>
inline void sum_tile(const double* contribution, const std::uint32_t* column, std::uint32_t entries,
                     std::uint64_t offset, double* sum) noexcept {
  constexpr int kRegisters = kVectors * kParts;
  Register total[std::size_t{kRegisters}] = {};
  for (std::uint32_t j = 0; j < entries; ++j) {
    const double* from = contribution + column[j] + offset;
    for (int r = 0; r < kRegisters; ++r) total[r] += load(from + r * kWidth);
  }
  for (int r = 0; r < kRegisters; ++r) store<false>(sum + offset + r * kWidth, total[r]);
}

// previous: of the run's first row; it is fetched here because the second half has nothing to do while it waits.
template <int kVectors>
inline void sum_tiles(const double* contribution, const std::uint32_t* column, RowRun run, const double* previous,
                      double* sum) noexcept {
  constexpr std::uint64_t kTileRows = kLanes * kVectors;
  for (std::uint64_t row = 0; row + kTileRows <= run.rows; row += kTileRows) {
    for (std::uint64_t v = 0; v < kVectors; ++v) {
      prefetch(previous, row + v * kLanes);
      if (run.entries > 0) prefetch(contribution + column[run.entries - 1], row + v * kLanes + kPrefetchAhead);
    }
    sum_tile<kVectors>(contribution, column, run.entries, row, sum);
  }
  // The rows left over are done together with some before them: the same additions give the same sums.
  if (run.rows % kTileRows != 0) {
    sum_tile<kVectors>(contribution, column, run.entries, run.rows - kTileRows, sum);
  }
}

inline void sum_run(const PagerankPass& pass, const std::uint32_t* column, RowRun run, const double* previous,
                    double* sum) noexcept {
  constexpr int kVectors = 4;  // four chains of additions hide their latency, and fit sixteen SSE2 registers
  if (run.rows >= kVectors * kLanes) {
    sum_tiles<kVectors>(pass.contribution, column, run, previous, sum);
  } else if (run.rows >= kLanes) {
    sum_tiles<1>(pass.contribution, column, run, previous, sum);
  } else {
    for (std::uint32_t row = 0; row < run.rows; ++row) {
      double total = 0;
      for (std::uint32_t j = 0; j < run.entries; ++j) total += pass.contribution[column[j] + row];
      sum[row] = total;
    }
  }
}

// Entries [from, to) of the row whose entries begin at `begin`, added to `total`.
template <bool kValues>
inline double add_entries(const PagerankPass& pass, std::uint64_t begin, std::uint64_t from, std::uint64_t to,
                          double total) noexcept {
  for (std::uint64_t e = begin + from; e < begin + to; ++e) {
    const double contribution = pass.contribution[pass.column[e]];
    total += kValues ? pass.value[e] * contribution : contribution;
  }
  return total;
}

inline std::uint64_t rows_of_block(const PagerankPass& pass, std::uint64_t block) noexcept {
  const std::uint64_t rows_left = pass.rows - block * kBlockRows;
  return rows_left < kBlockRows ? rows_left : kBlockRows;
}

// Four rows at a time: four chains of additions run side by side, and, as rows come by ascending number of entries,
// most fours end together and the processor predicts where. The price is that the block's columns are not read in their
// order; so those of the next block are asked for on the way, some lines with each four (measured: 1.2 to 1.4 times as
// fast).
template <bool kValues>
inline void sum_single_rows(const PagerankPass& pass, std::uint64_t block, const std::uint16_t* single,
                            std::uint64_t count, double* sum) noexcept {
  const std::uint64_t first_row = block * kBlockRows;
  constexpr std::uint64_t kColumnsInLine = 16;
  const std::uint32_t* next_columns = nullptr;
  std::uint64_t lines_with_each_four = 0;
  if (first_row + kBlockRows < pass.rows && count >= 4) {
    const std::uint64_t* next_block = pass.row_begin + first_row + kBlockRows;
    next_columns = pass.column + next_block[0];
    const std::uint64_t columns = next_block[rows_of_block(pass, block + 1)] - next_block[0];
    lines_with_each_four = (columns / (count / 4) + kColumnsInLine - 1) / kColumnsInLine;
  }
  const std::uint64_t* begin = pass.row_begin + first_row;
  const double* contribution = pass.contribution;
  std::uint64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::uint16_t r0 = single[i], r1 = single[i + 1], r2 = single[i + 2], r3 = single[i + 3];
    const std::uint64_t b0 = begin[r0], b1 = begin[r1], b2 = begin[r2], b3 = begin[r3];
    const std::uint64_t shortest = begin[r0 + 1] - b0;
    const std::uint64_t longest = begin[r3 + 1] - b3;
    for (std::uint64_t line = 0; line < lines_with_each_four; ++line) {
      prefetch(next_columns, (i / 4 * lines_with_each_four + line) * kColumnsInLine);
    }
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const std::uint32_t *c0 = pass.column + b0, *c1 = pass.column + b1, *c2 = pass.column + b2, *c3 = pass.column + b3;
    for (std::uint64_t e = 0; e < shortest; ++e) {
      if constexpr (kValues) {
        s0 += pass.value[b0 + e] * contribution[c0[e]];
        s1 += pass.value[b1 + e] * contribution[c1[e]];
        s2 += pass.value[b2 + e] * contribution[c2[e]];
        s3 += pass.value[b3 + e] * contribution[c3[e]];
      } else {
        s0 += contribution[c0[e]];
        s1 += contribution[c1[e]];
        s2 += contribution[c2[e]];
        s3 += contribution[c3[e]];
      }
    }
    if (longest != shortest) {
      s1 = add_entries<kValues>(pass, b1, shortest, begin[r1 + 1] - b1, s1);
      s2 = add_entries<kValues>(pass, b2, shortest, begin[r2 + 1] - b2, s2);
      s3 = add_entries<kValues>(pass, b3, shortest, longest, s3);
    }
    sum[r0] = s0;
    sum[r1] = s1;
    sum[r2] = s2;
    sum[r3] = s3;
  }
  for (; i < count; ++i) {
    const std::uint64_t row_begin = begin[single[i]];
    sum[single[i]] = add_entries<kValues>(pass, row_begin, 0, begin[single[i] + 1] - row_begin, 0.0);
  }
}

inline void sum_block(const PagerankPass& pass, std::uint64_t block, double* sum) noexcept {
  const std::uint64_t first_row = block * kBlockRows;
  const RowRunsBlock& begin = pass.block[block];
  const RowRunsBlock& end = pass.block[block + 1];
  const std::uint32_t* column = pass.run_column + begin.run_column;
  for (std::uint64_t r = begin.run; r < end.run; ++r) {
    const RowRun run = pass.run[r];
    sum_run(pass, column, run, pass.previous + first_row + run.first_row, sum + run.first_row);
    column += run.entries;
  }
  const std::uint16_t* single = pass.single + begin.single;
  const std::uint64_t singles = end.single - begin.single;
  if (pass.value != nullptr) {
    sum_single_rows<true>(pass, block, single, singles, sum);
  } else {
    sum_single_rows<false>(pass, block, single, singles, sum);
  }
}

// ---- Second half: x = base + sum, contribution = x * scale, and the block's sums ----
//
// Per row from memory: 8 B read (previous), 16 B written (next, next_contribution; 32 B moved where the stores do not
// go past the cache), and 8 B read (scale) in groups of rows whose scales differ. With the first half that makes 32 B
// per row for a mesh.

struct LaneSums {
  Register change_l1[kParts] = {};
  Register change_linf[kParts] = {};
  Register dangling[kParts] = {};
};

inline double lane(const Register* parts, int i) noexcept {
  return parts[i / kWidth][i % kWidth];
}

inline double sum_of_lanes(const Register* v) noexcept {
  return ((lane(v, 0) + lane(v, 4)) + (lane(v, 2) + lane(v, 6))) +
         ((lane(v, 1) + lane(v, 5)) + (lane(v, 3) + lane(v, 7)));
}

inline double max_of_lanes(const Register* v) noexcept {
  double max = lane(v, 0);
  for (int i = 1; i < kLanes; ++i) max = lane(v, i) > max ? lane(v, i) : max;
  return max;
}

// Rows [row, end) of the block that starts at first_row; whole eights. kShared: all of scale `shared`, which is not 0.
template <bool kStream, bool kShared>
inline void finish_rows(const PagerankPass& pass, std::uint64_t first_row, std::uint64_t row, std::uint64_t end,
                        double shared, const double* sum, LaneSums& lanes) noexcept {
  for (; row < end; row += kLanes) {
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t offset = row + static_cast<std::uint64_t>(part * kWidth);
      const std::uint64_t i = first_row + offset;
      const Register x = pass.base + load(sum + offset);
      const Register change = absolute(x - load(pass.previous + i));
      lanes.change_l1[part] += change;
      lanes.change_linf[part] = change > lanes.change_linf[part] ? change : lanes.change_linf[part];
      store<kStream>(pass.next + i, x);
      if constexpr (kShared) {
        store<kStream>(pass.next_contribution + i, x * shared);
      } else {
        const Register scale = load(pass.scale + i);
        lanes.dangling[part] += scale == 0.0 ? x : Register{};
        store<kStream>(pass.next_contribution + i, x * scale);
      }
    }
  }
}

template <bool kStream>
inline void finish_block(const PagerankPass& pass, std::uint64_t first_row, std::uint64_t rows, const double* sum,
                         PagerankBlockSums& sums) noexcept {
  LaneSums lanes;
  const std::uint64_t whole_eights = rows / kLanes * kLanes;
  for (std::uint64_t row = 0; row < whole_eights; row += kGroupRows) {
    const std::uint64_t end = row + kGroupRows < whole_eights ? row + kGroupRows : whole_eights;
    const double shared = pass.group_scale[(first_row + row) / kGroupRows];
    if (shared > 0) {
      finish_rows<kStream, true>(pass, first_row, row, end, shared, sum, lanes);
    } else {
      finish_rows<kStream, false>(pass, first_row, row, end, shared, sum, lanes);
    }
  }
  for (std::uint64_t row = whole_eights; row < rows; ++row) {
    const int part = static_cast<int>(row % kLanes) / kWidth;
    const int element = static_cast<int>(row % kLanes) % kWidth;
    const std::uint64_t i = first_row + row;
    const double x = pass.base + sum[row];
    const double change = __builtin_fabs(x - pass.previous[i]);
    lanes.change_l1[part][element] += change;
    if (change > lanes.change_linf[part][element]) lanes.change_linf[part][element] = change;
    if (pass.scale[i] == 0.0) lanes.dangling[part][element] += x;
    pass.next[i] = x;
    pass.next_contribution[i] = x * pass.scale[i];
  }
  sums.change_l1 = sum_of_lanes(lanes.change_l1);
  sums.change_linf = max_of_lanes(lanes.change_linf);
  sums.dangling = sum_of_lanes(lanes.dangling);
}

template <bool kStream>
void iterate_blocks(const PagerankPass& pass, std::uint64_t first, std::uint64_t last,
                    PagerankBlockSums* sums) noexcept {
  alignas(64) double sum[kBlockRows];
  for (std::uint64_t block = first; block < last; ++block) {
    sum_block(pass, block, sum);
    finish_block<kStream>(pass, block * kBlockRows, rows_of_block(pass, block), sum, sums[block]);
  }
  if constexpr (kStream) _mm_sfence();
}

void iterate(const PagerankPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
             PagerankBlockSums* sums) noexcept {
  if (stream) {
    iterate_blocks<true>(pass, first, last, sums);
  } else {
    iterate_blocks<false>(pass, first, last, sums);
  }
}

void prepare(const PagerankPass& pass, std::uint64_t first, std::uint64_t last, PagerankBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t begin = block * kBlockRows;
    const std::uint64_t end = begin + rows_of_block(pass, block);
    Register dangling[kParts] = {};
    for (std::uint64_t i = begin; i < end; ++i) {
      const int element = static_cast<int>(i % kLanes);
      if (pass.scale[i] == 0.0) dangling[element / kWidth][element % kWidth] += pass.previous[i];
      pass.next_contribution[i] = pass.previous[i] * pass.scale[i];
    }
    sums[block] = {0, 0, sum_of_lanes(dangling)};
  }
}

}  // namespace

const PagerankKernels kPagerankKernels = {iterate, prepare};

}  // namespace ringside::RINGSIDE_ISA
