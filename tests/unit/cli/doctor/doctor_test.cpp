// SPDX-License-Identifier: BSD-3-Clause
// Each probe examines a simulated node; the complete report examines this machine.
#include "cli/doctor/doctor.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "cli/subcommands.hpp"
#include "common/json/json.hpp"
#include "tests/unit/cli/doctor/finding_testing.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class Doctor : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  testing::TemporaryFolder folder_;
  std::string root_ = folder_.path();
};

using ProbeHugePages = Doctor;
using ProbeLimits = Doctor;
using ProbeMemory = Doctor;
using ProbeClock = Doctor;
using ProbeKernel = Doctor;
using ProbeFrequency = Doctor;
using ProbePmem = Doctor;
using ProbeStorage = Doctor;

constexpr const char* kThp = "/sys/kernel/mm/transparent_hugepage/";
constexpr const char* kClock = "/sys/devices/system/clocksource/clocksource0/";

TEST_F(ProbeHugePages, AdvisedPagesAreEnough) {
  write(std::string(kThp) + "enabled", "always [madvise] never\n");
  write(std::string(kThp) + "shmem_enabled", "always within_size [advise] never deny force\n");
  const Finding finding = probe_huge_pages(root_);
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_EQ(finding.advice, "");
  EXPECT_EQ(fact<std::string>(finding, "enabled"), "madvise");
  EXPECT_EQ(fact<std::string>(finding, "shmem_enabled"), "advise");
}

TEST_F(ProbeHugePages, EachSwitchedOffKindNamesItsCommand) {
  write(std::string(kThp) + "enabled", "always madvise [never]\n");
  write(std::string(kThp) + "shmem_enabled", "always within_size advise [never] deny force\n");
  expect_finding(probe_huge_pages(root_), Verdict::kNote, {},
                 {"echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
                  "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"});
}

TEST_F(ProbeHugePages, SharedMemoryNeedsNoSettingIfTheKernelCollapsesPagesOnRequest) {
  write(std::string(kThp) + "enabled", "always [madvise] never\n");
  const auto verdict = [&](const std::string& release, const std::string& shared) {
    write("/proc/sys/kernel/osrelease", release + "\n");
    write(std::string(kThp) + "shmem_enabled", "always within_size advise " + shared + " force\n");
    return probe_huge_pages(root_).verdict;
  };
  EXPECT_EQ(verdict("6.1.0-18-amd64", "[never] deny"), Verdict::kOk);
  EXPECT_EQ(verdict("6.1.0-18-amd64", "never [deny]"), Verdict::kNote);
  EXPECT_EQ(verdict("5.10.0-28-amd64", "[never] deny"), Verdict::kNote);
}

TEST_F(ProbeLimits, TooFewOpenFilesAreAProblemWithTheCommand) {
  write("/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max file size             unlimited            unlimited            bytes     \n"
        "Max open files            64                   4096                 files     \n"
        "Max locked memory         8388608              8388608              bytes     \n");
  const Finding finding = probe_limits(root_);
  EXPECT_EQ(finding.verdict, Verdict::kProblem);
  EXPECT_EQ(fact<std::int64_t>(finding, "open_files"), 64);
  EXPECT_EQ(fact<std::int64_t>(finding, "locked_memory_bytes"), 8388608);
  expect_has(finding.advice, {"ulimit -n 1024"});
}

TEST_F(ProbeLimits, ABoundedFileSizeIsWorthANote) {
  write("/proc/self/limits",
        "Max file size             1000000000           unlimited            bytes     \n"
        "Max open files            1024                 4096                 files     \n"
        "Max locked memory         unlimited            unlimited            bytes     \n");
  const Finding finding = probe_limits(root_);
  EXPECT_EQ(finding.verdict, Verdict::kNote);
  EXPECT_EQ(fact<std::int64_t>(finding, "locked_memory_bytes"), -1);
  expect_has(finding.found, {"locked memory unlimited, file size 1 GB"});
}

TEST_F(ProbeMemory, AControlGroupBelowTheMachineIsNamed) {
  write("/proc/meminfo", "MemTotal:       24684092 kB\nMemFree: 1 kB\nMemAvailable:   23841736 kB\n");
  EXPECT_EQ(probe_memory(root_).verdict, Verdict::kOk);
  EXPECT_EQ(fact<std::int64_t>(probe_memory(root_), "total_bytes"), std::int64_t{24684092} * 1024);
  write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(probe_memory(root_).verdict, Verdict::kOk);
  write("/sys/fs/cgroup/memory.max", "2000000000\n");
  expect_finding(probe_memory(root_), Verdict::kNote, {"allows 2.0 GB"});
}

TEST_F(ProbeClock, ASlowClockNamesTheFastOneThatIsThere) {
  write(std::string(kClock) + "current_clocksource", "hpet\n");
  write(std::string(kClock) + "available_clocksource", "hpet tsc acpi_pm \n");
  expect_finding(probe_clock(root_), Verdict::kNote, {}, {"echo tsc > /sys/devices"});
  write(std::string(kClock) + "available_clocksource", "hpet acpi_pm \n");
  expect_has(probe_clock(root_).advice, {"no faster clock"});
  write(std::string(kClock) + "current_clocksource", "tsc\n");
  EXPECT_EQ(probe_clock(root_).verdict, Verdict::kOk);
}

TEST_F(ProbeKernel, KernelsBeforePidfdAreAProblem) {
  for (const auto& [release, verdict] :
       {std::pair{"4.19.0-20-amd64", Verdict::kProblem}, std::pair{"5.2.1", Verdict::kProblem},
        std::pair{"5.3.0", Verdict::kOk}, std::pair{"6.1.0-13-amd64", Verdict::kOk}}) {
    write("/proc/sys/kernel/osrelease", std::string(release) + "\n");
    EXPECT_EQ(probe_kernel(root_).verdict, verdict) << release;
  }
}

TEST_F(ProbeFrequency, AGovernorThatSavesPowerIsWorthANote) {
  expect_finding(probe_frequency(root_), Verdict::kOk, {"n/a"});
  write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(probe_frequency(root_).verdict, Verdict::kNote);
}

TEST_F(ProbePmem, ANodeWithoutItRunsOnFiles) {
  expect_finding(probe_pmem(root_), Verdict::kNote, {"no persistent memory"});
}

TEST_F(ProbePmem, NamespacesAreListedWithModeSizeAndNode) {
  const std::string devices = "/sys/bus/nd/devices/";
  write(devices + "region0/persistence_domain", "memory_controller\n");
  write(devices + "namespace0.0/mode", "memory\n");
  write(devices + "namespace0.0/size", "127000000000\n");
  write(devices + "namespace0.0/numa_node", "1\n");
  write(devices + "namespace0.1/size", "0\n");
  const Finding finding = probe_pmem(root_);
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_EQ(finding.found,
            "namespace0.0 (fsdax, 127.0 GB, NUMA node 1); persistence domain of region0: memory_controller");
}

TEST_F(ProbePmem, ARegionWithoutAnFsdaxNamespaceNamesTheCommand) {
  const std::string devices = "/sys/bus/nd/devices/";
  write(devices + "region1/size", "127000000000\n");
  expect_has(probe_pmem(root_).advice, {"ndctl create-namespace --mode=fsdax --region=region1"});
  write(devices + "namespace1.0/mode", "raw\n");
  write(devices + "namespace1.0/size", "127000000000\n");
  EXPECT_EQ(probe_pmem(root_).verdict, Verdict::kNote);
}

TEST_F(ProbeStorage, AFolderAFileInItAndAFileToBeMadeAreTheSamePlace) {
  write("/there.pool", "x");
  for (const std::string& place : {root_, root_ + "/there.pool", root_ + "/new.pool"}) {
    EXPECT_EQ(fact<std::string>(probe_space(place), "folder"), root_);
    EXPECT_EQ(fact<std::string>(probe_dax(place), "folder"), root_);
  }
}

TEST_F(ProbeStorage, LeavesNothingBehind) {
  (void)probe_space(root_);
  (void)probe_dax(root_);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(ProbeStorage, AFolderThatIsNotThereIsAProblemWithTheCommand) {
  for (const Finding& finding : {probe_space(root_ + "/no/x.pool"), probe_dax(root_ + "/no/x.pool")}) {
    expect_finding(finding, Verdict::kProblem, {}, {"mkdir -p '" + root_ + "/no'"});
  }
}

TEST_F(ProbeStorage, AFileSystemThatTakesNoFilesIsAProblem) {
  EXPECT_EQ(probe_space("/proc").verdict, Verdict::kProblem);
  EXPECT_EQ(probe_dax("/proc").verdict, Verdict::kProblem);
  expect_lacks(probe_dax("/proc").advice, {"mkdir"});  // the folder exists
}

TEST_F(ProbeStorage, AFolderThatMayNotBeWrittenIsAProblem) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  chmod(root_.c_str(), 0500);
  EXPECT_EQ(probe_space(root_).verdict, Verdict::kProblem);
  EXPECT_EQ(probe_dax(root_).verdict, Verdict::kProblem);
  chmod(root_.c_str(), 0700);
}

TEST_F(Doctor, FilesThatCannotBeReadAreSaidToBeUnknownNotGuessed) {
  for (const Finding& finding :
       {probe_memory(root_), probe_huge_pages(root_), probe_limits(root_), probe_clock(root_), probe_kernel(root_)}) {
    EXPECT_EQ(finding.verdict, Verdict::kNote) << finding.topic;
    expect_has(finding.topic + ": " + finding.found, {"n/a"});
    EXPECT_TRUE(finding.facts.empty()) << finding.topic;
  }
}

TEST_F(Doctor, OneCoreIsWorthANote) {
  Machine machine;
  machine.threads.push_back({0, 0, 0, 0, true});
  EXPECT_EQ(probe_cores(machine).verdict, Verdict::kNote);
  machine.threads.push_back({1, 1, 0, 0, true});
  EXPECT_EQ(probe_cores(machine).verdict, Verdict::kOk);
  EXPECT_EQ(fact<std::string>(probe_cores(machine), "analyzer_cores"), "1");
}

TEST_F(Doctor, TableAndJsonTellTheSame) {
  const std::vector<Finding> findings = examine_node(root_);
  const std::string table = doctor_table(findings);
  const Json report = Json::parse(doctor_json(findings));
  EXPECT_EQ(report["findings"].size(), findings.size()) << "a topic occurs twice";
  for (const Finding& finding : findings) {
    expect_has(table, {finding.topic, finding.found});
    EXPECT_EQ(report["findings"][finding.topic]["found"], finding.found);
    EXPECT_FALSE(finding.verdict == Verdict::kProblem && finding.advice.empty()) << finding.topic;
  }
}

TEST(MemoryMode, ARefusalIsANoteWithTheSettingAndTmpfsSaysThatItIsDram) {
  const Finding refused = memory_mode_finding({.folder = "/f", .refusal = "userfaultfd is not permitted: run as root"});
  EXPECT_EQ(refused.verdict, Verdict::kNote) << "a matrix in DRAM needs none of it";
  expect_has(refused.found, {"far:/f cannot be used: userfaultfd is not permitted"});
  EXPECT_FALSE(fact<bool>(refused, "works"));
  const Finding tmpfs = memory_mode_finding({.folder = "/f", .moves = true, .mapped = true, .tmpfs = true});
  expect_finding(tmpfs, Verdict::kOk, {}, {"tmpfs itself uses DRAM"});
  const Finding dax = memory_mode_finding({.folder = "/f", .moves = true, .mapped = true});
  EXPECT_EQ(fact<std::string>(dax, "far_memory"), "DAX");
  expect_has(dax.advice, {"is used in place"});
  const Finding disk = memory_mode_finding({.folder = "/f", .moves = true});
  EXPECT_EQ(fact<std::string>(disk, "far_memory"), "disk");
  expect_has(disk.advice, {"swap was slower"});
  EXPECT_FALSE(fact<bool>(disk, "moves_may_be_uncounted"));
  const Finding miscounts = memory_mode_finding({.folder = "/f", .moves = true, .release = "6.18.44"});
  expect_finding(miscounts, Verdict::kOk, {"Linux 6.18.44 may fail to move them (error 'File exists')"});
  expect_lacks(memory_mode_finding({.folder = "/f", .moves = true, .release = "6.17.1"}).found, {"File exists"});
  expect_has(memory_mode_finding({.folder = "/f"}).advice, {"Linux 6.8"});
}

TEST(MemoryMode, TheProbeOfARealFolderLeavesNothingInIt) {
  const testing::TemporaryFolder folder;
  const Finding finding = probe_memory_mode(folder.path());
  EXPECT_EQ(fact<std::string>(finding, "far_folder"), folder.path());
  EXPECT_TRUE(fact<bool>(finding, "works") || finding.verdict == Verdict::kNote) << finding.found;
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_FALSE(fact<bool>(probe_memory_mode("/no/such/folder/pool"), "works"));
}

TEST_F(Doctor, TheWorstFindingIsTheVerdictAndTheExitCode) {
  const Finding ok{"a", Verdict::kOk, "fine", "", {}};
  const Finding note{"b", Verdict::kNote, "so-so", "", {}};
  const Finding problem{"c", Verdict::kProblem, "bad", "mend", {}};
  const auto verdict_of = [](const std::vector<Finding>& f) { return Json::parse(doctor_json(f))["verdict"]; };
  EXPECT_EQ(verdict_of({ok}), "ok");
  EXPECT_EQ(verdict_of({note, ok}), "note");
  EXPECT_EQ(verdict_of({problem, note, ok}), "problem");
  const std::string place = root_ + "/no/such/place";
  const std::array<const char*, 3> command = {"doctor", place.c_str(), "--json"};
  EXPECT_EQ(doctor_command(3, command.data()), 3);
}

}  // namespace
}  // namespace ringside
