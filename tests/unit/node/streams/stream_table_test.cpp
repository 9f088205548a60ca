// SPDX-License-Identifier: BSD-3-Clause
// Every loop of the table computes the formula in its text, with the same result for any division of the elements and
// every instruction set.
#include "node/streams/stream_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "node/model/channels.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kElements = 4099;  // not a multiple of any vector length
constexpr std::uint64_t kSide = 64;

struct Arrays {
  explicit Arrays(const StreamKernel& kernel) : order(kElements) {
    values.resize(StreamArguments::kMostArrays);
    for (std::size_t a = 0; a < values.size(); ++a) {
      values[a].resize(kElements + 8);
      double* aligned = values[a].data();
      while (reinterpret_cast<std::uintptr_t>(aligned) % 64 != 0) ++aligned;
      for (std::uint64_t i = 0; i < kElements; ++i) aligned[i] = static_cast<double>((a + 1) * 1000 + i % 97);
      on.arrays[a] = aligned;
    }
    if (kernel.shape == StreamShape::kPastCache) {
      fill_order_apart(order, 100);
    } else {
      fill_random_order(order);
    }
    on.order = order.data();
    on.elements = kElements;
    on.side = matrix_side(kElements);
  }
  std::vector<double> array(int number) const { return {on.arrays[number], on.arrays[number] + kElements}; }

  std::vector<std::vector<double>> values;
  std::vector<std::uint32_t> order;
  StreamArguments on;
};

void run_in_portions(const StreamKernel& kernel, const Arrays& arrays, std::uint64_t portion) {
  const std::uint64_t units = stream_units(kernel, kElements);
  for (std::uint64_t begin = 0; begin < units; begin += portion) {
    run_portion(kernel, arrays.on, begin, std::min(begin + portion, units));
  }
}

TEST(StreamTable, EveryLoopGivesTheSameInPortionsAsWhole) {
  for (const StreamKernel& kernel : stream_kernels()) {
    const Arrays whole(kernel);
    const Arrays portions(kernel);
    run_in_portions(kernel, whole, kElements);
    run_in_portions(kernel, portions, 13);
    for (int a = 0; a < kernel.arrays; ++a) EXPECT_EQ(whole.array(a), portions.array(a)) << kernel.name;
  }
}

TEST(StreamTable, ALoopWritesAsManyArraysAsItDeclares) {
  for (const StreamKernel& kernel : stream_kernels()) {
    const Arrays before(kernel);
    const Arrays after(kernel);
    run_in_portions(kernel, after, kElements);
    int written = 0;
    for (int a = 0; a < StreamArguments::kMostArrays; ++a) written += before.array(a) != after.array(a) ? 1 : 0;
    EXPECT_EQ(written, kernel.arrays_written) << kernel.name;
  }
}

TEST(StreamTable, StoresPastTheCacheGiveTheSameAsPlainStores) {
  for (const char* name : {"copy", "scale", "add", "triad"}) {
    const StreamKernel& plain = stream_kernel(name);
    const StreamKernel* past = nontemporal_variant(plain);
    ASSERT_NE(past, nullptr);
    const Arrays of_plain(plain);
    const Arrays of_past(plain);
    run_in_portions(plain, of_plain, 77);
    run_in_portions(*past, of_past, 77);
    for (int a = 0; a < 3; ++a) EXPECT_EQ(of_plain.array(a), of_past.array(a)) << name;
  }
}

TEST(StreamTable, TriadComputesWhatItsTextSays) {
  const StreamKernel& kernel = stream_kernel("triad");
  const Arrays arrays(kernel);
  run_in_portions(kernel, arrays, kElements);
  for (std::uint64_t i = 0; i < kElements; ++i) {
    EXPECT_EQ(arrays.on.arrays[0][i], arrays.on.arrays[1][i] + 3.0 * arrays.on.arrays[2][i]);
  }
}

TEST(StreamTable, TheSumOfPortionsIsTheSumOfTheArray) {
  const StreamKernel& kernel = stream_kernel("read");
  const Arrays arrays(kernel);
  const std::vector<double> a = arrays.array(0);
  const double sum = run_portion(kernel, arrays.on, 0, 1000) + run_portion(kernel, arrays.on, 1000, kElements);
  EXPECT_EQ(sum, std::accumulate(a.begin(), a.end(), 0.0));  // whole numbers: exact in any order
}

TEST(StreamTable, TheMixedLoopReadsItsLastMatrixByColumns) {
  const StreamKernel& kernel = stream_kernel("mixed");
  const Arrays arrays(kernel);
  run_in_portions(kernel, arrays, 5);
  EXPECT_EQ(arrays.on.arrays[0][3 * kSide + 7],
            arrays.on.arrays[1][3 * kSide + 7] + arrays.on.arrays[2][7 * kSide + 3]);
}

TEST(StreamTable, TheStencilLeavesTheBorderAsItWas) {
  const StreamKernel& kernel = stream_kernel("stencil9");
  const Arrays before(kernel);
  const Arrays arrays(kernel);
  run_in_portions(kernel, arrays, 5);
  for (std::uint64_t i = 0; i < kSide; ++i) {
    EXPECT_EQ(arrays.on.arrays[0][i], before.on.arrays[0][i]);
    EXPECT_EQ(arrays.on.arrays[0][i * kSide], before.on.arrays[0][i * kSide]);
    EXPECT_EQ(arrays.on.arrays[0][(kSide - 1) * kSide + i], before.on.arrays[0][(kSide - 1) * kSide + i]);
  }
  EXPECT_NE(arrays.array(0), before.array(0));
}

TEST(StreamTable, ACopyCounts16BytesAndMoves24OrPastTheCache16) {
  EXPECT_EQ(stream_kernel("copy").counted_bytes(), 16);
  EXPECT_EQ(stream_kernel("copy").moved_bytes, 24);
  EXPECT_EQ(stream_kernel("copy_nontemporal").counted_bytes(), 16);
  EXPECT_EQ(stream_kernel("copy_nontemporal").moved_bytes, 16);
}

TEST(StreamTable, TheModelTakesAsManyMovedBytesAsTheTableHas) {
  for (const std::string_view name : modelled_streams()) {
    const StreamKernel& kernel = stream_kernel(name);
    EXPECT_DOUBLE_EQ(moved_per_counted(std::string(name)), kernel.moved_bytes / kernel.counted_bytes()) << name;
  }
}

TEST(StreamTable, NoOtherLoopHasTheSameName) {
  std::set<std::string_view> names;
  for (const StreamKernel& kernel : stream_kernels()) EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
  EXPECT_EQ(std::count_if(stream_kernels().begin(), stream_kernels().end(),
                          [](const StreamKernel& k) { return k.source == StreamSource::kPatil; }),
            10);
}

TEST(StreamTable, AnUnknownNameIsRefusedWithTheNamesThereAre) {
  expect_has(failure_line([] { (void)stream_kernel("copie"); }),
             {"found the loop 'copie', expected one of read, copy,"});
}

TEST(StreamTable, AnOrderHasEachIndexOnce) {
  std::vector<std::uint32_t> all(1003);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::uint32_t> order(all.size());
  fill_random_order(order);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), all.begin()));
  fill_order_apart(order, 64);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), all.begin()));
  EXPECT_EQ(order[1] - order[0], 64U);
}

}  // namespace
}  // namespace ringside
