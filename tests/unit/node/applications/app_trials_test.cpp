// SPDX-License-Identifier: BSD-3-Clause
// Programs that run in turn, with a script in place of ringside-memory: the order of the runs, equal results, and every
// n/a with its reason.
#include "node/applications/app_trials.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "common/platform/error.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 1> kNeedsShell = {"sh"};

/// A program that prints the sum of its argument.
App summing() {
  App app;
  app.name = "summing";
  app.needs = kNeedsShell;
  app.workers = AppWorkers::kThreads;
  app.command = [](const AppJob& job) {
    const std::string script = "echo $(($1 + $OMP_NUM_THREADS)) $RINGSIDE_STUB";
    return AppCommand{{}, "sh", {"-c", script, "sum", std::to_string(job.bytes)}};
  };
  return app;
}

class AppTrials : public ::testing::Test {
 protected:
  /// The places, with a script in place of ringside-memory. The script runs `does` for the words after "--", and writes
  /// an account to the file that --account names.
  AppPlaces places_with(const std::string& does) {
    const std::string program = folder_.write(
        "ringside-memory",
        "#!/bin/sh\nwhile [ \"$1\" != -- ]; do case $1 in --account=*) f=${1#*=};; esac; shift; done; shift\n"
        "echo '{\"total\":{\"read_bytes\":4,\"written_bytes\":2,\"faults\":1,\"far_peak_bytes\":8}}' > $f\n" +
            does + "\n");
    EXPECT_EQ(chmod(program.c_str(), 0755), 0);
    AppsOptions options;
    options.program_folders = {folder_.path()};
    options.far = folder_.path();
    return app_places(options);
  }

  std::vector<AppSetting> run(const App& app, const AppPlaces& places, int repeats = 2) {
    return run_app(app, {{1, 100, false}, {2, 100, false}}, configurations_of(dram_sizes_of({"50%", "8M"})), repeats,
                   places, [this](const std::string& line) { lines_.push_back(line); });
  }

  testing::TemporaryFolder folder_;
  std::vector<std::string> lines_;
};

TEST_F(AppTrials, EverySettingHasItsRunsInTurn) {
  const std::vector<AppSetting> settings = run(summing(), places_with("exec \"$@\""));
  ASSERT_EQ(settings.size(), 8U);
  for (const std::size_t s : {0U, 2U, 3U, 4U, 6U, 7U}) {
    EXPECT_EQ(settings[s].runs.size(), 2U) << settings[s].reason;
    EXPECT_EQ(settings[s].runs.back().traffic.has_value(), s % 4 > 1);
  }
  EXPECT_EQ(settings[2].runs.front().traffic->read_bytes, 4);
  EXPECT_EQ(settings[3].dram_bytes, std::uint64_t{8} << 20);
  EXPECT_EQ(settings[1].reason, "this program cannot place its memory in a file");
  ASSERT_EQ(lines_.size(), 12U);
  EXPECT_EQ(lines_[0], "apps: summing, 1 worker(s), all DRAM, run 1 of 2");
  EXPECT_EQ(lines_[3], "apps: summing, 2 worker(s), all DRAM, run 1 of 2");
  EXPECT_EQ(lines_[6], "apps: summing, 1 worker(s), all DRAM, run 2 of 2");
}

TEST_F(AppTrials, AnotherResultInAMemoryIsAnErrorThatNamesIt) {
  try {
    (void)run(summing(), places_with("RINGSIDE_STUB=wrong exec \"$@\""));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDamaged);
    expect_has(std::string(error.what()), {"apps: summing of 100 with 1 worker(s), DRAM 50 %: found the result "});
  }
}

TEST_F(AppTrials, ARunThatFailsIsNotAvailableWithItsFirstLineAndIsNotRepeated) {
  const std::vector<AppSetting> settings =
      run(summing(), places_with("echo 'ringside-memory: no userfaultfd' >&2; echo more >&2; exit 3"));
  EXPECT_EQ(settings[2].reason, "it ended with exit code 3: ringside-memory: no userfaultfd");
  EXPECT_TRUE(settings[2].runs.empty());
  EXPECT_EQ(settings[0].runs.size(), 2U);
  EXPECT_EQ(lines_.size(), 8U);
}

TEST_F(AppTrials, WithoutRingsideMemoryOnlyDramIsMeasured) {
  AppPlaces places = places_with("exit 1");
  places.ringside_memory.clear();
  const std::vector<AppSetting> settings = run(summing(), places, 1);
  EXPECT_EQ(settings[2].reason, "ringside-memory was not found beside ringside nor in PATH");
  EXPECT_EQ(settings[0].runs.size(), 1U);
}

TEST_F(AppTrials, AProgramThatFailsInDramHasNoOtherMemory) {
  App failing = summing();
  failing.command = [](const AppJob&) { return AppCommand{{}, "sh", {"-c", "exit 7"}}; };
  const std::vector<AppSetting> settings = run(failing, places_with("exec \"$@\""));
  EXPECT_EQ(settings[0].reason, "it ended with exit code 7");
  EXPECT_EQ(settings[2].reason, "the program does not run with all its data in DRAM");
}

TEST_F(AppTrials, FarMemoryInPlaceNeedsATierWithoutAPageCacheAndNoEmulation) {
  App app = summing();
  AppPlaces places = places_with("");
  EXPECT_EQ(why_not_in_place(app, places), "this program cannot place its memory in a file");
  app.in_place = true;
  places.far.kind = TierKind::kDax;
  EXPECT_EQ(why_not_in_place(app, places), "");
  places.far.kind = TierKind::kPageCache;
  EXPECT_EQ(why_not_in_place(app, places), "far memory on a disk is read through the page cache, not in place");
  places.far.kind = TierKind::kTmpfs;
  places.timing = "optane";
  EXPECT_EQ(why_not_in_place(app, places),
            "the emulation slows down copies, and far memory without a cache needs no copies");
}

TEST_F(AppTrials, EmulatedTimingOnADiskIsRefused) {
  AppsOptions options;
  options.far = folder_.path();
  if (app_places(options).far.kind != TierKind::kPageCache) GTEST_SKIP() << "the temporary folder is not on a disk";
  options.timing = "optane";
  EXPECT_THROW((void)app_places(options), Error);
}

TEST_F(AppTrials, TheFarFolderIsEmptyAfterwardsAndMissingProgramsAreNamed) {
  (void)run(summing(), places_with("exec \"$@\""), 1);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) ++files;
  EXPECT_EQ(files, 1U);  // the script
  App app = summing();
  constexpr std::array<std::string_view, 3> kNeeds = {"sh", "no-such-a", "no-such-b"};
  app.needs = kNeeds;
  EXPECT_EQ(missing_programs(app, places_with("")), "no-such-a, no-such-b");
}

}  // namespace
}  // namespace ringside
