// SPDX-License-Identifier: BSD-3-Clause
// Plug-ins with fields of every dtype: the entries that they receive, the order in which their states are merged, and
// the memory to which they must not write.
#include "common/reductions/plug_ins/field_plug_ins.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "common/platform/error.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/results/result_values.hpp"
#include "tests/unit/common/reductions/field_cases.hpp"

namespace ringside {
namespace {

constexpr std::size_t kEntries = 5 * kReductionBlockRows + 77;  // six blocks, the last of them shorter
constexpr double kTimeoutS = 100;

std::string sample(const std::string& name) {
  return std::string(SAMPLE_PLUG_INS) + ":" + name;
}

/// A field of each dtype.
Schema every_field() {
  std::vector<Variable> variables;
  for (const DType dtype : every_dtype()) {
    variables.push_back({.name = "v_" + std::string(to_string(dtype)), .dtype = dtype, .shape = {kEntries}});
  }
  return Schema::of(variables);
}

/// Small whole numbers, which every dtype can represent.
std::vector<CacheLine> payload_of(const Schema& schema, unsigned seed) {
  std::vector<CacheLine> payload(schema.payload_bytes() / sizeof(CacheLine) + 1);
  for (std::size_t v = 0; v < schema.size(); ++v) {
    std::byte* const at = reinterpret_cast<std::byte*>(payload.data()) + schema.place(v).offset;
    reference::with_type_of(schema.variables()[v].dtype, [&](auto entry) {
      for (std::size_t i = 0; i < kEntries; ++i) {
        entry = static_cast<decltype(entry)>(static_cast<float>((i * 7 + seed * 13) % 100));
        std::memcpy(at + i * sizeof entry, &entry, sizeof entry);
      }
    });
  }
  return payload;
}

/// The result of the reduction `order` for the numbers of payload_of, computed block by block.
double order_of(unsigned seed) {
  double total = 0;
  for (std::size_t first = 0; first < kEntries; first += kReductionBlockRows) {
    double sum = 0;
    for (std::size_t i = first; i < std::min(first + kReductionBlockRows, kEntries); ++i) {
      sum += static_cast<double>((i * 7 + seed * 13) % 100);
    }
    total = first == 0 ? sum : total / 2 + sum;
  }
  return total;
}

/// The words of a step that is reduced while it is copied, from the last chunk to the first.
std::vector<std::uint64_t> while_copied(StepReducer& reducer, const std::vector<CacheLine>& payload,
                                        const void* previous) {
  const Schema& schema = reducer.schema();
  std::vector<CacheLine> slot(payload.size());
  reducer.begin(previous);
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const std::uint64_t bytes = schema.place(v).bytes;
    const std::uint64_t chunks = (bytes + StepReducer::kMostBytes - 1) / StepReducer::kMostBytes;
    for (std::uint64_t chunk = chunks; chunk-- > 0;) {
      const std::uint64_t begin = chunk * StepReducer::kMostBytes;
      const std::uint64_t count = std::min<std::uint64_t>(StepReducer::kMostBytes, (bytes - begin + 7) / 8 * 8);
      const std::uint64_t at = schema.place(v).offset + begin;
      reducer.copy_nontemporal(chunk % reducer.threads(), v, reinterpret_cast<std::byte*>(slot.data()) + at,
                               reinterpret_cast<const std::byte*>(payload.data()) + at, begin, count);
    }
  }
  const auto words = reducer.finish(slot.data()->bytes, 1);
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariablePlace& place = schema.place(v);
    EXPECT_EQ(std::memcmp(reinterpret_cast<std::byte*>(slot.data()) + place.offset,
                          reinterpret_cast<const std::byte*>(payload.data()) + place.offset, place.bytes),
              0);
  }
  return {words.begin(), words.end()};
}

TEST(FieldPlugInsTest, BlocksAreMergedInTheirOrderForAnyNumberOfThreadsAndBothModes) {
  const Schema schema = every_field();
  const auto payload = payload_of(schema, 1);
  const auto previous = payload_of(schema, 2);
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    const std::vector<std::string> specs = {sample("order"), sample("seen"), sample("moved")};
    PlugInSet set(specs, kTimeoutS);
    StepReducer reducer(schema, &set);
    const auto swept = reducer.reduce(payload.data()->bytes, previous.data()->bytes, 2);
    const std::vector<std::uint64_t> in_slot(swept.begin(), swept.end());
    EXPECT_EQ(in_slot, while_copied(reducer, payload, previous.data()->bytes)) << threads;
    const ResultValues values{in_slot};
    for (const Variable& variable : schema.variables()) {
      const auto find = [&](const char* name) { return reducer.catalogue().find(variable.name + name); };
      ASSERT_NE(find(".order"), nullptr);
      EXPECT_EQ(values.f64(*find(".order")), order_of(1)) << variable.name;
      EXPECT_EQ(values.i64(*find(".seen.entries")), static_cast<std::int64_t>(kEntries)) << variable.name;
      EXPECT_EQ(values.i64(*find(".seen.both"), 0), 6);
      EXPECT_EQ(values.i64(*find(".seen.both"), 1), static_cast<std::int64_t>(kEntries * (kEntries - 1) / 2));
      EXPECT_EQ(values.i64(*find(".moved")), static_cast<std::int64_t>(kEntries)) << variable.name;
    }
  }
}

TEST(FieldPlugInsTest, OurOwnReductionsHaveTheBitsThatTheyHaveWithoutPlugIns) {
  const Schema schema = every_field();
  const auto payload = payload_of(schema, 3);
  const std::vector<std::string> specs = {sample("order")};
  PlugInSet set(specs, kTimeoutS);
  StepReducer with(schema, &set);
  StepReducer without(schema);
  const ResultValues found(with.reduce(payload.data()->bytes, nullptr, 1));
  const ResultValues expected(without.reduce(payload.data()->bytes, nullptr, 1));
  for (const Result& own : without.catalogue().results()) {
    const Result* const same = with.catalogue().find(own.full_name);
    ASSERT_NE(same, nullptr) << own.full_name;
    EXPECT_EQ(found.present(*same), expected.present(own)) << own.full_name;
    for (std::uint64_t w = 0; w < own.count * words_of(own.type); ++w) {
      EXPECT_EQ(found.words()[same->word + w], expected.words()[own.word + w]) << own.full_name;
    }
  }
}

TEST(FieldPlugInsTest, ResultsAreAbsentWithoutTheStepBeforeAndIfThePlugInSaysSo) {
  const Schema schema = Schema::x_only(kEntries);
  const auto payload = payload_of(schema, 1);
  const std::vector<std::string> specs = {sample("moved")};
  PlugInSet set(specs, kTimeoutS);
  StepReducer reducer(schema, &set);
  const Result moved = *reducer.catalogue().find("x.moved");
  EXPECT_FALSE(ResultValues(reducer.reduce(payload.data()->bytes, nullptr, 1)).present(moved));
  EXPECT_FALSE(ResultValues(reducer.reduce(payload.data()->bytes, payload.data()->bytes, 1)).present(moved));
  const auto other = payload_of(schema, 2);
  EXPECT_TRUE(ResultValues(reducer.reduce(payload.data()->bytes, other.data()->bytes, 1)).present(moved));
}

// With AddressSanitizer, the store itself is reported.
TEST(FieldPlugInsTest, APlugInThatWritesBehindItsStateIsFound) {
  const Schema schema = Schema::x_only(kEntries);
  const auto payload = payload_of(schema, 1);
  const std::vector<std::string> specs = {sample("outside"), sample("order")};
  PlugInSet set(specs, kTimeoutS);
  StepReducer reducer(schema, &set);
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(reducer.reduce(payload.data()->bytes, nullptr, 1), "use-after-poison|heap-buffer-overflow");
#else
  const ResultValues values(reducer.reduce(payload.data()->bytes, nullptr, 1));
  EXPECT_FALSE(values.present(*reducer.catalogue().find("x.outside")));
  EXPECT_EQ(values.f64(*reducer.catalogue().find("x.order")), order_of(1));
  EXPECT_TRUE(set.left_out(0));
  EXPECT_FALSE(set.left_out(1));
  EXPECT_EQ(set.states()[0].why, "it wrote outside its state");
#endif
}

TEST(FieldPlugInsTest, ANameThatOurOwnReductionsHaveIsRefused) {
  const std::vector<std::string> specs = {sample("order:as=l2")};
  PlugInSet set(specs, kTimeoutS);
  EXPECT_THROW(StepReducer(Schema::x_only(kEntries), &set), Error);
}

}  // namespace
}  // namespace ringside
