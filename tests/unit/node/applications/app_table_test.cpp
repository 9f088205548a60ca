// SPDX-License-Identifier: BSD-3-Clause
// The table of programs: its entries are complete, and command lines depend on sizes and workers.
#include "node/applications/app_table.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "node/applications/proxy_apps.hpp"
#include "node/applications/published_apps.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

AppJob job(std::uint64_t bytes, int workers, bool weak = false) {
  AppJob made;
  made.bytes = bytes;
  made.workers = workers;
  made.weak = weak;
  made.folder = "/work";
  made.input = "/in";
  made.output = "/out";
  return made;
}

bool has(const AppCommand& command, const std::string& word) {
  return std::find(command.arguments.begin(), command.arguments.end(), word) != command.arguments.end();
}

TEST(AppTable, EveryEntryIsCompleteAndItsProgramIsAmongThoseItNeeds) {
  std::set<std::string_view> names;
  for (const App* const one : chosen_apps({})) {
    const App& app = *one;
    EXPECT_TRUE(names.insert(app.name).second) << app.name;
    EXPECT_FALSE(app.does.empty()) << app.name;
    EXPECT_FALSE(app.get.empty()) << app.name;
    ASSERT_NE(app.command, nullptr) << app.name;
    const AppCommand command = app.command(job(64 << 20, 1));
    EXPECT_NE(std::find(app.needs.begin(), app.needs.end(), command.program), app.needs.end()) << app.name;
    if (!command.launcher.empty()) {
      EXPECT_NE(std::find(app.needs.begin(), app.needs.end(), command.launcher.front()), app.needs.end()) << app.name;
    }
    EXPECT_TRUE(app.result != AppResult::kPart || !app.begin.empty()) << app.name;
    EXPECT_TRUE(app.figure.empty() || app.result == AppResult::kChecksum) << app.name;
  }
}

TEST(AppTable, ProgramsAreChosenByNameInTheOrderOfTheTable) {
  const std::vector<const App*> chosen = chosen_apps({"sort", "blackscholes"});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0]->name, "blackscholes");
  EXPECT_EQ(chosen[1]->name, "sort");
  std::set<std::string_view> all;
  for (const App* const app : chosen_apps({})) all.insert(app->name);
  for (const PublishedApp& published : published_apps()) EXPECT_TRUE(all.contains(published.app)) << published.app;
}

TEST(AppTable, AnUnknownProgramIsRefusedWithTheNamesThereAre) {
  expect_has(failure_line([] {
               (void)chosen_apps({"sort", "sorted"});
             }),
             {"--program: found 'sorted', expected names of blackscholes, "});
}

TEST(AppTable, OnlyProgramsOfOurOwnCanHaveTheirDataInAMappedFile) {
  for (const App* const one : chosen_apps({})) {
    const App& app = *one;
    AppJob in_place = job(64 << 20, 1);
    in_place.in_place = "/far";
    const AppCommand command = app.command(in_place);
    EXPECT_EQ(has(command, "--memory=mmap:/far"), app.in_place) << app.name;
  }
}

TEST(AppTable, EveryPublishedProgramIsInTheTable) {
  for (const PublishedApp& published : published_apps()) {
    EXPECT_NO_THROW((void)chosen_apps({std::string(published.app)}));
    EXPECT_EQ(published.s > 0, published.dram_s > 0);
    EXPECT_NE(published.s > 0, !published.finding.empty()) << published.app << ", " << published.memory;
  }
}

TEST(AppTable, TheTextToSortIsTheSameInEveryRunAndFitsTheBuffer) {
  std::ostringstream first, second;
  const App& sort = *chosen_apps({"sort"}).front();
  sort.write_input(job(64000, 1), first);
  sort.write_input(job(64000, 2), second);
  EXPECT_EQ(first.str(), second.str());
  EXPECT_EQ(first.str().size(), 25600U);
  EXPECT_EQ(first.str().find('\n'), 31U);
}

TEST(ProxyApps, LuleshTakesCubesOfProcessesAndKeepsThePublishedPoints) {
  EXPECT_TRUE(lulesh_takes(1));
  EXPECT_TRUE(lulesh_takes(8));
  EXPECT_TRUE(lulesh_takes(27));
  EXPECT_FALSE(lulesh_takes(4));
  const std::uint64_t bytes = 125000 * 1100;  // 50 points along an edge
  EXPECT_TRUE(has(lulesh_command(job(bytes, 1)), "50"));
  EXPECT_TRUE(has(lulesh_command(job(bytes, 8)), "25"));
  EXPECT_TRUE(has(lulesh_command(job(std::uint64_t{8} * 15625 * 1100, 8, true)), "25"));
}

TEST(ProxyApps, AmgHalvesItsBoxForStrongScalingAndKeepsItForWeak) {
  const std::uint64_t bytes = std::uint64_t{256} * 256 * 256 * 1100;
  const std::vector<std::string> two = amg_command(job(bytes, 2)).arguments;
  EXPECT_EQ(two, (std::vector<std::string>{"-problem", "1", "-P", "2", "1", "1", "-n", "128", "256", "256"}));
  const std::vector<std::string> eight = amg_command(job(bytes, 8)).arguments;
  EXPECT_EQ(std::vector<std::string>(eight.end() - 3, eight.end()), (std::vector<std::string>{"128", "128", "128"}));
  const std::vector<std::string> weak = amg_command(job(bytes * 2, 2, true)).arguments;
  EXPECT_EQ(std::vector<std::string>(weak.end() - 3, weak.end()), (std::vector<std::string>{"256", "256", "256"}));
}

TEST(ProxyApps, VpicRunsTheProgramWithThePublishedParticles) {
  EXPECT_EQ(vpic_command(job(1, 1)).program, "vpic_lpi_2048");
  EXPECT_EQ(vpic_command(job(1, 8)).program, "vpic_lpi_256");
  EXPECT_EQ(vpic_command(job(1, 8, true)).program, "vpic_lpi_512");
}

TEST(ProxyApps, SnapDividesItsCellsAmongAllProcesses) {
  for (const int workers : {1, 2, 3, 4, 6, 8}) {
    std::ostringstream text;
    write_snap_input(job(64 << 20, workers), text);
    const auto value = [&](const std::string& key) {
      return std::stoi(text.str().substr(text.str().find("\n  " + key + "=") + key.size() + 4));
    };
    EXPECT_EQ(value("npey") * value("npez"), workers);
    EXPECT_EQ(value("ny") % value("npey"), 0) << workers;
    EXPECT_EQ(value("nz") % value("npez"), 0) << workers;
    EXPECT_EQ(value("nx") % value("ichunk"), 0) << workers;
  }
}

TEST(ProxyApps, FactorsOfWorkersAreAsEqualAsPossible) {
  for (const int workers : {1, 2, 4, 7, 8, 12, 27, 30}) {
    const ThreeFactors found = three_factors(workers);
    EXPECT_EQ(found.x * found.y * found.z, workers);
    EXPECT_GE(found.x, found.y);
    EXPECT_GE(found.y, found.z);
  }
  EXPECT_EQ(three_factors(8).x, 2);
  EXPECT_EQ(three_factors(12).x, 3);
  EXPECT_EQ(three_factors(7).x, 7);
}

TEST(ProgramPath, TheNamedFolderComesBeforePathAndOnlyExecutableFilesCount) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(path_of_program("ringside-no-such-program", {folder.path()}), "");
  const std::string sort = folder.write("sort", "#!/bin/sh\n");
  EXPECT_NE(path_of_program("sort", {folder.path()}), sort);
  ASSERT_EQ(chmod(sort.c_str(), 0755), 0);
  EXPECT_EQ(path_of_program("sort", {folder.path()}), sort);
}

}  // namespace
}  // namespace ringside
