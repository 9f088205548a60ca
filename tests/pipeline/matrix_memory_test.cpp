// SPDX-License-Identifier: BSD-3-Clause
// Runs whose matrix is larger than the DRAM that it may use: every iterate has the same bits as in a run with the
// matrix in DRAM, each of these two runs can be resumed as the other, and impossible requests are refused in one line.
// If the kernel does not permit far memory, the tests are skipped, with the line that the library prints.
#include <errno.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <map>

#include "tests/pipeline/resume_fixture.hpp"
#include "tests/unit/producer/text/packing.hpp"

namespace ringside {
namespace {

using namespace testing::names;

using Iterates = std::map<std::uint64_t, std::string>;

// Makes userfaultfd(2) and the ioctl of its device fail with EPERM, as in many containers.
void forbid_userfaultfd() {
  constexpr std::uint32_t kNewDescriptor = _IO(0xAA, 0x00);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kNewDescriptor, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

class MatrixMemoryTest : public testing::ResumeTest {
 protected:
  void SetUp() override {
    const Finished tried =
        run("ringside-producer", joined(far(), {"--mode=dram", "--matrix=grid:3", "--iterations=1"}));
    if (tried.exit_code != 0) {
      ASSERT_NE(tried.err.find("userfaultfd"), std::string::npos) << tried.err;
      GTEST_SKIP() << tried.err;
    }
  }

  Words far(const std::string& limit = "1M") const {
    return {"--matrix-memory=far:" + folder_.path(), "--dram-limit=" + limit};
  }

  /// The payloads that a pool keeps; each of them is verified.
  static Iterates iterates_of(const std::string& pool) {
    Iterates iterates;
    const RingReader reader = RingReader::open(pool);
    for (const KeptSlot& kept : reader.recover().kept) {
      std::string payload(kept.header.payload_bytes, '\0');
      EXPECT_TRUE(reader.read(kept, payload.data()).status == ReadStatus::kOk);
      iterates[kept.header.iteration] = std::move(payload);
    }
    return iterates;
  }

  /// Makes a run, and returns its 12 iterates; then the pool is removed.
  Iterates iterates(const std::string& matrix, const Words& more) const {
    expect_exit(0, run_it(matrix, joined({"--iterations=12", "--slots=13", "--quiet"}, more)));
    Iterates found = iterates_of(pool_);
    EXPECT_EQ(found.size(), 12u);
    std::filesystem::remove(pool_);
    return found;
  }

  /// The five-point Laplacian of a square: 4.2 MB in csr format for a side of 250. Every solver accepts this matrix,
  /// either as |A| or as A.
  static std::string laplacian(int side, bool negative) {
    const int rows = side * side;
    std::string text = fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{} {} {}\n", rows, rows,
                                   rows + 2 * side * (side - 1));
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const int row = y * side + x + 1;
        if (y > 0) text += fmt::format("{} {} {}\n", row, row - side, negative ? -1 : 1);
        if (x > 0) text += fmt::format("{} {} {}\n", row, row - 1, negative ? -1 : 1);
        text += fmt::format("{} {} 4.5\n", row, row);
      }
    }
    return text;
  }
};

TEST_F(MatrixMemoryTest, PageRankHasTheBitsOfDramInEveryFormat) {
  const Iterates expected = iterates("grid:400", {});
  for (const char* format : {"csr", "bands", "packed", "ranked"}) {
    // The matrix has 6.4 MB in csr format; the limit is a quarter of that.
    const std::string option = fmt::format("--matrix-format={}", format);
    EXPECT_EQ(iterates("grid:400", joined(far("1600K"), {option})), expected) << format;
    const bool in_bands = format == std::string("bands") || format == std::string("packed");  // a few bytes a band
    EXPECT_GT(summary()["matrix_far_bytes"], in_bands ? -1 : 3'000'000) << format;
    EXPECT_LE(summary()["matrix_dram_peak_bytes"], 1'600 * 1024) << format;
  }
}

TEST_F(MatrixMemoryTest, JacobiAndCgHaveTheBitsOfDramAlsoFromAPackedText) {
  const std::string text = laplacian(250, true);
  const std::string matrix = write_file("a.mtx", text);
  const std::string packed_text = write_file("b.mtx.gz", testing::gzip_of(text));
  for (const char* solver : {"jacobi", "cg"}) {
    const std::string option = fmt::format("--solver={}", solver);
    const Iterates expected = iterates(matrix, {option});
    EXPECT_EQ(iterates(packed_text, joined(far(), {option, "--matrix-format=csr"})), expected) << solver;
    EXPECT_GT(summary()["matrix_faults"], 0);
    EXPECT_GT(summary()["matrix_far_read_bytes"], 0);
    EXPECT_EQ(iterates(matrix, joined(far(), {option, "--matrix-format=packed"})), expected) << solver;
  }
}

TEST_F(MatrixMemoryTest, EntriesInAnyOrderMakeTheSameMatrix) {
  // Duplicate entries are merged; the memory that becomes free at the end of the arrays is given back.
  const Iterates expected = iterates("rmat:14:8:7", {});
  EXPECT_EQ(iterates("rmat:14:8:7", joined(far("1M"), {"--elastic=off"})), expected);
}

TEST_F(MatrixMemoryTest, TheBaselineHasTheSameLastIterate) {
  const auto last = [&](const Words& more) {
    EXPECT_EQ(run_it("grid:400", joined({"--mode=dram", "--iterations=9", "--matrix-format=csr"}, more)).exit_code, 0);
    return summary()["last"];
  };
  const Json expected = last({});
  EXPECT_EQ(summary()["matrix_memory"], "dram");
  EXPECT_TRUE(summary()["matrix_far_bytes"].is_null());
  EXPECT_EQ(last(far()), expected);
  EXPECT_EQ(summary()["matrix_memory"], "far:" + folder_.path());
  EXPECT_EQ(summary()["dram_limit_bytes"], 1 << 20);
}

TEST_F(MatrixMemoryTest, ACacheWrittenFromFarMemoryIsThatOfDramAndItIsMappedInTheNextRun) {
  const std::string matrix = write_file("a.mtx", laplacian(250, true));
  const std::string cache = matrix + ".rows.rsm";
  const Iterates expected = iterates(matrix, {"--solver=jacobi", "--cache"});
  const std::string of_dram = content_of(cache);
  std::filesystem::remove(cache);
  EXPECT_EQ(iterates(matrix, joined(far(), {"--solver=jacobi", "--cache"})), expected);
  EXPECT_TRUE(content_of(cache) == of_dram);
  EXPECT_EQ(iterates(matrix, joined(far(), {"--solver=jacobi", "--cache", "--matrix-format=csr"})), expected);
  EXPECT_EQ(summary()["matrix_far_bytes"], 0) << "the cache is mapped";
}

TEST_F(MatrixMemoryTest, AKilledRunInFarMemoryIsContinuedInDramAndTheOtherWayRound) {
  const Words in_dram = {"--matrix-format=csr"};
  const Words in_far = joined(far(), in_dram);
  for (const auto& [first, second] : {std::pair{in_far, in_dram}, std::pair{in_dram, in_far}}) {
    const std::uint64_t newest = kill_a_run("grid:400", first);
    const std::string end = fmt::format("--iterations={}", newest + 5);
    expect_exit(0, run_it("grid:400", joined(second, {end, "--resume"})));
    EXPECT_EQ(summary()["resumed_from"], newest);
    EXPECT_EQ(export_last(pool_), undisturbed("grid:400", joined(in_dram, {end})));
    for (const char* pool : {"test.pool", "undisturbed.pool"}) std::filesystem::remove(folder_.file(pool));
  }
}

TEST_F(MatrixMemoryTest, TheAccountShowsWhatTheMatrixTookAndWhatTheFaultsCost) {
  const Finished ran = expect_exit(0, run_it("grid:400", joined(far(), {"--iterations=5", "--matrix-format=csr"})));
  expect_has(ran.out, {"  matrix     6.4 MB in far:" + folder_.path() + ", at most 1.0 MB of DRAM: "});
  const Json s = summary();
  const double excess = s["matrix_far_bytes"].get<double>() - s["dram_limit_bytes"].get<double>();
  EXPECT_GE(s["matrix_faults"], 5 * excess / 262144)
      << "each iteration reads what does not fit, at most 256 KiB in a fault";
  EXPECT_GT(s["matrix_fault_s"], 0);
}

TEST_F(MatrixMemoryTest, AnInheritedMaskThatBlocksSigbusDoesNotEndTheRun) {
  const Finished ran =
      run("ringside-producer",
          joined(far(), {"--mode=dram", "--matrix=grid:400", "--matrix-format=csr", "--iterations=2"}), [] {
            sigset_t bus;
            sigemptyset(&bus);
            sigaddset(&bus, SIGBUS);
            sigprocmask(SIG_BLOCK, &bus, nullptr);
          });
  EXPECT_EQ(ran.exit_code, 0) << ran.death_signal << ran.err;
}

using MatrixMemoryRefusals = testing::ResumeTest;

TEST_F(MatrixMemoryRefusals, AFileInTheFoldersPlaceIsRefusedBeforeThereIsAPool) {
  const Words options = {"--matrix-memory=far:" + write_file("file", "x"), "--dram-limit=1M", "--iterations=1"};
  expect_refusal(2, run_it("grid:20", options), {"Not a directory", "existing folder"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(MatrixMemoryRefusals, WithoutPermissionTheLineNamesTheSetting) {
  expect_refusal(3,
                 run("ringside",
                     run_arguments("grid:20", {"--mode=dram", "--matrix-memory=far:" + folder_.path(),
                                               "--dram-limit=1M", "--iterations=1"}),
                     forbid_userfaultfd),
                 {"--matrix-memory far:", "userfaultfd is not permitted", "vm.unprivileged_userfaultfd=1"});
}

TEST_F(MatrixMemoryTest, ALimitAboveTheMemoryIsRefusedNamingTheBound) {
  expect_refusal(2, run_it("grid:20", joined(far("16384G"), {"--mode=dram", "--iterations=1"})),
                 {"--dram-limit: dram_bytes is 17592186044416, expected 1048576 to "});
}

TEST_F(MatrixMemoryTest, AFolderWithTooLittleRoomIsRefusedBeforeTheFirstIteration) {
  const std::string mount_point = folder_.file("small");
  std::filesystem::create_directory(mount_point);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=3m") != 0) {
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  }
  const Words small = {"--matrix-memory=far:" + mount_point, "--dram-limit=1M", "--iterations=1"};
  const Finished matrix = expect_exit(3, run_it("grid:400", small));
  expect_one_line(matrix.err, {"--matrix-memory: ", "do not fit", "name another folder"});
  std::ofstream(mount_point + "/full") << std::string(std::size_t{3} << 20, 'x');
  expect_refusal(3, run_it("grid:20", joined(small, {"--overwrite"})),
                 {"--matrix-memory far:" + mount_point + ": has 0 bytes free, expected at least 1048576"});
  umount(mount_point.c_str());
}

}  // namespace
}  // namespace ringside
