// SPDX-License-Identifier: BSD-3-Clause
// Disks that really fail: an ext4 file system on a loop device whose backing file has no more room, an ext4 that
// becomes read-only after an error, and one that is shut down during the run. If no loop device can be made, the tests
// are skipped, with the reason.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/platform/unique_fd.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

constexpr std::uint64_t kSlots = 32;

class RealDiskTest : public PipelineTest {
 protected:
  ~RealDiskTest() override {
    shell("umount '" + disk_ + "'");
    if (!device_.empty()) shell("losetup --detach " + device_);
    shell("umount '" + backing_ + "'");
  }

  /// Makes an ext4 file system of 256 MB whose backing file has only the size `backing`. If this machine does not
  /// permit this, returns false and sets `why_not_`.
  bool make_disk(const std::string& backing) {
    std::filesystem::create_directory(disk_);
    std::filesystem::create_directory(backing_);
    const bool made = must("mount -t tmpfs -o size=" + backing + " none '" + backing_ + "'") &&
                      must("truncate --size=256M '" + image_ + "'") &&
                      must("mkfs.ext4 -q -F -J size=4 '" + image_ + "'") && attach() && mount_disk();
    pool_ = disk_ + "/test.pool";
    return made;
  }

  bool mount_disk() { return must("mount -o errors=remount-ro " + device_ + " '" + disk_ + "'"); }

  /// Repairs the disk: the backing file has room again, and the file system recovers from its journal.
  void repair() {
    ASSERT_TRUE(must("mount -o remount,size=400m '" + backing_ + "'")) << why_not_;
    ASSERT_TRUE(remount()) << why_not_;
  }

  bool remount() { return must("umount '" + disk_ + "'") && mount_disk(); }

  Words long_run() const {
    return run_arguments("grid:300", {"--iterations=1000000", "--quiet", "--slots=" + std::to_string(kSlots)});
  }

  void expect_failed_disk(const Finished& ran) const {
    EXPECT_EQ(ran.exit_code, 3) << ran.death_signal << ran.err;
    expect_one_line(ran.err, {"ringside: ", pool_, "failed"});
  }

  /// Expects that every iterate that the account counts as persisted is intact, unless a later iterate has overwritten
  /// it.
  void expect_persisted_found() const {
    const Json account = summary();
    const auto persisted = account["steps_persisted"].get<std::uint64_t>();
    const auto published = account["steps_published"].get<std::uint64_t>();
    EXPECT_GT(persisted, 0u);
    const Json verified = Json::parse(run("ringside", {"verify", pool_, "--json"}).out);
    std::vector<std::uint64_t> intact;
    for (const Json& slot : verified["slots"]) {
      if (slot.value("verdict", "") == "intact") intact.push_back(slot["iteration"].get<std::uint64_t>());
    }
    const std::uint64_t oldest = published > kSlots ? published - kSlots + 1 : 1;
    for (std::uint64_t iteration = oldest; iteration <= persisted; ++iteration) {
      EXPECT_NE(std::find(intact.begin(), intact.end(), iteration), intact.end()) << iteration << " in " << verified;
    }
  }

  std::string why_not_;
  std::string device_;
  std::string disk_ = folder_.file("disk");
  std::string backing_ = folder_.file("backing");
  std::string image_ = backing_ + "/image";

 private:
  static int shell(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()); }

  bool must(const std::string& command) {
    if (shell(command) == 0) return true;
    why_not_ = "'" + command + "' failed";
    return false;
  }

  bool attach() {
    FILE* const output = popen(("losetup --find --show '" + image_ + "' 2> /dev/null").c_str(), "r");
    std::array<char, 64> line{};
    if (output != nullptr && std::fgets(line.data(), line.size(), output) != nullptr) device_ = line.data();
    if (output == nullptr || pclose(output) != 0 || device_.empty()) {
      device_.clear();
      why_not_ = "losetup finds no loop device";
      return false;
    }
    device_.pop_back();  // the newline at the end
    return true;
  }
};

TEST_F(RealDiskTest, ALoopDeviceWhoseBackingIsFullEndsTheRunWithExitCode3) {
  if (!make_disk("24m")) GTEST_SKIP() << "no ext4 on a loop device can be made here: " << why_not_;
  const Finished ran = run("ringside", long_run());
  expect_failed_disk(ran);
  repair();
  expect_persisted_found();
}

TEST_F(RealDiskTest, AFileSystemThatMakesItselfReadOnlyEndsTheRunWithExitCode3) {
  if (!make_disk("200m")) GTEST_SKIP() << "no ext4 on a loop device can be made here: " << why_not_;
  Process running("ringside", long_run());
  ASSERT_TRUE(wait_for_commits(kSlots + 3));
  std::ofstream trigger("/sys/fs/ext4/" + device_.substr(device_.rfind('/') + 1) + "/trigger_fs_error");
  trigger << "1" << std::flush;
  if (!trigger) GTEST_SKIP() << "this kernel triggers no error of a file system";
  expect_failed_disk(running.finish());
  repair();
  expect_persisted_found();
}

TEST_F(RealDiskTest, AFileSystemThatIsShutDownEndsTheRunWithExitCode3) {
  if (!make_disk("200m")) GTEST_SKIP() << "no ext4 on a loop device can be made here: " << why_not_;
  Process running("ringside", long_run());
  ASSERT_TRUE(wait_for_commits(3));
  constexpr unsigned long kShutDown = _IOR('X', 125, std::uint32_t);
  std::uint32_t without_flushing = 2;
  const UniqueFd folder(open(disk_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (ioctl(folder.get(), kShutDown, &without_flushing) != 0) {
    GTEST_SKIP() << "a file system cannot be shut down here: " << errno_text(errno);
  }
  const Finished ran = running.finish();
  EXPECT_EQ(ran.exit_code, 3) << ran.death_signal << ran.err;
  expect_lacks(ran.err, {"signal"});
}

TEST_F(RealDiskTest, ADiskThatCannotBeReadEndsItsReadersAndARunWithExitCode3) {
  if (!make_disk("200m")) GTEST_SKIP() << "no ext4 on a loop device can be made here: " << why_not_;
  expect_done(run_arguments("grid:300", {"--iterations=40", "--quiet", "--slots=32", "--journal=off"}));
  ASSERT_TRUE(remount()) << why_not_;                // drops the page cache
  ASSERT_EQ(truncate(image_.c_str(), 40 << 20), 0);  // the device reports I/O errors beyond this
  const std::vector<Words> users = {
      {"verify", pool_},
      {"replay", pool_},
      {"export", pool_, "--iteration=40", "--output=" + folder_.file("x.npy")},
      {"run", "--matrix=grid:300", "--pool=" + pool_, "--resume", "--iterations=50", "--quiet", "--journal=off"}};
  for (const Words& arguments : users) {
    SCOPED_TRACE(arguments.front());
    expect_refusal(3, run("ringside", arguments), {pool_, "the disk failed"});
  }
}

}  // namespace
}  // namespace ringside
