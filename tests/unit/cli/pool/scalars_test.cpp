// SPDX-License-Identifier: BSD-3-Clause
// The scalars of a step in its record, in the ring and in comparisons: a field that one place has, all have.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analyzer/journal/step_record.hpp"
#include "cli/pool/journal_summary.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

using google::protobuf::FieldDescriptor;

/// A value that differs from the field's.
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

Reductions some_reductions() {
  Reductions r{};
  r.rows = 9;
  double value = 1;
  for_each_scalar([&](const char*, auto, auto reduction) {
    using Value = std::remove_reference_t<decltype(r.*reduction)>;
    r.*reduction = static_cast<Value>(value++);
  });
  r.has_change = 1;
  return r;
}

StepFigures some_figures() {
  StepFigures figures;
  figures.run_id = {1, 2};
  figures.reductions = scalars_of(some_reductions());
  return figures;
}

TEST(ScalarsTest, TheListHasTheFieldsOfTheRecordAndNoOthers) {
  std::set<std::string> listed;
  for_each_scalar([&](const char* name, auto, auto) { listed.insert(name); });
  std::set<std::string> recorded;
  const google::protobuf::Descriptor& shape = *wire::Reductions::descriptor();
  for (int i = 0; i < shape.field_count(); ++i) recorded.insert(shape.field(i)->name());
  EXPECT_EQ(listed, recorded);
}

TEST(ScalarsTest, EveryScalarComesThroughItsRecord) {
  wire::StepRecord record;
  fill(record, some_figures());
  const google::protobuf::Descriptor& shape = *wire::Reductions::descriptor();
  for (int i = 0; i < shape.field_count(); ++i) {
    const FieldDescriptor& field = *shape.field(i);
    EXPECT_TRUE(record.reductions().GetReflection()->HasField(record.reductions(), &field)) << field.name();
    wire::StepRecord changed = record;
    change(*changed.mutable_reductions(), field);
    wire::StepRecord again;
    fill(again, *figures_of(changed));
    EXPECT_EQ(again.SerializeAsString(), changed.SerializeAsString()) << field.name();
  }
}

TEST(ScalarsTest, EveryScalarThatDiffersFromTheJournalIsNamed) {
  const Reductions recomputed = some_reductions();
  wire::StepRecord record;
  fill(record, some_figures());
  EXPECT_TRUE(differences(*figures_of(record), recomputed).empty());
  const google::protobuf::Descriptor& shape = *wire::Reductions::descriptor();
  for (int i = 0; i < shape.field_count(); ++i) {
    const FieldDescriptor& field = *shape.field(i);
    if (field.name() == "has_change") continue;  // the change is compared only if both have one
    wire::StepRecord changed = record;
    change(*changed.mutable_reductions(), field);
    const std::vector<FieldDifference> found = differences(*figures_of(changed), recomputed);
    ASSERT_EQ(found.size(), 1u) << field.name();
    EXPECT_EQ(found[0].field, field.name());
  }
}

}  // namespace
}  // namespace ringside
