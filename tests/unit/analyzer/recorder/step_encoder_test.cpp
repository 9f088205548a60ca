// SPDX-License-Identifier: BSD-3-Clause
// The encoder of steps is compared with the Protocol Buffers library, byte by byte.
#include "analyzer/recorder/step_encoder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/records/record_message.hpp"
#include "tests/unit/common/records/some_runs.hpp"

namespace ringside {
namespace {

/// A number of any length; often one of those at which the encoding changes.
std::uint64_t any_number(std::mt19937_64& draw) {
  switch (draw() % 8) {
    case 0: return 0;
    case 1: return std::numeric_limits<std::uint64_t>::max();
    case 2: return std::uint64_t{1} << 7 * (draw() % 10);
    default: return draw() >> (draw() % 64);
  }
}

/// Every byte is drawn, so that figures that a later version adds are compared, too.
StepFigures any_figures(std::mt19937_64& draw) {
  static_assert(sizeof(StepFigures) % sizeof(std::uint64_t) == 0);
  std::uint64_t words[sizeof(StepFigures) / sizeof(std::uint64_t)];
  for (std::uint64_t& word : words) word = any_number(draw);
  StepFigures figures;
  std::memcpy(static_cast<void*>(&figures), words, sizeof figures);
  figures.broke_lease = draw() % 2 == 0;
  figures.rebuilt = draw() % 2 == 0;
  return figures;
}

std::vector<std::uint64_t> any_values(const RecordLayout& layout, std::mt19937_64& draw) {
  std::vector<std::uint64_t> words(layout.words());
  for (std::uint64_t& word : words) word = any_number(draw);
  const ColumnCounts& counts = layout.counts();
  for (std::size_t i = 0; i < counts.absence_words(); ++i) words[i] = draw() % 2 == 0 ? 0 : draw();
  if (counts.values() % 64 != 0) words[counts.absence_words() - 1] &= (std::uint64_t{1} << counts.values() % 64) - 1;
  return words;
}

SharedLayout layout_of_many() {
  std::vector<Variable> variables;
  for (int i = 0; i < 40; ++i) variables.push_back({.name = "v" + std::to_string(i), .shape = {3}});
  const Schema schema = Schema::of(variables);
  return std::make_shared<const RecordLayout>(schema, catalogue_of(schema, {}));
}

SharedLayout layout_without_results() {
  const Schema schema = Schema::of({{.name = "s", .shape = {3}, .role = Role::kState}});
  return std::make_shared<const RecordLayout>(schema, catalogue_of(schema, {}));
}

TEST(StepEncoderTest, ItsBytesAreThoseOfTheLibraryInRunsOfDifferentWidths) {
  std::mt19937_64 draw(1);
  StepEncoder encoder;
  const SharedLayout layouts[] = {testing::mixed_layout(), layout_of_many(), layout_without_results()};
  for (int round = 0; round < 3000; ++round) {
    const RecordLayout& layout = *layouts[draw() % std::size(layouts)];
    const StepFigures figures = any_figures(draw);
    const std::vector<std::uint64_t> values = any_values(layout, draw);
    wire::Record expected;
    expected.set_seq(any_number(draw));
    expected.set_unix_ns(static_cast<std::int64_t>(any_number(draw)));
    fill(*expected.mutable_step(), figures, layout, values);
    ASSERT_EQ(encoder.encode(expected.seq(), expected.unix_ns(), figures, layout, values), expected.SerializeAsString())
        << expected.ShortDebugString();
  }
}

}  // namespace
}  // namespace ringside
