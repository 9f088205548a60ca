// SPDX-License-Identifier: BSD-3-Clause
// `ringside doctor` on nodes with persistent memory, and for places that belong to other users.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/platform/unique_fd.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/cli/doctor/finding_testing.hpp"
#include "tests/unit/fake_node.hpp"

namespace ringside {
namespace {

class PmemDoctor : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { node_.write(path, text); }
  PoolDevice device(const std::string& place) const { return find_pool_device(place, node_.root()); }
  const std::string& root() const { return node_.root(); }

  static std::vector<std::string> topics(const std::vector<Finding>& findings) {
    std::vector<std::string> names;
    for (const Finding& finding : findings) names.push_back(finding.topic);
    return names;
  }
  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  /// Two sockets of eight cores. The analyzer's cores are planned on the second socket.
  static Machine two_nodes() {
    Machine machine;
    for (int cpu = 0; cpu < 16; ++cpu) machine.threads.push_back({cpu, cpu, cpu / 8, cpu / 8, true});
    machine.numa_nodes = 2;
    return machine;
  }

  testing::FakeNode node_;
};

TEST_F(PmemDoctor, AdrNeedsTheFlushesThatCommitsMake) {
  const Finding finding = probe_persistence(device(node_.make_fsdax("memory_controller")), root());
  expect_finding(finding, Verdict::kOk, {"region0", "ADR", "memory_controller", "flush"});
  expect_lacks(finding.found, {"eADR"});
  EXPECT_EQ(fact<std::string>(finding, "persistence_domain"), "memory_controller");
}

TEST_F(PmemDoctor, EadrKeepsTheCaches) {
  expect_finding(probe_persistence(device(node_.make_fsdax("cpu_cache")), root()), Verdict::kOk,
                 {"region0", "eADR", "cpu_cache"});
}

TEST_F(PmemDoctor, ADomainTheFirmwareDoesNotTellIsUnknown) {
  const Finding finding = probe_persistence(device(node_.make_fsdax("")), root());
  expect_finding(finding, Verdict::kNote, {"unknown"});
  EXPECT_FALSE(finding.advice.empty());
}

TEST_F(PmemDoctor, DevdaxAndRawNamespacesAreToBeMadeAnewBecauseThereMayBeNoRoomBesideThem) {
  node_.add_namespace(0, "dax");
  expect_finding(probe_pmem(root()), Verdict::kNote, {"namespace0.0 (devdax"},
                 {"erases its data", "`ndctl create-namespace --force --reconfig=namespace0.0 --mode=fsdax`"});
  node_.add_namespace(0, "raw");  // as in a new region without labels
  expect_finding(probe_pmem(root()), Verdict::kNote, {"namespace0.0 (raw"}, {"--reconfig=namespace0.0"});
}

TEST_F(PmemDoctor, BadBlocksOfThePoolsDeviceAreAProblemOthersANote) {
  const std::string folder = node_.make_fsdax();
  write("/sys/bus/nd/devices/region0/badblocks", "");
  EXPECT_EQ(probe_bad_blocks(device(folder), root()).verdict, Verdict::kOk);

  write("/sys/bus/nd/devices/region1/badblocks", "100 8\n4096 1\n");
  Finding finding = probe_bad_blocks(device(folder), root());
  expect_finding(finding, Verdict::kNote, {"9 in region1", "none in the pool's device"});

  write("/sys/bus/nd/devices/region0/badblocks", "5000 2\n");
  write("/sys/class/block/pmem0/badblocks", "904 2\n");
  finding = probe_bad_blocks(device(folder), root());
  EXPECT_EQ(finding.verdict, Verdict::kProblem);
  EXPECT_EQ(fact<std::int64_t>(finding, "pool_device_bad_bytes"), 1024);
  EXPECT_EQ(fact<std::int64_t>(finding, "regions_bad_bytes"), 11 * 512);
  expect_has(finding.advice, {"ringside verify", "ndctl list --media-errors --namespace=namespace0.0"});
}

TEST_F(PmemDoctor, OfAPartitionedDiskOnlyThePartitionsBadBlocksCount) {
  const std::string folder = node_.make_fsdax();
  node_.add_partition(1, node_.claim(0, "pfn", "pmem0"), 4096);
  node_.mount(1, folder, "ext4", "/dev/pmem0p1", "dax=always");
  write("/sys/class/block/pmem0/badblocks",
        "100 8\n4090 8\n135166 8\n");  // before the partition; across its beginning; across its end
  const Finding finding = probe_bad_blocks(device(folder), root());
  EXPECT_EQ(fact<std::int64_t>(finding, "pool_device_bad_bytes"), (2 + 2) * 512);
}

TEST_F(PmemDoctor, UnsafeShutdownsAreCountedAndBrokenDimmsAreAProblem) {
  node_.add_namespace(0, "memory");
  write("/sys/bus/nd/devices/nmem0/nfit/dirty_shutdown", "0\n");
  write("/sys/bus/nd/devices/nmem0/nfit/flags", "\n");
  EXPECT_EQ(probe_dimms(root()).verdict, Verdict::kOk);
  write("/sys/bus/nd/devices/nmem1/cxl/dirty_shutdown", "3\n");
  Finding finding = probe_dimms(root());
  EXPECT_EQ(finding.verdict, Verdict::kNote);
  EXPECT_EQ(fact<std::int64_t>(finding, "nmem1_unsafe_shutdowns"), 3);
  expect_has(finding.found, {"nmem0: 0 unsafe", "nmem1: 3 unsafe"});
  expect_has(finding.advice, {"ringside verify"});
  write("/sys/bus/nd/devices/nmem0/nfit/flags", "smart_event not_armed save_fail\n");
  finding = probe_dimms(root());
  EXPECT_EQ(finding.verdict, Verdict::kProblem);
  EXPECT_EQ(fact<std::vector<std::string>>(finding, "nmem0_failures"),
            (std::vector<std::string>{"not_armed", "save_fail"}));
}

TEST_F(PmemDoctor, APoolOnAnotherNodeNamesTheCoresNearIt) {
  const std::string folder = node_.make_fsdax();
  const CorePlan plan = plan_cores(two_nodes(), {}, {});
  const int planned = plan.analyzer.front() / 8;
  const int other = 1 - planned;
  const std::string claimed = "/sys/devices/LNXSYSTM:00/ACPI0012:00/ndbus0/region0/pfn0.0";
  write(claimed + "/numa_node", std::to_string(planned) + "\n");
  EXPECT_EQ(probe_numa(two_nodes(), device(folder), root()).verdict, Verdict::kOk);

  write(claimed + "/numa_node", std::to_string(other) + "\n");
  Finding finding = probe_numa(two_nodes(), device(folder), root());
  EXPECT_EQ(finding.verdict, Verdict::kNote);
  EXPECT_EQ(fact<std::int64_t>(finding, "pool_device_node"), other);
  EXPECT_EQ(fact<std::string>(finding, "near_cores"), fmt::format("{}-{}", other * 8 + 4, other * 8 + 7));
  expect_has(finding.advice, {"`--analyzer-cores " + fact<std::string>(finding, "near_cores") + "`"});

  write("/sys/bus/nd/devices/region1/numa_node", std::to_string(planned) + "\n");
  finding = probe_numa(two_nodes(), device(folder), root());
  expect_has(finding.advice, {"ndctl create-namespace --mode=fsdax --region=region1"});

  Machine bound = two_nodes();
  for (HardwareThread& thread : bound.threads) thread.allowed = thread.numa_node == planned;
  expect_has(probe_numa(bound, device(folder), root()).advice, {"no core of node", "cpuset"});

  write(claimed + "/numa_node", "-1\n");
  expect_finding(probe_numa(two_nodes(), device(folder), root()), Verdict::kOk, {"does not report"});
}

TEST_F(PmemDoctor, HugePagesOfDaxNeedNamespacePartitionAndFileSystemAligned) {
  const std::string folder = node_.make_fsdax();
  EXPECT_EQ(probe_dax_pages(device(folder)).verdict, Verdict::kOk);
  node_.mount(0, folder, "ext4", "/dev/pmem0", "dax=always");
  expect_has(probe_dax_pages(device(folder)).advice, {"mkfs.ext4 -b 4096 -E stride=512,stripe_width=512 /dev/pmem0"});
  node_.mount(0, folder, "ext4", "/dev/pmem0", "dax=always,stripe=512");
  write("/sys/devices/LNXSYSTM:00/ACPI0012:00/ndbus0/region0/pfn0.0/align", "4096\n");
  expect_finding(probe_dax_pages(device(folder)), Verdict::kNote, {}, {"--align=2M"});
  node_.add_partition(1, "LNXSYSTM:00/ACPI0012:00/ndbus0/region0/pfn0.0/block/pmem0", 2048);
  node_.mount(1, folder, "ext4", "/dev/pmem0p1", "dax=always,stripe=512");
  expect_has(probe_dax_pages(device(folder)).found, {"/dev/pmem0p1 begins at byte 1048576"});
}

TEST_F(PmemDoctor, MissingHardwareHasNoFinding) {
  const auto without = topics(examine_node(node_.make_folder(), root()));
  for (const char* topic : {"dimms", "bad_blocks", "persistence", "dax_pages"})
    EXPECT_FALSE(has(without, topic)) << topic;
  const auto with = topics(examine_node(node_.make_fsdax(), root()));
  for (const char* topic :
       {"dimms", "bad_blocks", "persistence", "dax_pages", "numa", "ownership", "in_use", "service"}) {
    EXPECT_TRUE(has(with, topic)) << topic;
  }
}

TEST_F(PmemDoctor, PersistentMemoryMountedWithoutDaxIsANoteWithTheCommand) {
  const std::string folder = node_.make_fsdax("memory_controller", "data=ordered");
  const Finding finding = probe_dax(folder, root());
  EXPECT_EQ(finding.verdict, Verdict::kNote);
  EXPECT_EQ(fact<std::string>(finding, "cause"), "mount_option");
  expect_has(finding.found, {"page cache", "is mounted without dax"});
  expect_has(finding.advice, {"`umount " + folder + "`", "`mount -o dax=always /dev/pmem0 " + folder + "`"});
}

class OwnershipDoctor : public PmemDoctor {
 protected:
  std::string folder_ = node_.make_folder();
  std::string pool_ = folder_ + "/x.pool";
  void SetUp() override {
    write("/mnt/x.pool", "x");
    ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
    ASSERT_EQ(chmod(pool_.c_str(), 0600), 0);
  }
};

TEST_F(OwnershipDoctor, WhatIsTheUsersAloneIsFine) {
  EXPECT_EQ(probe_ownership(pool_).verdict, Verdict::kOk);
  EXPECT_EQ(probe_ownership(folder_).verdict, Verdict::kOk);
}

TEST_F(OwnershipDoctor, APoolOthersMayReadIsANoteAndAFolderOthersMayWriteToo) {
  chmod(pool_.c_str(), 0644);
  expect_finding(probe_ownership(pool_), Verdict::kNote, {}, {"chmod 0600 '" + pool_ + "'"});
  chmod(pool_.c_str(), 0600);
  chmod(folder_.c_str(), 0777);
  expect_has(probe_ownership(pool_).advice, {"chmod go-w '" + folder_ + "'"});
  chmod(folder_.c_str(), 01777);
  EXPECT_EQ(probe_ownership(pool_).verdict, Verdict::kOk) << "sticky: others cannot replace what is not theirs";
}

TEST_F(OwnershipDoctor, APoolOfAnotherUserIsNamedWithItsOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(pool_.c_str(), 65534, 65534), 0);
  const Finding finding = probe_ownership(pool_);
  EXPECT_EQ(finding.verdict, Verdict::kNote) << "root may write it, but makes files that its owner cannot";
  EXPECT_EQ(fact<std::string>(finding, "pool_owner"), "user nobody");
  expect_has(finding.advice, {"sudo -u nobody ringside"});
}

TEST_F(OwnershipDoctor, APlaceThatMayNotBeWrittenIsAProblem) {
  ASSERT_EQ(chmod(root().c_str(), 0755), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
  ASSERT_EQ(chmod(pool_.c_str(), 0400), 0);
  const testing::AsNobody nobody;  // has an effect only if the test runs as root
  for (const std::string& place : {folder_, pool_}) {
    const Finding finding = probe_ownership(place);
    expect_finding(finding, Verdict::kProblem, {},
                   {geteuid() == testing::kNobody ? "sudo -u root ringside" : "chmod u+rwx"});
  }
}

TEST_F(OwnershipDoctor, APoolInUseNamesTheProcess) {
  EXPECT_EQ(probe_pool_owner(pool_, root()).verdict, Verdict::kOk);
  struct stat status {};
  ASSERT_EQ(stat(pool_.c_str(), &status), 0);
  write("/proc/locks",
        fmt::format("1: POSIX  ADVISORY  WRITE 7 {0}\n2: FLOCK  ADVISORY  WRITE 4711 {0}\n",
                    fmt::format("{:02x}:{:02x}:{} 0 EOF", major(status.st_dev), minor(status.st_dev), status.st_ino)));
  write("/proc/4711/cmdline", std::string("/usr/bin/ringside-analyzer\0--pool\0", 35));
  const Finding finding = probe_pool_owner(pool_, root());
  EXPECT_EQ(finding.verdict, Verdict::kNote);
  EXPECT_EQ(fact<std::int64_t>(finding, "pid"), 4711);
  expect_has(finding.found, {"process 4711 (ringside-analyzer)"});
}

TEST_F(OwnershipDoctor, TheKernelNamesWhoHoldsAPool) {
  const UniqueFd fd(open(pool_.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(fd.get(), LOCK_EX), 0);
  const Finding finding = probe_pool_owner(pool_, "");
  if (finding.verdict == Verdict::kOk) GTEST_SKIP() << "this kernel, or file system, does not tell in /proc/locks";
  EXPECT_EQ(fact<std::int64_t>(finding, "pid"), getpid());
}

TEST_F(OwnershipDoctor, TheServicesStateIsTheirsAlone) {
  EXPECT_EQ(probe_service(root()).verdict, Verdict::kOk) << "not set up is no fault";
  write("/etc/passwd",
        "root:x:0:0:root:/root:/bin/bash\nringside:x:" + std::to_string(geteuid()) + ":998::/:/bin/false\n");
  expect_finding(probe_service(root()), Verdict::kNote, {},
                 {"install -d -o ringside -g ringside -m 0700 /var/lib/ringside"});
  std::filesystem::create_directories(root() + "/var/lib/ringside");
  chmod((root() + "/var/lib/ringside").c_str(), 0755);
  expect_finding(probe_service(root()), Verdict::kNote, {}, {"chmod 0700 /var/lib/ringside"});
  chmod((root() + "/var/lib/ringside").c_str(), 0700);
  EXPECT_EQ(probe_service(root()).verdict, Verdict::kOk);
  write("/etc/passwd", "ringside:x:54321:998::/:/bin/false\n");
  expect_finding(probe_service(root()), Verdict::kProblem, {}, {"chown -R ringside:ringside /var/lib/ringside"});
}

TEST(DoctorTable, WrapsBetweenWordsAndLeavesCommandsWhole) {
  const std::string command = "`ndctl create-namespace --force --reconfig=namespace0.0 --mode=fsdax`";
  const std::vector<Finding> findings = {{"topic",
                                          Verdict::kNote,
                                          std::string(30, 'a') + " " + std::string(30, 'b'),
                                          "first this, then that, and at last: " + command,
                                          {}}};
  expect_has(doctor_table(findings, 80), {std::string(30, 'a') + "\n" + std::string(22, ' ') + std::string(30, 'b'),
                                          "\n" + std::string(25, ' ') + command + "\n"});
  EXPECT_NE(doctor_table(findings).find(findings[0].found), std::string::npos) << "not wrapped where nobody looks";
}

}  // namespace
}  // namespace ringside
