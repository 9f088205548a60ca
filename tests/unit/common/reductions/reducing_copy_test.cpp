// SPDX-License-Identifier: BSD-3-Clause
// The copy that reduces on its way. It is exact, and hashed like any copy. Its reductions have the bits of a sweep
// over what it stored, whichever thread takes which chunk, for every instruction set, and also while the source is
// being changed.
#include <gtest/gtest.h>
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <numeric>

#include "common/kernels/hash.hpp"
#include "common/kernels/isa.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/reduction.hpp"
#include "tests/unit/common/reductions/reduction_cases.hpp"
#include "tests/unit/common/reductions/vandal.hpp"

namespace ringside {
namespace {

struct alignas(64) ReducedLine {
  double rows[8];
};

/// Rows that begin at a cache line, as a slot's payload does, with a guard behind them.
class Slot {
 public:
  explicit Slot(std::size_t rows) : rows_(rows), lines_(rows / 8 + 2) {
    for (ReducedLine& line : lines_) std::fill(std::begin(line.rows), std::end(line.rows), kGuard);
  }
  double* data() { return lines_[0].rows; }
  bool guarded() {
    return std::all_of(data() + rows_, data() + 8 * lines_.size(), [](double x) { return x == kGuard; });
  }

 private:
  static constexpr double kGuard = 12345.678;
  std::size_t rows_;
  std::vector<ReducedLine> lines_;
};

/// Iterates of every kind, with the sizes at which a copy's chunks and blocks end.
std::vector<Case> cases() {
  std::vector<Case> all = finite_cases();
  const std::size_t chunk = Reducer::kMostRows;
  for (std::size_t rows : {chunk - 1, chunk, chunk + 1, 3 * chunk, 7 * chunk + 1029}) {
    const std::string size = std::to_string(rows) + " rows, ";
    all.push_back({size + "many octaves", wide_vector(rows, true, 1), wide_vector(rows, true, 2)});
    all.push_back({size + "one bin", random_vector(rows, 1.01, 1.02, 3), random_vector(rows, 1.01, 1.02, 4)});
    all.push_back({size + "mixed signs, no previous", random_vector(rows, -1, 1, 5), {}});
    // One bin nearly everywhere, as a mesh's border leaves it.
    Case border{size + "border", Vector(rows, 0.1), Vector(rows, 0.1000001)};
    for (std::size_t row = 0; row < rows; row += 777) border.x[row] = 0.066;
    all.push_back(border);
    // Many rows have the largest value: the first of them count, whichever thread looks first.
    Case peaks{size + "equal peaks", random_vector(rows, 0, 1, 6), {}};
    for (std::size_t row = 0; row < rows; row += 50) peaks.x[row] = 2;
    all.push_back(peaks);
    Case broken{size + "NaN and infinities", wide_vector(rows, true, 7), wide_vector(rows, true, 8)};
    std::mt19937_64 generator(9);
    for (std::size_t i = 0; i < 9; ++i)
      broken.x[generator() % rows] = i % 3 == 0 ? kNaN : i % 3 == 1 ? kInfinity : -kInfinity;
    broken.previous[generator() % rows] = kNaN;
    all.push_back(broken);
  }
  return all;
}

const double* previous_of(const Case& c) {
  return c.previous.empty() ? nullptr : c.previous.data();
}

Reductions swept(const double* x, const double* previous, std::size_t rows) {
  Reducer reducer(rows);
  return reducer.reduce(x, previous, 1);
}

std::vector<std::size_t> chunks_of(std::size_t rows) {
  std::vector<std::size_t> chunks((rows + Reducer::kMostRows - 1) / Reducer::kMostRows);
  std::iota(chunks.begin(), chunks.end(), 0);
  return chunks;
}

std::size_t rows_of_chunk(std::size_t chunk, std::size_t rows) {
  return std::min(Reducer::kMostRows, rows - chunk * Reducer::kMostRows);
}

TEST(ReducingCopy, CopiesHashesAndGivesTheBitsOfASweepForEveryInstructionSet) {
  std::vector<std::pair<const char*, const ReductionKernel*>> kernels = {{"plain", &plain::reduction_kernel}};
  if (selected_isa() >= Isa::kAvx2) kernels.emplace_back("avx2", &avx2::reduction_kernel);
  if (selected_isa() >= Isa::kAvx512) kernels.emplace_back("avx512", &avx512::reduction_kernel);
  for (const Case& c : cases()) {
    const std::size_t rows = c.x.size();
    const Reductions expected = swept(c.x.data(), previous_of(c), rows);
    for (const auto& [name, kernel] : kernels) {
      for (const bool streaming : {true, false}) {
        SCOPED_TRACE(c.name + ", " + name + (streaming ? "" : ", staged"));
        std::vector<ReducedLine> state(kernel->state_bytes / sizeof(ReducedLine));
        std::vector<ReducedLine> staging(kStagingRows / 8);
        std::vector<double> block_sums((rows / kernel->block_rows + 1) * kernel->sums_per_block);
        Slot slot(rows);
        kernel->clear(state.data());
        for (const std::size_t chunk : chunks_of(rows)) {
          const std::size_t first = chunk * Reducer::kMostRows;
          const std::size_t some = rows_of_chunk(chunk, rows);
          double* to = streaming ? slot.data() + first : nullptr;
          const double* previous = previous_of(c) != nullptr ? previous_of(c) + first : nullptr;
          const std::uint64_t hash =
              kernel->copy(state.data(), block_sums.data(), {&c.x[first], to, previous, staging[0].rows, first, some});
          EXPECT_EQ(hash, hash64(&c.x[first], some * sizeof(double)));
          if (!streaming) std::copy_n(staging[0].rows, some, slot.data() + first);
        }
        _mm_sfence();
        const Reductions found =
            finished(*kernel, state.data(), block_sums.data(), rows, previous_of(c) != nullptr);
        EXPECT_EQ(std::memcmp(slot.data(), c.x.data(), rows * sizeof(double)), 0);
        EXPECT_TRUE(slot.guarded());
        EXPECT_TRUE(bit_equal(found, expected));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ReducingCopy, AnyThreadMayTakeAnyChunkInAnyOrder) {
  std::mt19937_64 generator(1);
  omp_set_num_threads(3);
  for (const Case& c : cases()) {
    const std::size_t rows = c.x.size();
    const Reductions expected = swept(c.x.data(), previous_of(c), rows);
    Reducer reducer(rows);
    for (int order = 0; order < 3; ++order) {
      std::vector<std::size_t> chunks = chunks_of(rows);
      if (order == 1) std::reverse(chunks.begin(), chunks.end());
      if (order == 2) std::shuffle(chunks.begin(), chunks.end(), generator);
      Slot slot(rows);
      reducer.begin(previous_of(c));
      for (const std::size_t chunk : chunks) {
        const std::size_t first = chunk * Reducer::kMostRows;
        const std::size_t some = rows_of_chunk(chunk, rows);
        const std::size_t thread = generator() % reducer.threads();
        switch (generator() % 3) {
          case 0: reducer.copy_nontemporal(thread, slot.data() + first, &c.x[first], first, some); break;
          case 1: std::copy_n(reducer.stage(thread, &c.x[first], first, some).rows, some, slot.data() + first); break;
          default: std::copy_n(&c.x[first], some, slot.data() + first); reducer.sweep(thread, slot.data(), first, some);
        }
      }
      EXPECT_TRUE(bit_equal(reducer.finish(slot.data(), 1), expected)) << c.name << ", order " << order;
      EXPECT_TRUE(bit_equal(reducer.finish(slot.data(), 4), expected)) << c.name << ", four passes";
    }
    if (::testing::Test::HasFailure()) break;
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST(ReducingCopy, AnIterateIsForgottenWhenTheNextBegins) {
  const Case first{"", wide_vector(5000, true, 1), wide_vector(5000, true, 2)};
  const Case second{"", random_vector(5000, 0, 1, 3), {}};
  Reducer reducer(5000);
  Slot slot(5000);
  const auto copied = [&](const Case& c) {
    reducer.begin(previous_of(c));
    for (const std::size_t chunk : chunks_of(5000)) {
      const std::size_t begin = chunk * Reducer::kMostRows;
      reducer.copy_nontemporal(0, slot.data() + begin, &c.x[begin], begin, rows_of_chunk(chunk, 5000));
    }
    return reducer.finish(slot.data(), 1);
  };
  copied(first);
  EXPECT_TRUE(bit_equal(copied(second), swept(second.x.data(), nullptr, 5000)));
  EXPECT_TRUE(bit_equal(reducer.reduce(first.x.data(), first.previous.data(), 2),
                        swept(first.x.data(), first.previous.data(), 5000)));
}

TEST(ReducingCopy, WhatIsStoredHashedAndReducedAreTheSameBytesWhileTheSourceIsChanged) {
  constexpr std::size_t kRows = 20 * Reducer::kMostRows + 1500;
  const VandalizedMemory shared(kRows);
  ASSERT_TRUE(shared.changes());
  const double* const source = shared.data();
  const Vector previous(kRows, 3.0);
  Reducer reducer(kRows);
  Slot slot(kRows);
  for (int round = 0; round < 1000; ++round) {
    reducer.begin(previous.data());
    for (const std::size_t chunk : chunks_of(kRows)) {
      const std::size_t first = chunk * Reducer::kMostRows;
      const std::size_t some = rows_of_chunk(chunk, kRows);
      std::uint64_t hash = 0;
      if (round % 2 == 0) {
        hash = reducer.copy_nontemporal(0, slot.data() + first, source + first, first, some);
        _mm_sfence();
      } else {
        const StagedRows staged = reducer.stage(0, source + first, first, some);
        std::copy_n(staged.rows, some, slot.data() + first);
        hash = staged.hash;
      }
      EXPECT_EQ(hash, hash64(slot.data() + first, some * sizeof(double)));
    }
    EXPECT_TRUE(bit_equal(reducer.finish(slot.data(), 1), swept(slot.data(), previous.data(), kRows)));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace ringside
