// SPDX-License-Identifier: BSD-3-Clause
// One field of each dtype, compared with the serial reference implementation: reduced in place or while it is copied,
// by any thread in any order, with every instruction set.
#include "common/reductions/field_reducer.hpp"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/kernels/hash.hpp"
#include "common/kernels/isa.hpp"
#include "common/reductions/kernels/field_kernel.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/reduction_scratch.hpp"
#include "tests/unit/common/reductions/field_cases.hpp"
#include "tests/unit/common/reductions/vandal.hpp"

namespace ringside {
namespace {

/// Calls `finish`, which writes the values and returns the presence bits. Returns the results.
template <class Finish>
FoundResults found_of(DType dtype, const Finish& finish) {
  std::vector<std::uint64_t> words(FoundResults::words_of(dtype), 77);
  words[0] = finish(&words[1]);
  return {dtype, words};
}

FoundResults finished(FieldReducer& reducer, DType dtype) {
  return found_of(dtype, [&](std::uint64_t* values) { return reducer.finish(values); });
}

/// Reduces the field in place, block by block, with `threads` thread numbers in turn.
FoundResults field_swept(const FieldCase& c, std::size_t threads = 1, int passes = 1) {
  ReductionScratch scratch(threads);
  FieldReducer reducer(c.dtype, c.entries, scratch);
  reducer.begin(c.previous_bytes());
  for (int pass = 0; pass < passes; ++pass) {
    if (pass > 0) reducer.begin_again();
    for (std::uint64_t block = 0; block < reducer.blocks(); ++block) {
      reducer.sweep(block % threads, c.bytes(), block, block + 1);
    }
  }
  return finished(reducer, c.dtype);
}

struct FieldVariant {
  const char* name;
  const ReductionKernel& kernel;
  const FieldKernels& fields;
};

std::vector<FieldVariant> field_variants() {
  std::vector<FieldVariant> variants = {{"plain", plain::reduction_kernel, plain::field_kernels}};
  if (selected_isa() >= Isa::kAvx2) variants.push_back({"avx2", avx2::reduction_kernel, avx2::field_kernels});
  if (selected_isa() >= Isa::kAvx512) variants.push_back({"avx512", avx512::reduction_kernel, avx512::field_kernels});
  return variants;
}

/// The work of one thread with the kernels of one instruction set.
class FieldOfVariant {
 public:
  FieldOfVariant(const FieldVariant& variant, const FieldCase& c)
      : variant_(variant),
        c_(c),
        state_(variant.kernel.state_bytes / sizeof(CacheLine)),
        block_sums_((c.entries / kReductionBlockRows + 1) * variant.kernel.sums_per_block) {
    variant.kernel.clear(state_.data());
  }

  FoundResults swept() {
    kernel().sweep(
        state_.data(), exact_, block_sums_.data(),
        {c_.bytes(), c_.previous_bytes(), c_.entries, 0, (c_.entries + kReductionBlockRows - 1) / kReductionBlockRows});
    return finished();
  }

  /// to: null if the copies remain only in the staging area.
  FoundResults copied(std::byte* to) {
    std::vector<CacheLine> staging(kCopyChunkBytes / sizeof(CacheLine));
    const std::size_t width = bytes_of(c_.dtype);
    for (std::size_t begin = 0; begin < c_.stored_bytes(); begin += kCopyChunkBytes) {
      const std::size_t bytes = std::min(kCopyChunkBytes, c_.stored_bytes() - begin);
      const std::size_t entries = std::min(bytes / width, c_.entries - begin / width);
      const std::byte* previous = c_.previous_bytes() != nullptr ? c_.previous_bytes() + begin : nullptr;
      const std::uint64_t hash = kernel().copy(state_.data(), exact_, block_sums_.data(),
                                               {c_.bytes() + begin, to != nullptr ? to + begin : nullptr, previous,
                                                staging.data(), begin / width, entries, bytes});
      EXPECT_EQ(hash, hash64(c_.bytes() + begin, bytes));
      EXPECT_TRUE(to != nullptr || std::memcmp(staging.data(), c_.bytes() + begin, bytes) == 0);
    }
    _mm_sfence();
    return finished();
  }

 private:
  const FieldKernel& kernel() const { return variant_.fields[static_cast<std::uint16_t>(c_.dtype) - 1]; }
  FoundResults finished() {
    const ExactReductions* const exact = class_of(c_.dtype) == DTypeClass::kInteger ? &exact_ : nullptr;
    return found_of(c_.dtype, [&](std::uint64_t* values) {
      return variant_.kernel.finish(state_.data(), block_sums_.data(), c_.entries, c_.previous_bytes() != nullptr,
                                    exact, values);
    });
  }

  const FieldVariant& variant_;
  const FieldCase& c_;
  std::vector<CacheLine> state_;
  std::vector<double> block_sums_;
  ExactReductions exact_;
};

/// f64 fields of every kind, with the sizes at which a copy's chunks and blocks end.
std::vector<FieldCase> f64_cases() {
  std::vector<FieldCase> all;
  const auto add = [&all](const std::string& name, const Vector& x, const Vector& previous) {
    all.push_back(field_case(name, DType::kF64, x, previous));
  };
  for (const Case& c : finite_cases()) add(c.name, c.x, c.previous);
  const std::size_t chunk = kCopyChunkBytes / sizeof(double);
  for (const std::size_t rows : {chunk - 1, chunk, chunk + 1, 3 * chunk, 7 * chunk + 1029}) {
    const std::string size = std::to_string(rows) + " rows, ";
    add(size + "many octaves", wide_vector(rows, true, 1), wide_vector(rows, true, 2));
    add(size + "one bin", random_vector(rows, 1.01, 1.02, 3), random_vector(rows, 1.01, 1.02, 4));
    add(size + "mixed signs, no previous", random_vector(rows, -1, 1, 5), {});
    // Nearly all values are in one bin, as for a mesh with a border.
    Vector border(rows, 0.1);
    for (std::size_t row = 0; row < rows; row += 777) border[row] = 0.066;
    add(size + "border", border, Vector(rows, 0.1000001));
    // Many rows have the largest value. The first of these rows count, no matter which thread finds its rows first.
    Vector peaks = random_vector(rows, 0, 1, 6);
    for (std::size_t row = 0; row < rows; row += 50) peaks[row] = 2;
    add(size + "equal peaks", peaks, {});
    Vector broken = wide_vector(rows, true, 7);
    Vector before = wide_vector(rows, true, 8);
    std::mt19937_64 generator(9);
    for (const double value : {kNaN, kInfinity, -kInfinity, kNaN, kInfinity, -kInfinity}) {
      broken[generator() % rows] = value;
    }
    before[generator() % rows] = kNaN;
    add(size + "NaN and infinities", broken, before);
  }
  return all;
}

TEST(FieldReducer, EveryResultOfEveryDTypeAgreesWithTheSerialOracle) {
  std::vector<FieldCase> all = field_cases_around_blocks();
  for (FieldCase& c : f64_cases()) all.push_back(std::move(c));
  for (const FieldCase& c : all) {
    SCOPED_TRACE(c.name);
    expect_equal_to_oracle(field_swept(c, 2), c);
    if (HasFailure()) return;
  }
}

TEST(FieldReducer, BlocksOfDifferentRangesAreCountedTogether) {
  // The octaves of the blocks: in the middle, below these, above these, around all of them, and within them. The test
  // runs with values of one sign and of both.
  const int octaves[][2] = {{-30, -24}, {-50, -40}, {-10, -2}, {-55, 3}, {-20, -12}};
  for (bool mixed : {false, true}) {
    std::mt19937_64 generator(1);
    Vector x;
    for (const auto& [low, high] : octaves) {
      std::uniform_real_distribution<double> octave(low, high);
      for (std::size_t row = 0; row < block_rows(); ++row) {
        x.push_back(std::exp2(octave(generator)) * (mixed && generator() % 2 == 0 ? -1 : 1));
      }
    }
    for (std::size_t end = block_rows(); end <= x.size(); end += block_rows()) {
      const Vector first(x.begin(), x.begin() + static_cast<long>(end));
      const FieldCase c = field_case("up to row " + std::to_string(end), DType::kF64, first, {});
      SCOPED_TRACE(c.name);
      for (const std::size_t threads : {1u, 2u}) expect_equal_to_oracle(field_swept(c, threads, 3), c);
    }
  }
}

TEST(FieldReducer, LargestEntriesAreFoundWhateverTheirOrder) {
  const std::size_t rows = 3 * block_rows() + 7;
  const auto values = [rows](auto value_of) {
    Vector x(rows);
    for (std::size_t row = 0; row < rows; ++row) x[row] = value_of(static_cast<double>(row));
    return x;
  };
  const std::pair<const char*, Vector> cases[] = {
      {"ascending", values([](double row) { return row; })},
      {"descending", values([](double row) { return -row; })},
      {"stairs up", values([](double row) { return std::floor(row / 5); })},
      {"stairs down", values([](double row) { return -std::floor(row / 5); })},
      {"many of the last that enter", values([](double row) { return std::fmod(row, 100) < 1 ? 2.0 + row : 1.0; })},
      {"few above many equal", values([](double row) { return std::fmod(row, 500) < 1 ? 2.0 + row : 1.0; })},
  };
  for (const auto& [name, x] : cases) {
    SCOPED_TRACE(name);
    const FieldCase c = field_case(name, DType::kF64, x, {});
    for (const std::size_t threads : {1u, 3u}) expect_equal_to_oracle(field_swept(c, threads), c);
  }
  Vector x(40, -kInfinity);
  x[30] = 1;
  const FoundResults found = field_swept(field_case("", DType::kF64, x, {}));
  EXPECT_EQ(found.i64("top_row", 0), 30);
  for (std::uint32_t i = 1; i < kTopEntries; ++i) EXPECT_EQ(found.i64("top_row", i), i - 1);
}

TEST(FieldReducer, ThreadsAndPassesDoNotChangeABit) {
  for (const FieldCase& c : field_cases({1, 1025, 5000})) {
    const FoundResults expected = field_swept(c);
    for (const std::size_t threads : {2u, 3u, 4u}) {
      EXPECT_TRUE(field_swept(c, threads) == expected) << c.name << ", " << threads << " threads";
    }
    EXPECT_TRUE(field_swept(c, 3, 4) == expected) << c.name << ", four passes";
  }
}

TEST(FieldReducer, EveryInstructionSetGivesTheSameBitsSweptOrCopied) {
  std::vector<FieldCase> all = field_cases_around_blocks();
  for (const DType dtype : every_dtype()) {
    for (const std::size_t entries : {entries_of_chunks(dtype), 2 * kCopyChunkBytes / bytes_of(dtype)}) {
      for (FieldCase& c : field_cases(dtype, entries)) all.push_back(std::move(c));
    }
  }
  for (FieldCase& c : f64_cases()) all.push_back(std::move(c));
  const std::vector<FieldVariant> variants = field_variants();
  for (const FieldCase& c : all) {
    const FoundResults expected = FieldOfVariant(variants[0], c).swept();
    for (const FieldVariant& variant : variants) {
      SCOPED_TRACE(c.name + ", " + variant.name);
      std::vector<CacheLine> slot(c.x.size() + 1);
      std::byte* const to = slot.data()->bytes;
      std::byte* const end = to + slot.size() * sizeof(CacheLine);
      std::fill(to, end, std::byte{0x5a});
      EXPECT_TRUE(FieldOfVariant(variant, c).swept() == expected);
      EXPECT_TRUE(FieldOfVariant(variant, c).copied(to) == expected);
      EXPECT_TRUE(FieldOfVariant(variant, c).copied(nullptr) == expected);
      EXPECT_EQ(std::memcmp(slot.data(), c.bytes(), c.stored_bytes()), 0);
      EXPECT_TRUE(std::all_of(to + c.stored_bytes(), end, [](std::byte byte) { return byte == std::byte{0x5a}; }));
    }
    if (HasFailure()) return;
  }
}

TEST(FieldReducer, AnyThreadMayTakeAnyChunkInAnyOrder) {
  std::vector<FieldCase> all = f64_cases();
  for (const DType dtype : every_dtype()) {
    for (FieldCase& c : field_cases(dtype, entries_of_chunks(dtype))) all.push_back(std::move(c));
  }
  std::mt19937_64 generator(1);
  for (const FieldCase& c : all) {
    const FoundResults expected = field_swept(c);
    ReductionScratch scratch(3);
    FieldReducer reducer(c.dtype, c.entries, scratch);
    std::vector<std::size_t> chunks((c.stored_bytes() + kCopyChunkBytes - 1) / kCopyChunkBytes);
    std::iota(chunks.begin(), chunks.end(), 0);
    for (int order = 0; order < 3; ++order) {
      if (order == 1) std::reverse(chunks.begin(), chunks.end());
      if (order == 2) std::shuffle(chunks.begin(), chunks.end(), generator);
      std::vector<CacheLine> slot(c.x.size());
      reducer.begin(c.previous_bytes());
      for (const std::size_t chunk : chunks) {
        const std::size_t begin = chunk * kCopyChunkBytes;
        const std::size_t bytes = std::min(kCopyChunkBytes, c.stored_bytes() - begin);
        const std::uint64_t first_block = begin / bytes_of(c.dtype) / kReductionBlockRows;
        const std::uint64_t blocks = kCopyChunkBytes / bytes_of(c.dtype) / kReductionBlockRows;
        std::byte* const to = reinterpret_cast<std::byte*>(slot.data()) + begin;
        const std::size_t thread = generator() % 3;
        switch (generator() % 3) {
          case 0: reducer.copy_nontemporal(thread, to, c.bytes() + begin, begin, bytes); break;
          case 1: std::memcpy(to, reducer.stage(thread, c.bytes() + begin, begin, bytes).bytes, bytes); break;
          default:
            std::memcpy(to, c.bytes() + begin, bytes);
            reducer.sweep(thread, slot.data(), first_block, std::min(first_block + blocks, reducer.blocks()));
        }
      }
      EXPECT_TRUE(finished(reducer, c.dtype) == expected) << c.name << ", order " << order;
    }
  }
}

TEST(FieldReducer, WhatIsStoredHashedAndReducedAreTheSameBytesWhileTheSourceIsChanged) {
  const std::size_t doubles = 20 * kCopyChunkBytes / sizeof(double) + 1500;
  const VandalizedMemory shared(doubles);
  ASSERT_TRUE(shared.changes());
  const auto* const from = reinterpret_cast<const std::byte*>(shared.data());
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kC128, DType::kI16, DType::kU64}) {
    SCOPED_TRACE(to_string(dtype));
    FieldCase stored{"", dtype, doubles * sizeof(double) / bytes_of(dtype)};
    stored.x.resize(stored.stored_bytes() / sizeof(CacheLine) + 1);
    stored.previous = stored.x;
    ReductionScratch scratch(1);
    FieldReducer reducer(dtype, stored.entries, scratch);
    for (int round = 0; round < 200; ++round) {
      reducer.begin(stored.previous_bytes());
      for (std::size_t begin = 0; begin < stored.stored_bytes(); begin += kCopyChunkBytes) {
        const std::size_t bytes = std::min(kCopyChunkBytes, stored.stored_bytes() - begin);
        std::byte* const to = reinterpret_cast<std::byte*>(stored.x.data()) + begin;
        std::uint64_t hash = 0;
        if (round % 2 == 0) {
          hash = reducer.copy_nontemporal(0, to, from + begin, begin, bytes);
          _mm_sfence();
        } else {
          const StagedBytes staged = reducer.stage(0, from + begin, begin, bytes);
          std::memcpy(to, staged.bytes, bytes);
          hash = staged.hash;
        }
        EXPECT_EQ(hash, hash64(to, bytes));
      }
      EXPECT_TRUE(finished(reducer, dtype) == field_swept(stored));
      if (HasFailure()) return;
    }
  }
}

TEST(FieldReducer, TheGreatestSumsAreExact) {
  const std::size_t entries = 5000;
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto greatest = std::numeric_limits<std::int64_t>::max();
  const FieldCase lowest{"", DType::kI64, entries, lines_of(std::vector<std::int64_t>(entries, least)),
                         lines_of(std::vector<std::int64_t>(entries, greatest))};
  const FoundResults of_lowest = field_swept(lowest);
  EXPECT_EQ(of_lowest.i128("sum"), "-46116860184273879040000");
  EXPECT_EQ(of_lowest.i128("l1"), "46116860184273879040000");
  EXPECT_EQ(of_lowest.i128("linf"), "9223372036854775808");
  EXPECT_EQ(of_lowest.i128("change_l1"), "92233720368547758075000");
  EXPECT_EQ(of_lowest.i128("change_linf"), "18446744073709551615");

  const FieldCase highest{"", DType::kU64, entries, lines_of(std::vector<std::uint64_t>(entries, ~std::uint64_t{0})),
                          lines_of(std::vector<std::uint64_t>(entries, 0))};
  const FoundResults of_highest = field_swept(highest);
  EXPECT_EQ(of_highest.i128("sum"), "92233720368547758075000");
  EXPECT_EQ(of_highest.i128("max"), "18446744073709551615");
  EXPECT_EQ(of_highest.i128("change_linf"), "18446744073709551615");
}

TEST(FieldReducer, AChangeOfOneIsSeenInALargeInteger) {
  const std::int64_t large = std::int64_t{1} << 60;
  const FieldCase c{"", DType::kI64, 3, lines_of(std::vector<std::int64_t>{large + 1, large, -large}),
                    lines_of(std::vector<std::int64_t>{large, large, -large + 1})};
  const FoundResults found = field_swept(c);
  EXPECT_EQ(found.i128("change_l1"), "2");
  EXPECT_EQ(found.f64("change_l2"), std::sqrt(2.0));
}

TEST(FieldReducer, AModulusNeitherOverflowsNorVanishesInItsSquares) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> octave(-1070, 1020);
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::complex<double>> x(kTopEntries);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double re = std::exp2(octave(generator));
      x[i] = {re, i % 3 == 0 ? re * -0.75 : std::exp2(octave(generator))};
    }
    const FoundResults found = field_swept({"", DType::kC128, x.size(), lines_of(x)});
    for (std::uint32_t i = 0; i < kTopEntries; ++i) {  // for all top entries
      const std::int64_t row = found.i64("top_row", i);
      ASSERT_GE(row, 0);
      const std::complex<double> entry = x[static_cast<std::size_t>(row)];
      const std::complex<long double> z(entry);
      const auto expected = static_cast<double>(std::hypot(z.real(), z.imag()));
      ASSERT_LE(std::fabs(found.f64("top_value", i) - expected), std::max(0x1p-52 * expected, 5e-324)) << entry;
    }
  }
}

TEST(FieldReducer, AComplexEntryIsNotFiniteIfAPartIsNot) {
  const std::vector<std::complex<float>> x = {
      {1, static_cast<float>(kNaN)}, {static_cast<float>(kInfinity), 1}, {3, 4}, {0, -static_cast<float>(kInfinity)}};
  const FoundResults found = field_swept({"", DType::kC64, x.size(), lines_of(x)});
  EXPECT_EQ(found.i64("non_finite"), 3);
  EXPECT_EQ(found.f64("min"), 5);
  EXPECT_EQ(found.f64("linf"), kInfinity);
  EXPECT_EQ(found.i64("top_row", 0), 1);
  EXPECT_EQ(found.i64("top_row", 1), 3);
  EXPECT_EQ(found.i64("top_row", 3), -1);
  EXPECT_TRUE(std::isnan(found.f64("sum")));
}

}  // namespace
}  // namespace ringside
