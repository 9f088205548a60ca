// SPDX-License-Identifier: BSD-3-Clause
// `ringside experiment apps`, end to end at a small size: whole programs have the same result in DRAM and in Memory
// Mode.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "common/json/json.hpp"
#include "node/applications/work_folder.hpp"
#include "tests/pipeline/expectations.hpp"
#include "tests/pipeline/process.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using namespace testing::names;

/// Two programs of 8 MiB, with and without a limit of 4 MiB of DRAM.
Finished small_apps(const Words& more) {
  const Words small = {"--program=sort,blackscholes", "--bytes=8M", "--dram=4M", "--repeats=1", "--threads=1"};
  return run("ringside", joined(joined({"experiment", "apps"}, small), more));
}

Json row_of(const Json& rows, const std::string& program, const std::string& memory) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Json& row) {
    return row.at("program") == program && row.at("memory") == memory;
  });
  return found == rows.end() ? Json() : *found;
}

TEST(ExperimentApps, SortAndBlackscholesHaveTheSameResultInDramAndInMemoryMode) {
  const WorkFolder far("/dev/shm");
  const Finished done = small_apps({"--json", "--far=" + far.path()});
  ASSERT_EQ(done.exit_code, 0) << done.err;  // the code is 5 if a result differs
  const Json found = Json::parse(done.out);
  EXPECT_TRUE(std::filesystem::is_empty(far.path()));
  const Json& tables = found.at("tables");
  if (!tables.contains("times")) GTEST_SKIP() << tables.at("left_out").at("rows").dump();
  const Json& times = tables.at("times").at("rows");
  for (const std::string program : {"sort", "blackscholes"}) {
    const Json in_dram = row_of(times, program, "all DRAM");
    if (in_dram.is_null()) GTEST_SKIP() << tables.at("left_out").at("rows").dump();
    EXPECT_GT(in_dram.at("time_s").get<double>(), 0);
    EXPECT_EQ(in_dram.at("ratio"), 1);
    const Json cached = row_of(times, program, "DRAM 4 MiB");
    if (cached.at("time_s").is_string()) GTEST_SKIP() << cached.at("time_s").get<std::string>();
    EXPECT_GT(cached.at("ratio").get<double>(), 0);
    EXPECT_EQ(cached.at("dram_mib"), 4);
    const Json traffic = row_of(tables.at("far").at("rows"), program, "DRAM 4 MiB");
    EXPECT_GT(traffic.at("read_mb").get<double>(), 0) << traffic;  // the data are twice the DRAM: some were read back
    EXPECT_GT(traffic.at("managed_mib").get<double>(), 6) << traffic;
  }
}

TEST(ExperimentApps, RingsidesMatrixIsInFarMemory) {
  const Finished done = expect_done(
      {"experiment", "apps", "--program=ringside", "--bytes=16M", "--dram=4M", "--repeats=1", "--threads=1", "--json"});
  const Json tables = Json::parse(done.out).at("tables");
  if (!tables.contains("times")) GTEST_SKIP() << tables.at("left_out").at("rows").dump();
  const Json cached = row_of(tables.at("times").at("rows"), "ringside", "DRAM 4 MiB");
  if (cached.at("time_s").is_string()) GTEST_SKIP() << cached.at("time_s").get<std::string>();
  EXPECT_EQ(cached.at("spread"), "n/a: one run has no spread; use --repeats");
  const Json traffic = row_of(tables.at("far").at("rows"), "ringside", "DRAM 4 MiB");
  EXPECT_GT(traffic.at("managed_mib").get<double>(), 4) << traffic;  // more than DRAM may hold
  EXPECT_GT(traffic.at("read_mb").get<double>(), 10) << traffic;     // in twenty iterations
}

TEST(ExperimentApps, EveryFigureNamesTheEmulatedTiming) {
  const TemporaryFolder folder;
  const std::string program = folder.write("ringside-memory", "#!/bin/sh\nexit 3\n");
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  const Json found = Json::parse(
      expect_exit(0, small_apps({"--json", "--timing=optane", "--far=/dev/shm", "--programs=" + folder.path()})).out);
  const std::string name = "emulated Optane: 305 ns + 4 GB/s read, 2 GB/s write";
  for (const auto& [key, table] : found.at("tables").items()) {
    if (key == "left_out") continue;
    EXPECT_NE(table.at("title").get<std::string>().find(name), std::string::npos) << key;
  }
  for (const Json& plot : found.at("plots")) {
    expect_has(plot.at("title").get<std::string>(), {name});
  }
  EXPECT_EQ(found.at("options").at("apps").at("timing"), name);
  const Json cached = row_of(found.at("tables").at("times").at("rows"), "sort", "DRAM 4 MiB");
  EXPECT_EQ(cached.at("time_s"), "n/a: it ended with exit code 3");
}

TEST(ExperimentApps, WrongArgumentsAreRefusedInOneLine) {
  const TemporaryFolder folder;
  const auto refused = [](const Words& arguments, const std::string& fragment) {
    const Finished done = expect_exit(2, run("ringside", joined({"experiment"}, arguments)));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    expect_has(done.err, {fragment});
  };
  refused({"apps", "--program=sorted"}, "--program: found 'sorted', expected names of blackscholes, ");
  refused({"apps", "--dram=25%,1K"}, "--dram: found '1K', expected sizes from 4M to 65536G or percentages from 1% to");
  refused({"apps", "--far=" + folder.file("none")}, "--far: found '");
  refused({"apps", "--timing=fast"}, "--timing: found 'fast', expected optane");
  refused({"apps", "--memory=" + folder.path()}, "--memory: found with the experiment apps, expected --far DIR");
  refused({"stream", "--dram=25%"}, "--dram: found with the experiment stream, expected only with apps");
}

}  // namespace
}  // namespace ringside
