// SPDX-License-Identifier: BSD-3-Clause
// Planning is tested on invented machines, reading on hwloc's synthetic machines, and pinning on the machine that runs
// the test.
#include "common/program/topology.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <cstdlib>
#include <string_view>
#include <thread>

#include "common/platform/thread.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using Cpus = std::vector<int>;

// A machine whose CPUs are numbered in Linux's order: the first hardware thread of every core, then the second hardware
// thread of every core.
Machine machine_of(int packages, int cores_per_package, int threads_per_core) {
  Machine machine;
  machine.numa_nodes = packages;
  const int cores = packages * cores_per_package;
  for (int cpu = 0; cpu < cores * threads_per_core; ++cpu) {
    const int core = cpu % cores;
    const int package = core / cores_per_package;
    machine.threads.push_back({cpu, core, package, package, true});
  }
  return machine;
}

Cpus range(int first, int last) {
  Cpus cpus;
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  return cpus;
}

TEST(CorePlan, OneCoreIsSharedWhicheverListNamesIt) {
  const CoreList zero{{0}};
  const std::optional<CoreList> none;
  for (const auto& [producer, analyzer] :
       {std::pair(none, none), std::pair(std::optional(zero), std::optional(zero)),
        std::pair(std::optional(zero), none), std::pair(none, std::optional(zero))}) {
    const CorePlan plan = plan_cores(machine_of(1, 1, 1), producer, analyzer);
    EXPECT_EQ(plan.producer, Cpus{0});
    EXPECT_EQ(plan.analyzer, Cpus{0});
    EXPECT_TRUE(plan.oversubscribed_one_core);
  }
}

TEST(CorePlan, EachProcessGetsItsShareOfTheCores) {
  struct Case {
    const char* name;
    Machine machine;
    std::optional<CoreList> given_producer;
    std::optional<CoreList> given_analyzer;
    Cpus producer;
    Cpus analyzer;
  };
  Machine few = machine_of(1, 8, 1);
  for (HardwareThread& thread : few.threads) thread.allowed = thread.cpu == 3 || thread.cpu == 6;
  const Cpus on_both_nodes = {0, 28, 29, 30};
  for (const Case& c : {
           Case{"the only core's two threads serve one process each", machine_of(1, 1, 2), {}, {}, {0}, {1}},
           Case{"two cores", machine_of(1, 2, 1), {}, {}, {0}, {1}},
           Case{"16 cores: 12 and 4", machine_of(1, 16, 1), {}, {}, range(0, 11), range(12, 15)},
           Case{"siblings of a busy core stay idle", machine_of(1, 4, 2), {}, {}, range(0, 2), {3}},
           Case{"only allowed cores", few, {}, {}, {3}, {6}},
           Case{"the node where most of a given producer runs",
                machine_of(2, 28, 1),
                CoreList{on_both_nodes},
                {},
                on_both_nodes,
                range(52, 55)},
           Case{"whole cores beside a given analyzer: 3 is the sibling of 7",
                machine_of(1, 4, 2),
                {},
                CoreList{{7}},
                range(0, 2),
                {7}},
           Case{"siblings where no whole core is left", machine_of(1, 2, 2), CoreList{{0, 1}}, {}, {0, 1}, {2, 3}},
       }) {
    SCOPED_TRACE(c.name);
    const CorePlan plan = plan_cores(c.machine, c.given_producer, c.given_analyzer);
    EXPECT_EQ(plan.producer, c.producer);
    EXPECT_EQ(plan.analyzer, c.analyzer);
    EXPECT_FALSE(plan.oversubscribed_one_core);
  }
}

TEST(CorePlan, OnTwoSocketsTheAnalyzerStaysOnOneNodeWithAtMostFourCores) {
  const CorePlan plan = plan_cores(machine_of(2, 28, 2), {}, {});
  EXPECT_EQ(plan.analyzer, range(24, 27));
  EXPECT_EQ(plan.producer.size(), 52u);
}

TEST(CorePlan, TheAnalyzerGetsAsManyCoresAsAskedForOnSeveralNodesIfItMust) {
  EXPECT_EQ(plan_cores(machine_of(1, 16, 1), {}, {}, 8).analyzer, range(8, 15));
  EXPECT_EQ(plan_cores(machine_of(2, 8, 1), {}, {}, 12).analyzer, range(4, 15));
  EXPECT_EQ(plan_cores(machine_of(2, 8, 1), {}, {}, 12).producer, range(0, 3));
  const CorePlan beside = plan_cores(machine_of(1, 16, 1), CoreList{range(0, 3)}, {}, 12);
  EXPECT_EQ(beside.producer, range(0, 3));
  EXPECT_EQ(beside.analyzer, range(4, 15));
}

TEST(CorePlan, ListsThatCannotBeUsedAreRefusedWithTheirCores) {
  const auto refuses = [](const Machine& machine, const std::optional<CoreList>& producer,
                          const std::optional<CoreList>& analyzer, const std::string& part, ExitCode code) {
    expect_refused([&] { plan_cores(machine, producer, analyzer); }, part, code);
  };
  refuses(machine_of(1, 2, 1), {}, CoreList{{1, 7}}, "--analyzer-cores: core 7 does not exist here; available: 0-1",
          ExitCode::kSystem);
  refuses(machine_of(1, 4, 1), CoreList{{0, 1, 2}}, CoreList{{1, 2, 3}}, "both name core 1-2", ExitCode::kUsage);
  refuses(machine_of(1, 2, 1), CoreList{{0, 1}}, {}, "--producer-cores: 0-1 takes every core", ExitCode::kUsage);
  refuses(machine_of(1, 2, 1), {}, CoreList{{0, 1}}, "--analyzer-cores: 0-1 takes every core", ExitCode::kUsage);
  Machine machine = machine_of(1, 4, 1);
  machine.threads[2].allowed = false;
  refuses(machine, CoreList{{2}}, {}, "--producer-cores: this process may not use core 2", ExitCode::kSystem);
  for (HardwareThread& thread : machine.threads) thread.allowed = false;
  refuses(machine, {}, {}, "may not run on any core", ExitCode::kSystem);
}

TEST(SyntheticMachine, HasItsSocketsNodesCoresAndSiblings) {
  const Machine machine = synthetic_machine("package:2 l3:1(size=40MB) core:28 pu:2");
  const MachineCounts counts = count(machine);
  EXPECT_EQ(counts.packages, 2);
  EXPECT_EQ(counts.cores, 56);
  EXPECT_EQ(counts.threads, 112);
  EXPECT_EQ(counts.allowed_threads, 112);
  EXPECT_TRUE(counts.smt);
  EXPECT_EQ(machine.l3_caches, 2);
  EXPECT_GT(machine.l3_bytes, 0u);
}

TEST(SyntheticMachine, HasTheNumaNodeOfEveryCpu) {
  const Machine machine = synthetic_machine("package:2 [numa] core:2 pu:1");
  EXPECT_EQ(machine.numa_nodes, 2);
  ASSERT_EQ(machine.threads.size(), 4u);
  EXPECT_EQ(machine.threads[0].numa_node, machine.threads[1].numa_node);
  EXPECT_NE(machine.threads[1].numa_node, machine.threads[2].numa_node);
}

TEST(ReadMachine, ReadsThisMachineDespiteHwlocsVariables) {
  const Machine expected = read_machine();
  for (const char* name :
       {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"}) {
    const bool is_synthetic = std::string_view(name) == "HWLOC_SYNTHETIC";
    setenv(name, is_synthetic ? "package:2 core:28 pu:2" : "/nonexistent", 1);
    const Machine machine = read_machine();
    EXPECT_NE(std::getenv(name), nullptr) << "programs that are started later inherit it";
    unsetenv(name);
    ASSERT_EQ(machine.threads.size(), expected.threads.size()) << name;
    for (std::size_t i = 0; i < machine.threads.size(); ++i) {
      EXPECT_EQ(machine.threads[i].cpu, expected.threads[i].cpu) << name;
      EXPECT_EQ(machine.threads[i].allowed, expected.threads[i].allowed) << name;
    }
  }
}

TEST(ReadMachine, AllowsTheCoresOfTheCallingThreadOnly) {
  std::thread([] {
    const int here = sched_getcpu();
    ASSERT_EQ(bind_calling_thread(here), 0);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    const Machine machine = read_machine();
    unsetenv("HWLOC_THISSYSTEM");
    for (const HardwareThread& thread : machine.threads) EXPECT_EQ(thread.allowed, thread.cpu == here) << thread.cpu;
    EXPECT_EQ(count(machine).allowed_threads, 1);
  }).join();
}

TEST(Pinning, EveryOpenMpThreadRunsOnItsOwnCpu) {
  std::thread([] {
    Cpus cpus;
    for (const HardwareThread& thread : read_machine().threads) {
      if (thread.allowed && cpus.size() < 4) cpus.push_back(thread.cpu);
    }
    pin_openmp_threads(cpus);
    // A second region is used, because the pinning must belong to the threads and not to the region that pinned them.
    Cpus seen(cpus.size(), -1);
#pragma omp parallel
    seen[static_cast<std::size_t>(omp_get_thread_num())] = sched_getcpu();
    EXPECT_EQ(seen, cpus);
    expect_refused([&] { pin_openmp_threads({cpus[0], 60000}); }, "cannot run on core 60000", ExitCode::kSystem);
    expect_refused([] { pin_openmp_threads({-1}); }, "cannot run on core -1", ExitCode::kSystem);
  }).join();
}

}  // namespace
}  // namespace ringside
