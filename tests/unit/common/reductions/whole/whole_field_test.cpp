// SPDX-License-Identifier: BSD-3-Clause
// A field in parts on several nodes has results that are bit-equal to those on one node: for every dtype, every kind of
// entry, and all places where the parts may meet. Only if the parts are boxes, the sums are exact sums.
#include "common/reductions/whole/whole_field.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "common/reductions/kernels/reduction_table.hpp"
#include "common/reductions/whole/step_parts.hpp"
#include "common/threads/openmp_team.hpp"
#include "tests/unit/common/reductions/field_cases.hpp"

namespace ringside {
namespace {

/// The bounds of the parts: 0, ..., number of entries.
using Bounds = std::vector<std::uint64_t>;

/// Copies entries [begin, end), with the alignment of a payload, which is a cache line.
std::vector<CacheLine> cut(const std::vector<CacheLine>& whole, std::size_t entry_bytes, std::uint64_t begin,
                           std::uint64_t end) {
  if (whole.empty()) return {};
  std::vector<CacheLine> part((end - begin) * entry_bytes / sizeof(CacheLine) + 1);
  std::memcpy(part.data(), reinterpret_cast<const std::byte*>(whole.data()) + begin * entry_bytes,
              (end - begin) * entry_bytes);
  return part;
}

/// The values of a field without its presence bits, which are separate.
struct Values {
  std::uint64_t presence = 0;
  std::vector<std::uint64_t> words;
};

/// The values of a field in parts. in_boxes: whether the parts count as boxes, although their entries are consecutive.
/// with_previous: this number of parts, counted from the first, have a previous step.
Values in_parts(const FieldCase& c, const Bounds& bounds, bool in_boxes = false, std::size_t with_previous = 1000) {
  OpenMpTeam team;
  WholeField whole;
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
    const std::uint64_t entries = bounds[p + 1] - bounds[p];
    const Schema schema = Schema::of({{.name = "x", .dtype = c.dtype, .shape = {entries}}});
    const auto x = cut(c.x, bytes_of(c.dtype), bounds[p], bounds[p + 1]);
    const auto previous = cut(c.previous, bytes_of(c.dtype), bounds[p], bounds[p + 1]);
    const void* const before = previous.empty() || p >= with_previous ? nullptr : previous.data();
    StepReducer reducer(schema, team);
    const std::optional<PartPlace> place = PartPlace{bounds[p], in_boxes};
    StepParts parts(schema, std::span(&place, 1), team);
    std::vector<std::uint64_t> memory(parts.words());
    const auto results = reducer.reduce(x.data(), before, 1);
    parts.store(reducer, results, x.data(), before, memory);
    whole.take(parts.part(0, memory));
  }
  EXPECT_EQ(whole.entries, c.entries);
  const bool is_integer = class_of(c.dtype) == DTypeClass::kInteger;
  Values values;
  values.words.resize(is_integer ? kIntegerFieldWords : kRealFieldWords);
  values.presence = whole.finish(is_integer, values.words.data());
  return values;
}

Values at_once(const FieldCase& c) {
  StepReducer reducer(Schema::of({{.name = "x", .dtype = c.dtype, .shape = {c.entries}}}));
  const auto words = reducer.reduce(c.bytes(), c.previous_bytes(), 1);
  return {words[0], {words.begin() + 1, words.end()}};
}

std::uint32_t field_class_of(DType dtype) {
  if (class_of(dtype) == DTypeClass::kInteger) return RINGSIDE_CLASS_INTEGER;
  return class_of(dtype) == DTypeClass::kComplex ? RINGSIDE_CLASS_COMPLEX : RINGSIDE_CLASS_REAL;
}

/// Whether two sums of doubles are nearly equal: exact sums differ slightly from those of one process.
bool is_near(double found, double expected, double magnitudes) {
  if (!std::isfinite(expected) || !std::isfinite(magnitudes)) {
    return std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected);
  }
  return std::fabs(found - expected) <= 96 * std::ldexp(magnitudes, -53);
}

/// Expects equal results, except for arrays, which a whole field does not have.
void expect_equal(const Values& found, const Values& expected, DType dtype, bool has_exact_sums = false) {
  const std::uint32_t field_class = field_class_of(dtype);
  const auto f64_of = [field_class](const Values& values, const std::string& name) {
    return std::bit_cast<double>(values.words[place_of(name.c_str(), field_class).word]);
  };
  for (const ringside_reduction& reduction : reduction_table::kReductions) {
    const ValuePlace place = place_of(reduction.name, field_class);
    if (place.type == 0) continue;
    const std::string name = reduction.name;
    const bool is_array = name == "top_row" || name == "top_value" || name == "histogram";
    EXPECT_EQ(found.presence >> place.bit & 1, is_array ? 0 : expected.presence >> place.bit & 1) << name;
    if (is_array) continue;
    const bool is_sum =
        name == "sum" || name == "mean" || name == "l1" || name == "l2" || name == "change_l1" || name == "change_l2";
    if (has_exact_sums && is_sum && place.type == RINGSIDE_VALUE_F64) {
      const std::string magnitudes = name == "sum" || name == "mean" ? "l1" : name;
      if (field_class == RINGSIDE_CLASS_INTEGER && name == "mean") {
        EXPECT_EQ(f64_of(found, name), f64_of(expected, name));
        continue;
      }
      EXPECT_TRUE(is_near(f64_of(found, name), f64_of(expected, name), f64_of(expected, magnitudes)))
          << name << ": " << f64_of(found, name) << " and " << f64_of(expected, name);
      continue;
    }
    for (std::size_t i = 0; i < (place.type == RINGSIDE_VALUE_I128 ? 2u : 1u); ++i) {
      EXPECT_EQ(found.words[place.word + i], expected.words[place.word + i]) << name;
    }
  }
}

/// Different places where parts meet: at blocks, beside blocks, within one block, after single entries, and anywhere.
std::vector<Bounds> many_bounds(std::uint64_t entries) {
  const auto bounded = [entries](std::initializer_list<std::uint64_t> inner) {
    Bounds bounds = {0};
    for (const std::uint64_t bound : inner) {
      if (bound > bounds.back() && bound < entries) bounds.push_back(bound);
    }
    bounds.push_back(entries);
    return bounds;
  };
  std::vector<Bounds> all = {
      bounded({}),           bounded({1024}),       bounded({1023, 1025, 2047}), bounded({1, 2, 3, 17, 500}),
      bounded({2048, 4096}), bounded({1000, 3000}), bounded({entries - 1})};
  std::mt19937_64 random(entries);
  for (int i = 0; i < 4; ++i) {
    Bounds bounds = {0, entries};
    for (int b = 0; b < 5 && entries > 1; ++b) bounds.push_back(1 + random() % (entries - 1));
    std::ranges::sort(bounds);
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    all.push_back(bounds);
  }
  return all;
}

// Uses one thread, because reduction_test tests the number of threads, and many parts have only a few entries.
class WholeFieldTest : public ::testing::TestWithParam<DType> {
 protected:
  WholeFieldTest() { omp_set_num_threads(1); }
  ~WholeFieldTest() override { omp_set_num_threads(omp_get_num_procs()); }
};

TEST_P(WholeFieldTest, PartsHaveTheBitsOfTheWhole) {
  for (const std::size_t entries : {std::size_t{1}, std::size_t{1024}, std::size_t{1500}, std::size_t{9000}}) {
    for (const FieldCase& c : field_cases(GetParam(), entries)) {
      const Values expected = at_once(c);
      for (const Bounds& bounds : many_bounds(c.entries)) {
        SCOPED_TRACE(c.name + ", " + std::to_string(c.entries) + " entries, parts " + ::testing::PrintToString(bounds));
        expect_equal(in_parts(c, bounds), expected, c.dtype);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(WholeFieldTest, BoxesHaveExactSumsThatDoNotDependOnTheParts) {
  for (const std::size_t entries : {std::size_t{1}, std::size_t{1500}, std::size_t{9000}}) {
    for (const FieldCase& c : field_cases(GetParam(), entries)) {
      const Values expected = in_parts(c, {0, c.entries}, true);
      expect_equal(expected, at_once(c), c.dtype, true);
      for (const Bounds& bounds : many_bounds(c.entries)) {
        SCOPED_TRACE(c.name + ", " + std::to_string(c.entries) + " entries, parts " + ::testing::PrintToString(bounds));
        expect_equal(in_parts(c, bounds, true), expected, c.dtype);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDType, WholeFieldTest, ::testing::ValuesIn(every_dtype()),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST(WholeFieldPartsTest, APartWithoutAStepBeforeLeavesTheWholeWithoutAChange) {
  const auto cases = field_cases(DType::kF64, 3000);
  const FieldCase& c = cases.front();
  ASSERT_FALSE(c.previous.empty());
  const std::uint64_t presence = in_parts(c, {0, 2000, 3000}, false, 1).presence;
  EXPECT_EQ(presence >> place_of("change_l1", RINGSIDE_CLASS_REAL).bit & 1, 0);
  EXPECT_EQ(presence >> place_of("change_linf", RINGSIDE_CLASS_REAL).bit & 1, 0);
  EXPECT_EQ(presence >> place_of("l2", RINGSIDE_CLASS_REAL).bit & 1, 1);
}

}  // namespace
}  // namespace ringside
