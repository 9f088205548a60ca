// SPDX-License-Identifier: BSD-3-Clause
// The scalars of a step in its record, in the ring and in comparisons: all three must have the same fields.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cli/pool/journal_summary.hpp"
#include "common/records/result_names.hpp"
#include "proto/ringside.pb.h"
#include "tests/unit/common/records/some_runs.hpp"

namespace ringside {
namespace {

using google::protobuf::FieldDescriptor;

/// Gives the field another value.
void change(google::protobuf::Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      reflection.SetDouble(&message, &field, reflection.GetDouble(message, &field) + 1);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      reflection.SetUInt64(&message, &field, reflection.GetUInt64(message, &field) + 1);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(&message, &field, !reflection.GetBool(message, &field));
      break;
    default: ADD_FAILURE() << field.name() << " has a type this test does not know";
  }
}

TEST(ScalarsTest, TheListHasTheFieldsOfTheRecordAndNoOthers) {
  std::set<std::string> listed;
  for_each_scalar([&](const char* name, auto, auto) { listed.insert(name); });
  std::set<std::string> recorded;
  const google::protobuf::Descriptor& shape = *wire::Reductions::descriptor();
  for (int i = 0; i < shape.field_count(); ++i) recorded.insert(shape.field(i)->name());
  EXPECT_EQ(listed, recorded);
}

TEST(ScalarsTest, EveryScalarOfAStepFromBeforeThereWereNamesIsRead) {
  const google::protobuf::Descriptor& shape = *wire::Reductions::descriptor();
  wire::StepRecord record;
  for (int i = 0; i < shape.field_count(); ++i) change(*record.mutable_reductions(), *shape.field(i));
  const auto words_of = [](const wire::StepRecord& step) {
    const StepResults results = ResultNames().results(step);
    return std::vector<std::uint64_t>(results.words().begin(), results.words().end());
  };
  for (int i = 0; i < shape.field_count(); ++i) {
    wire::StepRecord changed = record;
    change(*changed.mutable_reductions(), *shape.field(i));
    EXPECT_NE(words_of(changed), words_of(record)) << shape.field(i)->name();
  }
}

TEST(ScalarsTest, EveryReductionThatDiffersFromTheJournalIsNamed) {
  const SharedLayout layout = testing::mixed_layout();
  const std::vector<std::uint64_t> words = testing::mixed_words(*layout);
  const StepResults recomputed(layout, words);
  EXPECT_TRUE(differences({.figures = {}, .results = recomputed}, recomputed).empty());
  for (const RecordedResult& recorded : layout->results()) {
    std::vector<std::uint64_t> changed = words;
    changed[recorded.word + words_of(recorded.result->type) - 1] ^= 1;
    const auto found = differences({.figures = {}, .results = StepResults(layout, changed)}, recomputed);
    if (recorded.result->source == ResultSource::kScalar) {
      EXPECT_TRUE(found.empty()) << "nothing recomputes what a solver said";
      continue;
    }
    ASSERT_EQ(found.size(), 1u) << recorded.result->full_name;
    EXPECT_EQ(found[0].name, recorded.result->full_name);
    EXPECT_NE(found[0].recorded, found[0].recomputed);
  }
}

TEST(ScalarsTest, OnlyAChangeOrARebuiltRecordMayLackWhatIsRecomputed) {
  const SharedLayout layout = testing::mixed_layout();
  const StepResults recomputed(layout, testing::mixed_words(*layout));
  std::vector<std::uint64_t> none(layout->words());
  layout->gather({}, nullptr, none);
  RecordedStep step{.figures = {}, .results = StepResults(layout, none)};
  const auto found = differences(step, recomputed);
  EXPECT_EQ(found.size(), 11u + 11u + 10u - 3 * 3);
  for (const ResultDifference& one : found) EXPECT_EQ(one.recorded, "-");
  step.figures.rebuilt = true;
  EXPECT_TRUE(differences(step, recomputed).empty());
}

}  // namespace
}  // namespace ringside
