// SPDX-License-Identifier: BSD-3-Clause
// The notes about plug-ins that an analyzer leaves, read by its successor.
#include "common/reductions/plug_ins/plug_in_notes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr Id128 kRun{1, 2};
const std::vector<Id128> kPlugIns = {{7, 7}, {8, 8}};

class PlugInNotesTest : public ::testing::Test {
 protected:
  /// Acts as an analyzer of the run that ends while it calls plug-in `plug_in`, and that leaves `note`, if there is
  /// one.
  void ends_inside(std::uint32_t plug_in, std::optional<PlugInEnd> note, bool makes_a_step = false) {
    PlugInNotes notes(path_);
    notes.begin_run(kRun, kPlugIns);
    if (makes_a_step) notes.step_done();
    notes.cell(3).plug_in.store(plug_in + 1);
    if (note) notes.note_end(plug_in, *note);
  }
  std::vector<PlugInDeath> found(const Id128& run = kRun, const std::vector<Id128>& ids = kPlugIns) {
    return PlugInNotes(path_).begin_run(run, ids);
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.file("notes");
};

TEST_F(PlugInNotesTest, ANotedEndCountsAtOnce) {
  ends_inside(1, PlugInEnd{11});
  const auto deaths = found();
  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(deaths[0].plug_in, 1u);
  EXPECT_EQ(deaths[0].deaths, 1u);
  EXPECT_EQ(to_text(deaths[0].how), "signal 11 (Segmentation fault)");
  EXPECT_TRUE(found().empty());  // a note is read only once
}

TEST_F(PlugInNotesTest, AnEndWithoutANoteCountsOnlyIfItIsTheSecondWithoutAStepBetween) {
  ends_inside(0, std::nullopt);
  EXPECT_TRUE(found().empty());
  ends_inside(0, std::nullopt, true);
  EXPECT_TRUE(found().empty());
  ends_inside(0, std::nullopt);
  const auto deaths = found();
  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(deaths[0].how, PlugInEnd::kUnknown);
}

TEST_F(PlugInNotesTest, AnotherRunAndAnotherBuildOfThePlugInBeginAnew) {
  ends_inside(0, PlugInEnd::kHang);
  EXPECT_TRUE(found({9, 9}).empty());
  ends_inside(0, PlugInEnd::kHang);
  EXPECT_TRUE(found(kRun, {{7, 8}, {8, 8}}).empty());
  EXPECT_TRUE(found().empty());
}

TEST_F(PlugInNotesTest, TheFileIsTheUsersAlone) {
  PlugInNotes notes(path_);
  EXPECT_EQ(testing::mode_of(path_), 0600u);
}

}  // namespace
}  // namespace ringside
