// SPDX-License-Identifier: BSD-3-Clause
// `ringside experiment`, as a user starts it: the list, the form of its outputs, and what is refused. The arrays are
// small, so no measured figure is checked.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "common/json/json.hpp"
#include "tests/pipeline/expectations.hpp"
#include "tests/pipeline/process.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace testing::names;

/// The experiments that take folders with --memory. (experiment_apps_test.cpp tests `apps`.)
const Words kNames = {"stream", "compete", "placement", "streams", "pipeline"};

Finished experiment(const Words& arguments) {
  return run("ringside", joined({"experiment"}, arguments));
}

/// The arguments of a short experiment.
Words quick(const std::string& name, const Words& more = {}) {
  return joined({name, "--bytes=64K", "--repeats=3"}, more);
}

void expect_refused(const Words& arguments, int exit_code, const Words& fragments) {
  const Finished refused = expect_exit(exit_code, experiment(arguments));
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  expect_has(refused.err, fragments);
}

TEST(Experiment, TheListNamesEachExperimentOnALineOfItsOwn) {
  const Finished listed = expect_exit(0, experiment({"list"}));
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 6);
  expect_has(listed.out, {"\napps "});
  for (const std::string& name : kNames) EXPECT_NE(("\n" + listed.out).find("\n" + name), std::string::npos) << name;
}

TEST(Experiment, JsonIsOneObjectWithAMachineAndARowForEachColumn) {
  const TemporaryFolder folder;
  for (const std::string& name : kNames) {
    const Finished done = expect_exit(0, experiment(quick(name, {"--json", "--memory=" + folder.path()})));
    const Json found = Json::parse(done.out);
    EXPECT_EQ(found.at("experiment"), name);
    for (const char* key : {"cpu", "processors_allowed", "kernel", "governor", "load_average", "started", "isa"}) {
      EXPECT_TRUE(found.at("machine").contains(key)) << key;
    }
    EXPECT_EQ(found.at("tiers").back().at("name"), folder.path());
    for (const auto& [key, table] : found.at("tables").items()) {
      for (const Json& row : table.at("rows")) {
        for (const Json& column : table.at("columns")) {
          const Json& value = row.at(column.at("key").get<std::string>());
          EXPECT_TRUE(value.is_number() || value.is_string()) << name << ", " << key << ": " << row;
        }
      }
    }
    EXPECT_FALSE(found.at("series").empty());
    EXPECT_FALSE(found.at("series").front().at("seconds").empty());
    EXPECT_TRUE(fs::is_empty(folder.path())) << name;
  }
}

TEST(Experiment, WhatTheMachineLacksIsNotAvailableWithAReason) {
  const Json found = Json::parse(experiment(quick("stream", {"--json"})).out);
  const auto& rows = found.at("tables").at("rates").at("rows");
  const auto nvdimm =
      std::find_if(rows.begin(), rows.end(), [](const Json& row) { return row.at("memory") == "NVDIMM"; });
  ASSERT_NE(nvdimm, rows.end());
  EXPECT_EQ(nvdimm->at("best_gb_s"), "n/a: no folder was named with --memory");
}

TEST(Experiment, CountedAndMovedRatesDifferByTheLinesThatPlainStoresRead) {
  const Json found = Json::parse(experiment(quick("stream", {"--json", "--threads=1"})).out);
  for (const Json& row : found.at("tables").at("rates").at("rows")) {
    if (!row.at("best_gb_s").is_number()) continue;
    const bool two_arrays = row.at("kernel") == "copy" || row.at("kernel") == "scale";
    const double expected = row.at("stores") != "plain" ? 1 : two_arrays ? 24.0 / 16 : 32.0 / 24;
    EXPECT_NEAR(row.at("moved_gb_s").get<double>() / row.at("median_gb_s").get<double>(), expected, 1e-9) << row;
  }
}

TEST(Experiment, RingsidesLastIterateIsThatOfThePublishedLoopUpToRounding) {
  const Json found = Json::parse(experiment({"pipeline", "--bytes=64K", "--repeats=40", "--json"}).out);
  for (const Json& row : found.at("tables").at("ringside").at("rows")) {
    if (!row.at("total_s").is_number()) continue;
    EXPECT_LT(row.at("difference").get<double>(), 20) << row;  // in units of 1e-15
  }
  expect_has(found.at("remarks").dump(), {"has the same bits"});
}

TEST(Experiment, TextHasTheSourceAndTheReasonsBelowTheTable) {
  const Finished done = expect_exit(0, experiment(quick("compete", {"--threads=1"})));
  expect_has(done.out, {"After S. G. Fagerheim", "n/a: two groups need at least two threads\n"});
}

TEST(Experiment, ThePageHoldsEverythingThatItNeeds) {
  const TemporaryFolder folder;
  const std::string page = folder.file("page.html");
  expect_exit(0, experiment(quick("streams", {"-o", page})));
  const std::string text = content_of(page);
  expect_lacks(text, {"RINGSIDE_REPORT_DATA", " src=\"", "<link rel=\"stylesheet\""});
  expect_has(text, {"\"experiment\":\"streams\""});
  EXPECT_EQ(experiment(quick("stream", {"-o", "-"})).out.rfind("<!doctype html>", 0), 0U);
}

TEST(Experiment, WrongArgumentsAreRefusedInOneLine) {
  const TemporaryFolder folder;
  expect_refused({}, 2, {"NAME"});
  expect_refused({"streem"}, 2, {"NAME: found 'streem', expected one of stream, "});
  expect_refused({"stream", "--threads=0"}, 2, {"--threads: found '0', expected a number from 1 to 4096"});
  expect_refused({"stream", "--threads=two"}, 2, {"--threads: found 'two'"});
  expect_refused({"stream", "--repeats=0"}, 2, {"--repeats: found '0'"});
  expect_refused({"stream", "--bytes=1K"}, 2, {"--bytes: found '1K', expected bytes from 4K to 1024G"});
  expect_refused({"stream", "--memory=" + folder.write("file", "")}, 2, {"--memory: found '", "not a folder"});
  expect_refused({"stream", "--memory=" + folder.file("none")}, 2, {"--memory: found '", "No such file or directory"});
  expect_refused({"stream", "--memory", folder.path(), "--memory", folder.path()}, 2, {"--memory", "twice"});
  expect_refused(quick("stream", {"--json", "--output=-"}), 2, {"--json"});
}

TEST(Experiment, FewerProcessorsThanThreadsAreRefusedWithExitCode3) {
  expect_refused({"stream", "--threads=4096"}, 3, {"--threads: found 4096 thread(s), but this process may use "});
}

TEST(Experiment, TooLittleMemoryIsRefusedWithTheNeededAndTheAvailableBytes) {
  expect_refused({"stream", "--bytes=1024G", "--threads=1"}, 3, {"bytes are needed, ", " are available"});
  expect_refused({"streams", "--bytes=1024G"}, 2, {"--bytes: found 1099511627776, expected at most 34359738360"});
}

TEST(Experiment, AFolderWithoutPermissionIsRefusedWithExitCode3) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const Words arguments = {"experiment", "stream", "--memory=" + folder.path()};
  // The real user id is also changed, because LeakSanitizer may not read a process whose real user is still root.
  const Finished refused = run("ringside", arguments, [] {
    if (geteuid() == 0 && setresuid(testing::kNobody, testing::kNobody, testing::kNobody) != 0) _exit(1);
  });
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  expect_has(refused.err, {"cannot make a file: Permission denied; expected a folder that this user may write to"});
}

TEST(Experiment, AnOutputThatCannotBeWrittenIsRefusedBeforeAnythingIsMeasured) {
  const TemporaryFolder folder;
  expect_refused({"stream", "--output=" + folder.file("none/page.html")}, 3, {"--output"});
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Experiment, AFailedRunLeavesNoPage) {
  const TemporaryFolder folder;
  expect_refused({"stream", "--bytes=1024G", "--threads=1", "--output=" + folder.file("page.html")}, 3, {"are needed"});
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace ringside
