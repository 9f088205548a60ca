// SPDX-License-Identifier: BSD-3-Clause
// The values of a step, and the description of the results, which a run gives once, are written into a message and read
// back.
#include "common/records/record_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "common/records/step_results.hpp"
#include "proto/ringside.pb.h"
#include "tests/unit/common/records/some_runs.hpp"

namespace {

std::atomic<std::uint64_t> allocated{0};

void* allocate(std::size_t bytes) {
  ++allocated;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#include "tests/unit/replaced_new.hpp"

namespace ringside {
namespace {

using testing::mixed_layout;
using testing::mixed_words;

TEST(RecordLayoutTest, RecordsCarryTheNumbersOfTheCatalogueAndTheScalarsAndNoArrays) {
  const SharedLayout layout = mixed_layout();
  EXPECT_EQ(layout->results().size(), 11u + 11u + 10u + 3u);
  EXPECT_EQ(layout->find("u.histogram"), nullptr);
  EXPECT_EQ(layout->find("r.l2"), nullptr) << "states are not reduced";
  ASSERT_NE(layout->find("solver.restarts"), nullptr);
  EXPECT_EQ(layout->results().front().result->full_name, "u.sum");
  EXPECT_EQ(layout->results().back().result->full_name, "solver.omega");
}

TEST(RecordLayoutTest, EachValueIsFoundByItsNameWithItsType) {
  const SharedLayout layout = mixed_layout();
  const std::vector<std::uint64_t> recorded = testing::mixed_results(layout->catalogue());
  const StepResults results(layout, mixed_words(*layout));
  const ResultValues expected(recorded);
  for (const RecordedResult& known : layout->results()) {
    if (known.result->source == ResultSource::kScalar) continue;
    EXPECT_EQ(to_text(results.find(known.result->full_name)), to_text(expected, *known.result))
        << known.result->full_name;
  }
  EXPECT_EQ(results.find("solver.rho").f64(), 0.25);
  EXPECT_EQ(results.find("solver.restarts").i64(), -3);
  EXPECT_EQ(results.find("solver.omega").f64(), 1.5);
  EXPECT_FALSE(results.find("u.median").present);
}

TEST(RecordLayoutTest, WhatIsNotRecordedIsAbsent) {
  const SharedLayout layout = mixed_layout();
  std::vector<std::uint64_t> words(layout->words(), ~std::uint64_t{0});
  layout->gather({}, nullptr, words);
  const StepResults results(layout, words);
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_FALSE(results.value(i).present) << results.name(i);
  std::vector<std::uint64_t> first = testing::mixed_results(layout->catalogue());
  const Result* change = layout->catalogue().find("n.change_l1");
  first[change->bit / 64] &= ~(std::uint64_t{1} << (change->bit % 64));
  const StepWithScalars step = testing::mixed_step();
  layout->gather(first, &step, words);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(StepResults(layout, words).value(i).present, results.name(i) != "n.change_l1") << results.name(i);
  }
}

TEST(ResultsMessageTest, ValuesComeBackAsTheyWentAlsoWhereSomeAreAbsent) {
  const SharedLayout layout = mixed_layout();
  std::vector<std::uint64_t> words = mixed_words(*layout);
  wire::Results message;
  for (int round = 0; round < 2; ++round) {
    fill(message, *layout, words);
    EXPECT_EQ(message.absent().empty(), round == 0);
    EXPECT_EQ(message.catalogue(), layout->hash());
    wire::Results read;
    ASSERT_TRUE(read.ParseFromString(message.SerializeAsString()));
    const auto columns = columns_of(read);
    ASSERT_TRUE(columns);
    EXPECT_EQ(columns->counts(), layout->counts());
    EXPECT_TRUE(std::ranges::equal(columns->words(), words));
    layout->gather({}, nullptr, words);
  }
}

TEST(ResultsMessageTest, ASecondStepAllocatesNothing) {
  const SharedLayout layout = mixed_layout();
  const std::vector<std::uint64_t> results = testing::mixed_results(layout->catalogue());
  const StepWithScalars step = testing::mixed_step();
  std::vector<std::uint64_t> words(layout->words());
  wire::Results message;
  std::string bytes;
  const auto record = [&](std::span<const std::uint64_t> of) {
    layout->gather(of, &step, words);
    fill(message, *layout, words);
    bytes.clear();
    message.AppendToString(&bytes);
  };
  record({});
  record(results);
  const std::uint64_t before = allocated;
  record(results);
  EXPECT_EQ(allocated, before);
}

TEST(ResultsMessageTest, ColumnsThatCannotBeThoseOfAStepAreRefused) {
  wire::Results message;
  message.add_i128(1);
  EXPECT_FALSE(columns_of(message)) << "half a value";
  message.add_i128(0);
  EXPECT_TRUE(columns_of(message));
  message.set_absent(std::string(2, '\0'));
  EXPECT_FALSE(columns_of(message)) << "marks of nine values and more";
  message.set_absent("\x02");
  EXPECT_FALSE(columns_of(message)) << "the mark of a second value";
  message.set_absent("\x01");
  EXPECT_TRUE(columns_of(message));
}

TEST(DescribedRunTest, ADescriptionComesBackAsItWent) {
  const SharedLayout layout = mixed_layout();
  wire::RunStarted started;
  describe(started, *layout);
  EXPECT_EQ(started.payload_bytes(), layout->schema().payload_bytes());
  const wire::RunDescribed described = describe_run("0123456789abcdef", *layout);
  for (const SharedLayout& read : {layout_of(started), layout_of(described)}) {
    ASSERT_TRUE(read);
    EXPECT_EQ(read->schema(), layout->schema());
    EXPECT_EQ(read->hash(), layout->hash());
    EXPECT_EQ(read->counts(), layout->counts());
  }
}

TEST(DescribedRunTest, TheLargestDescriptionFitsARecord) {
  std::vector<Variable> variables;
  std::vector<Scalar> scalars;
  const auto name = [](std::size_t index) { return "v" + std::to_string(1000 + index) + std::string(58, 'n'); };
  for (std::size_t v = 0; v < kMostVariables; ++v) {
    const DType dtype = v == 0 ? DType::kF64 : v == 1 ? DType::kC128 : DType::kI64;
    variables.push_back(
        {.name = name(v), .dtype = dtype, .shape = {130, 2, 2, 2, 2, 2, 2, 2}, .unit = std::string(31, 'm')});
  }
  for (std::size_t s = 0; s < kMostScalars; ++s) scalars.push_back({name(s), ValueType::kI64, std::string(31, 'u')});
  const Schema schema = Schema::of(variables);
  const RecordLayout layout(schema, catalogue_of(schema, scalars));
  wire::Record record;
  describe(*record.mutable_run_started(), layout);
  ASSERT_TRUE(layout_of(record.run_started()));
  const std::size_t texts = 24 + 400 + 512;
  EXPECT_LT(record.ByteSizeLong() + texts + 500, std::size_t{64} << 10);
  wire::Record described;
  *described.mutable_run_described() = describe_run("0123456789abcdef", layout);
  EXPECT_LT(described.ByteSizeLong(), std::size_t{64} << 10);
}

TEST(DescribedRunTest, ARunOfSeveralNodesMayHaveMoreBytesThanARingTakes) {
  const Schema whole = Schema::of_whole({{.name = "u", .shape = {kMostPayloadBytes}}});
  const RecordLayout layout(whole, catalogue_of(whole, {}));
  wire::RunStarted started;
  describe(started, layout);
  const SharedLayout read = layout_of(started);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->schema(), whole);
}

TEST(DescribedRunTest, ADescriptionThatNoRunCanHaveIsNone) {
  const auto is_refused = [](const auto& spoil) {
    wire::RunDescribed message = describe_run("0123456789abcdef", *mixed_layout());
    spoil(message);
    return layout_of(message) == nullptr;
  };
  EXPECT_FALSE(is_refused([](wire::RunDescribed&) {}));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.clear_schema(); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_schema(1)->set_dtype("f16"); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_schema(1)->set_role("spectator"); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_schema(1)->set_name("z"); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_schema(1)->set_shape(0, 0); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_results(0)->set_type("f128"); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_results(0)->set_source(""); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_results(0)->set_name(std::string(64, 'a')); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) { m.mutable_results(0)->set_classes(1 << 16 | 1); }));
  EXPECT_TRUE(is_refused([](wire::RunDescribed& m) {
    for (int i = 0; i < 200; ++i) {
      wire::ResultDescription& result = *m.add_results();
      result = m.results(0);
      result.set_name("r" + std::to_string(i));
    }
  })) << "more than a ring describes";
}

}  // namespace
}  // namespace ringside
