// SPDX-License-Identifier: BSD-3-Clause
// A step's state as a message: it is received as it was sent, and takes less than a kilobyte for a typical field. A
// message that no node of the run would send is refused.
#include "analyzer/whole_run/round_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "common/reductions/kernels/reduction_table.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kEntries = 2'000'000'000;

/// The plan of node 0 of two nodes.
RoundPlan plan(DType dtype, bool in_boxes) {
  return {.attachment = Id128{7, 8},
          .problem_id = Id128{3, 4},
          .node = 0,
          .nodes = 2,
          .next_address = {},
          .next_key = {},
          .previous_key = {},
          .ranks = {},
          .regions = {},
          .whole = Schema::of({{.name = "x", .dtype = dtype, .shape = {kEntries}}}),
          .places = {PartPlace{.first = 0, .in_boxes = in_boxes}},
          .has_results = {true},
          .in_boxes = {in_boxes}};
}

/// The state of a step after node 0 has added its part.
RoundState state() {
  RoundState made;
  made.step = made.iteration = 1'000'000'000;
  made.node = 1;
  made.has_figures = true;
  made.figures.transfer_ns = 1'000'000'000;
  made.fields.resize(1);
  return made;
}

/// Entries like those of a solver: they have many different magnitudes, and their changes are small compared with them.
RoundState state_of_boxes(bool is_integer) {
  RoundState made = state();
  WholeField& field = made.fields[0];
  field.entries = kEntries / 2;
  field.min = -1.5;
  field.max = 1000;
  field.change_linf = 1e-3;
  field.exact.sum = -123;
  field.exact_sums = std::make_unique<ExactSums>();
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  ExactAdder adder;
  for (int block = 0; block < 20; ++block) {
    std::vector<double> x(kReductionBlockRows);
    std::vector<double> change(kReductionBlockRows);
    for (double& entry : x) entry = normal(random);
    for (double& entry : change) entry = normal(random) * 1e-6;
    adder.add(x.data(), change.data(), x.size(), is_integer, *field.exact_sums);
  }
  return made;
}

wire::RoundStep message_of(const RoundPlan& plan, const RoundState& state) {
  wire::RoundStep message;
  write(plan, state, message);
  return message;
}

TEST(RoundMessageTest, MessagesOfAnotherAttachmentAreIgnored) {
  RoundPlan other = plan(DType::kF64, false);
  other.attachment = Id128{9, 9};
  RoundState sent;
  sent.node = 1;
  sent.lost_by = 0;
  RoundState found;
  EXPECT_FALSE(read(plan(DType::kF64, false), message_of(other, sent), found));
  wire::RoundStep message = message_of(plan(DType::kF64, false), sent);
  EXPECT_TRUE(read(plan(DType::kF64, false), message, found));
  EXPECT_EQ(found.lost_by, 0u);
  message.set_node(3);
  EXPECT_FALSE(read(plan(DType::kF64, false), message, found)) << "there are two nodes";
}

TEST(RoundMessageTest, NumbersThatAreSentAsDifferencesArriveAsTheyWere) {
  RoundState sent = state();
  sent.iteration = 7;  // smaller than the step, so that the difference is negative
  sent.collected = sent.step - 300;
  sent.again = true;
  sent.figures.steps_committed = 3;
  sent.figures.steps_persisted = 0;
  RoundState found;
  wire::RoundStep message = message_of(plan(DType::kF64, false), sent);
  ASSERT_TRUE(read(plan(DType::kF64, false), message, found));
  EXPECT_EQ(found.step, sent.step);
  EXPECT_EQ(found.iteration, 7u);
  EXPECT_EQ(found.collected, sent.collected);
  EXPECT_TRUE(found.again);
  EXPECT_EQ(found.figures.steps_committed, 3u);
  EXPECT_EQ(found.figures.steps_persisted, 0u);
  message.set_not_collected(sent.step + 1);
  EXPECT_FALSE(read(plan(DType::kF64, false), message, found)) << "no step is before the first one";
}

TEST(RoundMessageTest, AStateTakesLessThanAKilobyteOnTheNetwork) {
  RoundState sent = state();
  const std::vector<double> head(1000, 1.5);
  const std::vector<std::uint64_t> values(kRealFieldWords);
  FieldPart part;
  part.entries = 1000;
  part.head = part.head_change = head;
  part.values = values;
  part.has_change = true;
  sent.fields[0].take(part);
  EXPECT_LE(message_of(plan(DType::kF64, false), sent).ByteSizeLong(), 1024u);
  EXPECT_LE(message_of(plan(DType::kF64, true), state_of_boxes(false)).ByteSizeLong(), 512u);
}

TEST(RoundMessageTest, ExactSumsArriveAsTheyWereSent) {
  for (const DType dtype : {DType::kF64, DType::kI64}) {
    RoundState sent = state_of_boxes(dtype == DType::kI64);
    sent.fields[0].exact_sums->negative = {};
    sent.fields[0].exact_sums->changes.add(1, 0);  // the lowest bit and the highest bit that a sum can have
    sent.fields[0].exact_sums->changes.words[ExactSum::kWords - 1] = 1;
    sent.fields[0].exact_sums->squares.met = ExactSum::kInfinite | ExactSum::kNan;
    RoundState found;
    ASSERT_TRUE(read(plan(dtype, true), message_of(plan(dtype, true), sent), found));
    ASSERT_NE(found.fields[0].exact_sums, nullptr);
    EXPECT_EQ(*found.fields[0].exact_sums, *sent.fields[0].exact_sums);
    EXPECT_EQ(found.fields[0].entries, sent.fields[0].entries);
  }
}

TEST(RoundMessageTest, ExactSumsThatNoNodeSendsAreRefused) {
  const RoundPlan boxes = plan(DType::kF64, true);
  const wire::RoundStep good = message_of(boxes, state_of_boxes(false));
  const auto is_taken = [&](const std::function<void(wire::RoundField&)>& change) {
    wire::RoundStep message = good;
    change(*message.mutable_fields(0));
    RoundState found;
    return read(boxes, message, found);
  };
  EXPECT_TRUE(is_taken([](wire::RoundField&) {}));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.mutable_exact_sum(0)->set_first_word(33); }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.mutable_exact_sum(0)->set_first_word(0xFFFF'FFFF); }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) {
    for (std::size_t w = 0; w <= ExactSum::kWords; ++w) field.mutable_exact_sum(1)->add_word(1);
  }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.mutable_exact_sum(2)->set_met(4); }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.add_exact_sum(); })) << "one too many";
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.mutable_exact_sum()->RemoveLast(); }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.clear_exact_sum(); }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.add_number(1.5); })) << "one too many";
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.mutable_number()->RemoveLast(); }));
  EXPECT_FALSE(is_taken([](wire::RoundField& field) { field.set_entries(kEntries + 1); }));
  RoundState found;
  EXPECT_FALSE(read(plan(DType::kF64, false), good, found)) << "a field that is not in boxes";
  EXPECT_FALSE(read(boxes, message_of(plan(DType::kF64, false), state()), found));
}

TEST(RoundMessageTest, SumsThatAreFullOverflowWithoutHarm) {
  const RoundPlan boxes = plan(DType::kF64, true);
  RoundState sent = state_of_boxes(false);
  for (ExactSum* const sum : sent.fields[0].exact_sums->all()) std::ranges::fill(sum->words, ~std::uint64_t{0});
  RoundState found;
  ASSERT_TRUE(read(boxes, message_of(boxes, sent), found)) << "which words are possible is not checked";
  ExactSums& sums = *found.fields[0].exact_sums;
  sums.add(ExactSums(sums));
  EXPECT_TRUE(std::isinf(sums.l1()));
  EXPECT_EQ(sums.sum(), 0.0);
}

}  // namespace
}  // namespace ringside
