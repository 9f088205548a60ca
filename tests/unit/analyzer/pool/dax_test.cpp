// SPDX-License-Identifier: BSD-3-Clause
// The reasons why a place has no DAX, found on simulated nodes. The kernel itself always refuses DAX, because these
// folders are not on persistent memory. Also tests the content of /proc/PID/smaps for a pool on persistent memory,
// copied from a machine with an NVDIMM (ext4, dax=always).
#include "analyzer/pool/dax.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/pool/pool_device.hpp"
#include "common/platform/error.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/fake_node.hpp"

namespace ringside {
namespace {

using Cause = DaxAnswer::Cause;

class Dax : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("PMEM_IS_PMEM_FORCE");
    const PoolDevice here = find_pool_device(node_.root());
    if (ask_for_dax(node_.root(), here).granted()) GTEST_SKIP() << "this folder is on persistent memory";
  }
  DaxAnswer ask(const std::string& place) const {
    return ask_for_dax(place, find_pool_device(place, node_.root()), node_.root());
  }

  testing::FakeNode node_;
};

using PoolDeviceTest = Dax;

TEST_F(PoolDeviceTest, IsFoundThroughMountDiskAndNamespace) {
  const std::string folder = node_.make_fsdax();
  for (const std::string& place : {folder, folder + "/new.pool"}) {
    const PoolDevice device = find_pool_device(place, node_.root());
    ASSERT_TRUE(device.mount && device.pmem);
    EXPECT_EQ(device.text(), "/dev/pmem0 (ext4 at " + folder + ")");
    EXPECT_EQ(device.mount->option("dax"), "always");
    EXPECT_EQ(device.mount->option("da"), std::nullopt);
    EXPECT_EQ(device.mount->stripe_bytes, 2 << 20);
    EXPECT_EQ(device.pmem->name, "namespace0.0");
    EXPECT_EQ(device.pmem->mode, "fsdax");
    EXPECT_EQ(device.pmem->region, "region0");
    EXPECT_EQ(device.pmem->align_bytes, 2 << 20);
    EXPECT_EQ(device.numa_node, 0);
    EXPECT_EQ(device.bytes, 262144 * 512);
    EXPECT_TRUE(device.passes_dax);
  }
}

TEST_F(PoolDeviceTest, APartitionIsPartOfItsDisk) {
  const std::string folder = node_.make_fsdax();
  node_.add_partition(1, node_.claim(0, "pfn", "pmem0"), 4096);
  node_.mount(1, folder, "xfs", "/dev/pmem0p1", "dax=always,sunit=4096,swidth=4096");
  const PoolDevice device = find_pool_device(folder, node_.root());
  EXPECT_EQ(device.name, "pmem0p1");
  EXPECT_EQ(device.disks, std::vector<std::string>{"pmem0"});
  EXPECT_EQ(device.start_bytes, 4096 * 512);
  EXPECT_TRUE(device.passes_dax) << "the disk says it for its partitions";
  EXPECT_EQ(device.pmem->name, "namespace0.0");
  EXPECT_EQ(device.mount->stripe_bytes, 2 << 20);
}

TEST_F(PoolDeviceTest, AMappedDeviceIsFollowedToItsDisks) {
  const std::string folder = node_.make_fsdax();
  node_.add_disk(1, "virtual/block/dm-0", true);
  std::filesystem::create_directories(node_.root() + "/sys/devices/virtual/block/dm-0/slaves");
  std::filesystem::create_directory_symlink(node_.root() + "/sys/class/block/pmem0",
                                            node_.root() + "/sys/devices/virtual/block/dm-0/slaves/pmem0");
  node_.mount(1, folder, "ext4", "/dev/mapper/ring", "dax=always");
  const PoolDevice device = find_pool_device(folder, node_.root());
  EXPECT_EQ(device.name, "dm-0");
  EXPECT_TRUE(device.mapped);
  EXPECT_EQ(device.disks, std::vector<std::string>{"pmem0"});
  EXPECT_EQ(device.pmem->region, "region0");
}

TEST_F(PoolDeviceTest, NamesWithBlanksAndHiddenMountsAreRead) {
  const std::string folder = node_.root() + "/with blank";
  std::filesystem::create_directories(folder);
  node_.write("/proc/self/mountinfo",
              "21 1 254:0 / / rw - ext4 /dev/vda rw\n"
              "22 21 0:50 / " +
                  node_.root() +
                  "/with\\040blank rw - tmpfs hidden rw\n"
                  "23 21 0:51 / " +
                  node_.root() + "/with\\040blank rw - tmpfs above rw\n");
  const PoolDevice device = find_pool_device(folder, node_.root());
  ASSERT_TRUE(device.mount);
  EXPECT_EQ(device.mount->source, "above") << "the last mounted hides the other";
  EXPECT_EQ(device.name, "");
  EXPECT_FALSE(device.pmem);
}

TEST_F(PoolDeviceTest, WithoutMountinfoNothingIsGuessed) {
  const PoolDevice device = find_pool_device(node_.make_folder(), node_.root());
  EXPECT_FALSE(device.mount);
  EXPECT_EQ(device.text(), "an unknown file system");
}

TEST_F(Dax, AKernelBeforeMapSyncIsTheReasonWhateverTheMount) {
  const std::string folder = node_.make_fsdax();
  node_.write("/proc/sys/kernel/osrelease", "4.14.0-3-amd64\n");
  const DaxAnswer answer = ask(folder);
  EXPECT_EQ(answer.cause, Cause::kKernel);
  expect_has(answer.reason, {"4.14.0-3-amd64", "MAP_SYNC"});
  expect_has(answer.advice, {"4.15"});
  node_.write("/proc/sys/kernel/osrelease", "4.15.0\n");
  EXPECT_NE(ask(folder).cause, Cause::kKernel);
}

TEST_F(Dax, WhatIsNoPersistentMemoryIsNamed) {
  node_.add_disk(0, "pci0000:00/virtio1/block/vdb", false);
  const std::string folder = node_.make_folder();
  node_.mount(0, folder, "ext4", "/dev/vdb", "data=ordered");
  EXPECT_EQ(ask(folder).cause, Cause::kNotPmem);
  EXPECT_EQ(ask(folder).reason, "/dev/vdb (ext4 at " + folder + ") is not persistent memory");
}

TEST_F(Dax, SectorAndRawModeAreNamedWithTheCommand) {
  const std::string folder = node_.make_folder();
  node_.add_namespace(0, "safe");
  node_.add_disk(0, node_.claim(0, "btt", "pmem0s"), false);
  node_.mount(0, folder, "ext4", "/dev/pmem0s", "data=ordered");
  EXPECT_EQ(ask(folder).cause, Cause::kSectorMode);
  expect_has(ask(folder).reason, {"/dev/pmem0s", "namespace0.0 is in sector mode"});
  expect_has(ask(folder).advice, {"ndctl create-namespace --force --reconfig=namespace0.0 --mode=fsdax", "erases",
                                  "stripe_width=512 /dev/pmem0`", "mount -o dax=always /dev/pmem0 " + folder});

  node_.add_namespace(1, "raw");
  node_.add_disk(1, node_.unclaimed(1, "pmem1"), false);
  node_.mount(1, folder, "ext4", "/dev/pmem1", "data=ordered");
  EXPECT_EQ(ask(folder).cause, Cause::kRawMode);
  expect_has(ask(folder).reason, {"/dev/pmem1", "namespace1.0 is in raw mode"});
}

TEST_F(Dax, AMountWithoutDaxIsNamedAsItIs) {
  for (const auto& [options, found] :
       {std::pair{"data=ordered", "without dax"}, std::pair{"dax=inode", "with dax=inode"},
        std::pair{"dax=never", "with dax=never"}}) {
    testing::FakeNode node;
    const std::string folder = node.make_fsdax("memory_controller", options);
    const DaxAnswer answer = ask_for_dax(folder, find_pool_device(folder, node.root()), node.root());
    EXPECT_EQ(answer.cause, Cause::kMountOption) << options;
    expect_has(answer.reason, {"/dev/pmem0 (ext4 at", "is mounted", found});
    expect_has(answer.advice, {"mount -o dax=always /dev/pmem0 " + folder});
    EXPECT_EQ(answer.reason.find("dax flag") == std::string::npos, std::string(options) == "dax=never");
  }
}

TEST_F(Dax, AFileSystemOrADeviceWithoutItIsNamed) {
  const std::string folder = node_.make_fsdax();
  node_.mount(0, folder, "btrfs", "/dev/pmem0", "ssd");
  EXPECT_EQ(ask(folder).cause, Cause::kFileSystem);
  expect_has(ask(folder).reason, {"btrfs has no DAX"});
  node_.mount(0, folder, "ext4", "/dev/pmem0", "dax=always");
  EXPECT_EQ(ask(folder).cause, Cause::kUnknown) << "all looks well, and the kernel refuses all the same";
  node_.write("/sys/class/block/pmem0/queue/dax", "0\n");
  EXPECT_EQ(ask(folder).cause, Cause::kDevice);
}

TEST_F(Dax, VirtioPmemIsFlushedByItsHost) {
  const std::string folder = node_.make_folder();
  node_.add_namespace(0, "memory", "");
  const std::string claimed = "pci0000:00/0000:00:04.0/virtio2/ndbus0/region0/pfn0.0";
  node_.write("/sys/devices/" + claimed + "/namespace", "namespace0.0\n");
  node_.add_disk(0, claimed + "/block/pmem0", true);
  node_.mount(0, folder, "ext4", "/dev/pmem0", "dax=always");
  EXPECT_EQ(ask(folder).cause, Cause::kHostFlushed);
}

TEST_F(Dax, WhatIsNoFileSystemIsRefusedAsSuch) {
  const DaxAnswer answer = ask("/dev/null");
  EXPECT_EQ(answer.cause, Cause::kUnreachable);
  expect_has(answer.reason, {"character device", "devdax"});
  EXPECT_EQ(ask(node_.root() + "/no/x.pool").cause, Cause::kUnreachable);
  expect_has(failure_line([&] { require_dax(node_.root() + "/no/x.pool"); }, ExitCode::kSystem),
             {"/no/x.pool: --require-dax: No such file", "expected a file in a writable folder"});
}

TEST_F(Dax, RequiredWhereItIsNotItIsRefusedInOneLineThatNamesThePlace) {
  const std::string pool = node_.make_folder() + "/x.pool";
  expect_has(failure_line([&] { require_dax(pool); }, ExitCode::kSystem),
             {pool, "--require-dax", "not persistent memory", "expected", "dax=always"});
  EXPECT_TRUE(std::filesystem::is_empty(node_.make_folder())) << "asking leaves nothing";
}

TEST_F(Dax, RequiredItIsSatisfiedByWhatPassesForIt) {
  setenv("PMEM_IS_PMEM_FORCE", "1", 1);
  const char* allowed = std::getenv("RINGSIDE_ALLOW_FORCED_PMEM");
  const std::string before = allowed == nullptr ? "" : allowed;
  setenv("RINGSIDE_ALLOW_FORCED_PMEM", "1", 1);
  EXPECT_NO_THROW(require_dax(node_.make_folder() + "/x.pool"));
  unsetenv("RINGSIDE_ALLOW_FORCED_PMEM");
  EXPECT_THROW(require_dax(node_.make_folder() + "/x.pool"), Error) << "forced, but not for tests";
  if (allowed != nullptr) setenv("RINGSIDE_ALLOW_FORCED_PMEM", before.c_str(), 1);
  unsetenv("PMEM_IS_PMEM_FORCE");
}

std::string mapping(const char* range, const char* flags) {
  return std::string(range) + " rw-s 00000000 103:00 13                        /mnt/ringside.pool\n" +
         "Size:              16384 kB\nKernelPageSize:        4 kB\nTHPeligible:           0\nVmFlags: " + flags +
         " \n";
}

const char* const kSynchronous = "rd wr sh mr mw me ms sf sd hg";
const char* const kPageCache = "rd wr sh mr mw me ms sd";

bool is_synchronous(const std::string& smaps, std::uintptr_t begin, std::uintptr_t end) {
  std::istringstream stream(smaps);
  return is_mapped_synchronously(stream, begin, end);
}

TEST(SynchronousMappingTest, AMappingWithSynchronousFaultsPersistsInPlace) {
  const std::string smaps = mapping("00400000-00500000", kPageCache) +
                            mapping("7fa42bc00000-7fa42cc00000", kSynchronous) +
                            mapping("7fa42ce00000-7fa42d200000", kPageCache);
  EXPECT_TRUE(is_synchronous(smaps, 0x7fa42bc00000, 0x7fa42cc00000));
  EXPECT_TRUE(is_synchronous(smaps, 0x7fa42bc01000, 0x7fa42bc02000));
  EXPECT_FALSE(is_synchronous(smaps, 0x400000, 0x401000)) << "a page cache";
}

TEST(SynchronousMappingTest, EveryPartOfTheMappingMustBeSynchronous) {
  const std::string first = mapping("7fa42bc00000-7fa42cc00000", kSynchronous);
  EXPECT_TRUE(
      is_synchronous(first + mapping("7fa42cc00000-7fa42d000000", kSynchronous), 0x7fa42bc00000, 0x7fa42d000000))
      << "in two pieces";
  EXPECT_FALSE(
      is_synchronous(first + mapping("7fa42cc00000-7fa42d000000", kPageCache), 0x7fa42bc00000, 0x7fa42d000000));
  EXPECT_FALSE(is_synchronous(first, 0x7fa42bc00000, 0x7fa42cc00001)) << "one byte is not mapped";
  EXPECT_FALSE(is_synchronous(first, 0x7fa42bbfffff, 0x7fa42cc00000)) << "one byte is not mapped";
}

TEST(SynchronousMappingTest, AKernelThatSaysNothingIsNotBelieved) {
  EXPECT_FALSE(is_synchronous("", 0x1000, 0x2000));
  EXPECT_FALSE(is_synchronous("00001000-00002000 rw-s 00000000 103:00 13 /x\nSize: 4 kB\n", 0x1000, 0x2000));
  EXPECT_FALSE(is_synchronous(mapping("00001000-00002000", "rd wr sfx"), 0x1000, 0x2000)) << "another word";
}

TEST(SynchronousMappingTest, OrdinaryMemoryIsNotSynchronous) {
  const std::vector<std::byte> memory(100'000);
  EXPECT_FALSE(is_mapped_synchronously(memory.data(), memory.size()));
}

}  // namespace
}  // namespace ringside
