// SPDX-License-Identifier: BSD-3-Clause
// A run's description of its variables and results, which is recorded once: writing it into a record and reading it
// back.
#include "common/records/record_message.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/common/records/some_runs.hpp"

namespace ringside {
namespace {

using testing::mixed_layout;

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
