// SPDX-License-Identifier: BSD-3-Clause
// The entries that `--slice` selects, compared with plain loops, and what `--slice` refuses.
#include "cli/export/formats/slice.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

const Variable kU{.name = "u", .dtype = DType::kI32, .shape = {4, 3, 5}};

std::vector<std::int32_t> counted(std::size_t number) {
  std::vector<std::int32_t> values(number);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// The entries that the slice selects from a variable u with the values 0, 1, 2 ... copied: set to whether the entries
/// were copied.
std::vector<std::int32_t> selected(const std::string& text, bool* copied = nullptr) {
  const std::vector<std::int32_t> whole = counted(60);
  std::vector<std::byte> buffer;
  const std::span<const std::byte> bytes = select(Slice(text).of(kU), 4, std::as_bytes(std::span(whole)), buffer);
  if (copied != nullptr) *copied = !buffer.empty();
  std::vector<std::int32_t> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(SliceTest, EveryCombinationOfRangesSelectsWhatPlainLoopsDo) {
  struct Range {
    const char* text;
    std::uint64_t first;
    std::uint64_t end;  // 0: the end of the dimension
    std::uint64_t step;
  };
  const Range ranges[] = {{":", 0, 0, 1},   {"1:", 1, 0, 1},    {":2", 0, 2, 1},
                          {"::2", 0, 0, 2}, {"1:3:2", 1, 3, 2}, {"2", 2, 3, 1}};
  for (const Range& a : ranges) {
    for (const Range& b : ranges) {
      for (const Range& c : ranges) {
        const std::string text = std::string(a.text) + "," + b.text + "," + c.text;
        std::vector<std::int32_t> expected;
        for (std::uint64_t i = a.first; i < (a.end == 0 ? 4 : a.end); i += a.step) {
          for (std::uint64_t j = b.first; j < (b.end == 0 ? 3 : b.end); j += b.step) {
            for (std::uint64_t k = c.first; k < (c.end == 0 ? 5 : c.end); k += c.step) {
              expected.push_back(static_cast<std::int32_t>((i * 3 + j) * 5 + k));
            }
          }
        }
        EXPECT_EQ(selected(text), expected) << text;
      }
    }
  }
}

TEST(SliceTest, WhatLiesTogetherIsNotCopied) {
  for (const char* text : {":", "1:3", "2", "2,1:", "1:2,0:2", "3,2,1:4", "1:4:4,1:"}) {
    bool copied = true;
    selected(text, &copied);
    EXPECT_FALSE(copied) << text;
  }
  for (const char* text : {"::2", ":,1", "2,::2", ":,:,1:"}) {
    bool copied = false;
    selected(text, &copied);
    EXPECT_TRUE(copied) << text;
  }
}

TEST(SliceTest, AnIndexDropsItsDimensionAndARangeOfOneDoesNot) {
  EXPECT_EQ(Slice("1,0:1").of(kU).shape(), (std::vector<std::uint64_t>{1, 5}));
  EXPECT_EQ(Slice("1,2,3").of(kU).shape(), std::vector<std::uint64_t>());
  EXPECT_EQ(Slice("0:4:3").of(kU).shape(), (std::vector<std::uint64_t>{2, 3, 5}));
  EXPECT_EQ(Slice().of({.name = "alpha"}).entries(), 1u);
}

TEST(SliceTest, WhatLiesOutsideIsRefusedNamingTheDimension) {
  EXPECT_EQ(
      failure_line([] { Slice("0,3").of(kU); }),
      "--slice: found '3' for dimension 1 of 'u', expected an index from 0 to 2, or start:stop with start < stop, "
      "up to 3");
  EXPECT_NE(failure_line([] { Slice("0:5").of(kU); }), "");
  EXPECT_NE(failure_line([] { Slice("2:2").of(kU); }), "");
  EXPECT_EQ(failure_line([] { Slice("0,0,0,0").of(kU); }), "--slice: found 4 dimensions, 'u' has 3 (u i32[4,3,5])");
  for (const char* text : {"", "a", "-1", "1:2:0", "1:2:3:4", "1,", "0x1"}) {
    EXPECT_NE(failure_line([&] { const Slice slice(text); }), "") << text;
  }
}

}  // namespace
}  // namespace ringside
