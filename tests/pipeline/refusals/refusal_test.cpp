// SPDX-License-Identifier: BSD-3-Clause
// Bad input and bad states, end to end: one clear line, the right exit code, and the iterates that were kept before are
// still in the pool.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>

#include "common/ring/ring_layout.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class RefusalTest : public PipelineTest {
 protected:
  void expect_refused(const Words& arguments, int code, const Words& fragments,
                      const std::function<void()>& in_child = {}) const {
    expect_refusal(code, run("ringside", arguments, in_child), fragments);
  }

  /// Expects that the pool still contains what `keep_a_run("--iterations=10")` kept.
  void expect_kept() const {
    const Json info = pool_info();
    ASSERT_EQ(info["kept"], 8);
    EXPECT_EQ(info["iterates"].back()["iteration"], 10);
    EXPECT_EQ(info["rows"], 400);
    expect_intact();
  }
};

TEST_F(RefusalTest, MatricesThatCannotBeReadLeaveNoPoolBehind) {
  expect_refused(run_arguments(folder_.file("missing.mtx")), 2, {"missing.mtx"});
  expect_refused(run_arguments(folder_.path()), 2, {folder_.path()});
  expect_refused(run_arguments(write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n")), 2,
                 {"a.mtx", "line 3", "x"});
  expect_refused(run_arguments("grid:0"), 2, {"grid:0"});
  expect_refused(run_arguments("grid:99999999999"), 2, {"grid:99999999999"});
  expect_refused(run_arguments("rmat:x"), 2, {"rmat:x"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(RefusalTest, JacobiThatDivergesSaysSoAndKeepsNoNaN) {
  const std::string matrix =
      write_file("diverging.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 3\n2 1 3\n2 2 1\n");
  expect_refusal(2, run("ringside", run_arguments(matrix, {"--solver=jacobi", "--iterations=100000"})),
                 {"diverges", "factor of about 3"});
  EXPECT_FALSE(summary()["converged"].get<bool>());
  const Json info = pool_info();
  for (const Json& iterate : info["iterates"]) EXPECT_EQ(iterate["reductions"]["non_finite"], 0);
}

TEST_F(RefusalTest, InvalidOptionsAreRefused) {
  const auto with = [&](const std::string& option) { return run_arguments("grid:10", {option}); };
  expect_refused(with("--every=0"), 2, {"--every", "0"});
  expect_refused(with("--durability=eternal"), 2, {"--durability", "eternal", "power"});
  expect_refused(with("--mode=fast"), 2, {"--mode", "fast", "pipeline"});
  expect_refused(with("--coordination=telepathy"), 2, {"--coordination", "telepathy", "locks|messages"});
  expect_refused(with("--producer-cores=0-"), 2, {"--producer-cores", "0-"});
  expect_refused(with("--producer-cores=4000"), 3, {"--producer-cores", "4000"});
  expect_refused({"run", "--matrix=grid:10", "--pool", ""}, 2, {"--pool", "empty"});
  expect_refused({"run", "--matrix=grid:10", "--summary", ""}, 2, {"--summary", "empty"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(RefusalTest, APoolWithAnotherRunIsKeptUnlessOverwriteIsGiven) {
  keep_a_run("--iterations=10");
  expect_refused(run_arguments("grid:20"), 2, {pool_, "another run", "--overwrite"});
  expect_refused(run_arguments("grid:30"), 2, {pool_, "--overwrite"});
  expect_kept();
  // The analyzer itself also refuses, whichever producer attaches.
  Service analyzer({"--socket", socket_, "--pool", pool_});
  expect_refusal(2, run("ringside-producer", {"--matrix=grid:20", "--socket=" + socket_}), {pool_, "another run"});
  analyzer.stop(SIGTERM);
  expect_kept();

  EXPECT_EQ(run_it("grid:20", {"--overwrite", "--iterations=3"}).exit_code, 0);
  Json info = pool_info();
  EXPECT_EQ(info["kept"], 3) << "the other run's iterates are gone";
  EXPECT_EQ(run_it("grid:30", {"--overwrite", "--iterations=3"}).exit_code, 0);
  info = pool_info();
  EXPECT_EQ(info["rows"], 900) << "another shape: a new pool";
}

TEST_F(RefusalTest, FilesThatAreNotPoolsAreRefused) {
  const std::string text = "this is no pool, but somebody's letter\n";
  pool_ = write_file("letter.pool", text);
  expect_refused(run_arguments("grid:10"), 2, {"letter.pool"});
  expect_refused(run_arguments("grid:10", {"--overwrite"}), 2, {"letter.pool"});
  for (const char* command : {"info", "verify", "replay"}) expect_refused({command, pool_}, 2, {"letter.pool"});
  expect_refused({"export", pool_, "--output", folder_.file("x")}, 2, {"letter.pool"});
  EXPECT_EQ(content_of(pool_), text) << "left as it was, even with --overwrite";
  expect_refused({"info", folder_.file("nothing.pool")}, 2, {"nothing.pool"});
  expect_refused({"info", folder_.path()}, 2, {folder_.path()});
}

TEST_F(RefusalTest, AnUnfinishedPoolIsReplacedWithOverwriteOnly) {
  write_file("test.pool", std::string(10'000'000, '\0'));
  expect_refused(run_arguments("grid:10"), 2, {"test.pool", "interrupted", "--overwrite"});
  expect_exit(0, run_it("grid:10", {"--overwrite", "--iterations=3"}));
  expect_intact();
}

TEST_F(RefusalTest, APoolInUseIsRefused) {
  keep_a_run("--iterations=10");
  Service owner({"--socket", socket_, "--pool", pool_});
  Process producer("ringside-producer", {"--matrix=grid:20", "--socket=" + socket_, "--overwrite", kEndless});
  ASSERT_TRUE(owner.wait_for_err("event=attached"));
  expect_refused(run_arguments("grid:20", {"--overwrite"}), 3, {pool_, "use"});
  EXPECT_EQ(run("ringside", {"info", pool_}).exit_code, 0) << "looking is allowed";
  expect_refused({"run", "--matrix=grid:20", "--pool=" + folder_.file("other.pool"), "--summary=/nowhere/s.json"}, 3,
                 {"--summary", "/nowhere/s.json"});
}

TEST_F(RefusalTest, AnotherAnalyzerIsNamedByItsPid) {
  keep_a_run("--iterations=10");
  Service owner({"--socket", socket_, "--pool", pool_});
  const std::string pid = "process " + std::to_string(owner.pid()) + " (ringside-analyzer)";
  expect_refusal(3, run("ringside-analyzer", {"--socket", socket_, "--pool", folder_.file("other.pool")}),
                 {socket_, "another analyzer", pid, "--socket"});

  Process producer("ringside-producer", {"--matrix=grid:20", "--socket=" + socket_, "--overwrite", kEndless});
  ASSERT_TRUE(owner.wait_for_err("event=attached"));
  expect_refusal(3, run("ringside-analyzer", {"--socket", folder_.file("t"), "--pool", pool_}),
                 {pool_, "in use by " + pid});
  const Json report = Json::parse(run("ringside", {"doctor", pool_, "--json"}).out);
  EXPECT_EQ(report["findings"]["in_use"]["pid"], owner.pid());
  EXPECT_EQ(report["findings"]["in_use"]["verdict"], "note");
}

TEST_F(RefusalTest, WithoutDaxNothingIsMadeOrChangedWhereItIsRequired) {
  if (run("ringside", {"doctor", pool_, "--json"}).out.find("\"dax\": true") != std::string::npos) {
    GTEST_SKIP() << "this folder is on persistent memory";
  }
  const Words line = {pool_, "--require-dax", "persist in place", "expected", "dax=always"};
  const std::string socket = folder_.file("sockets/s");
  const auto analyzer = [&](const std::string& how) {
    // If the analyzer accepted the pool, it would serve and not end.
    return run("ringside-analyzer", {"--pool=" + pool_, "--socket=" + socket, how}, [] { alarm(30); });
  };
  const std::string config = write_file("a.toml", "require-dax = true\n");
  const auto expect_refused_by_all = [&] {
    expect_refused(run_arguments("grid:20", {"--require-dax"}), 3, line);
    expect_refused(run_arguments("grid:20", {"--require-dax", "--overwrite"}), 3, line);
    for (const std::string& how : {std::string("--require-dax"), "--config=" + config}) {
      expect_refusal(3, analyzer(how), line);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.file("sockets"))) << "refused before a socket is made";
  };
  expect_refused_by_all();
  EXPECT_FALSE(std::filesystem::exists(pool_));
  keep_a_run("--iterations=10");
  const std::string before = content_of(pool_);
  expect_refused_by_all();
  EXPECT_EQ(content_of(pool_), before);
  expect_refused(run_arguments("grid:20", {"--require-dax", "--mode=dram"}), 2,
                 {"--require-dax", "--mode dram", "--mode pipeline"});
}

TEST_F(RefusalTest, APoolOfANewerReleaseNamesBothVersions) {
  keep_a_run("--iterations=10");
  const RingGeometry shape = RingReader::open(pool_).ring().geometry();
  std::string bytes = content_of(pool_);
  for (const std::uint64_t offset : shape.superblock_offset) {
    std::byte* at = reinterpret_cast<std::byte*>(bytes.data()) + offset;
    const std::uint32_t newer = kRingVersion + 1;
    std::memcpy(at + offsetof(SuperblockHead, version), &newer, sizeof(newer));
    const std::uint64_t hash = superblock_hash(at, shape.superblock_bytes());
    std::memcpy(at + offsetof(SuperblockHead, hash), &hash, sizeof(hash));
  }
  write_file("test.pool", bytes);
  const Words line = {pool_, "version " + std::to_string(kRingVersion + 1),
                      "versions " + std::to_string(kOldestRingVersion) + " to " + std::to_string(kRingVersion),
                      "newer"};
  expect_refused(run_arguments("grid:20"), 2, line);
  expect_refused(run_arguments("grid:20", {"--overwrite"}), 2, line);
  for (const char* command : {"info", "verify", "replay"}) expect_refused({command, pool_}, 2, line);
  expect_refusal(2, run("ringside-analyzer", {"--pool", pool_, "--socket", socket_}), line);
  EXPECT_EQ(content_of(pool_), bytes) << "left as it was";
}

TEST_F(RefusalTest, APlaceOfAnotherUserNamesItsOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "acting as two users needs root";
  keep_a_run("--iterations=10");
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  const auto as_nobody = [] {
    constexpr uid_t kNobody = 65534;
    if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(126);
  };
  const Finished first = run("ringside-analyzer", {"--version"}, as_nobody);
  if (first.exit_code != 0) GTEST_SKIP() << "other users may not start the programs of this build";
  // The analyzer gets a separate folder for its socket, so that only the pool is not accessible.
  const std::string theirs = folder_.file("theirs");
  std::filesystem::create_directory(theirs);
  ASSERT_EQ(chown(theirs.c_str(), 65534, 65534), 0);
  const auto analyzer = [&](const std::string& pool, const Words& more = {}) {
    return run("ringside-analyzer", joined({"--pool=" + pool, "--socket=" + theirs + "/s"}, more), as_nobody);
  };
  Finished ended = analyzer(pool_);
  EXPECT_EQ(ended.exit_code, 3);
  expect_one_line(ended.err, {pool_, "Permission denied", "belongs to user root, mode 0600", "runs as user nobody"});
  ended = analyzer(folder_.file("new.pool"));
  EXPECT_EQ(ended.exit_code, 3);
  expect_one_line(ended.err, {"new.pool", "Permission denied", folder_.path() + " belongs to user root, mode 0755",
                              "runs as user nobody"});
  ASSERT_EQ(chmod(pool_.c_str(), 0666), 0);
  ended = analyzer(pool_);
  EXPECT_EQ(ended.exit_code, 3) << "it can be written, but its owner reads it";
  expect_has(ended.err, {pool_ + ": the file belongs to user root", "--foreign-pool"});
  ended = analyzer(pool_, {"--foreign-pool"});
  EXPECT_EQ(ended.exit_code, 3) << "it can be written, but not taken from the others";
  expect_has(ended.err, {"other users can read it"});
  expect_kept();
}

TEST_F(RefusalTest, APoolThatOthersMayReadBecomesPrivateAndThisIsReported) {
  keep_a_run("--iterations=10");
  ASSERT_EQ(chmod(pool_.c_str(), 0644), 0);
  Process analyzer("ringside-analyzer", {"--socket", socket_, "--pool", pool_, "--log-level", "info"});
  ASSERT_TRUE(analyzer.wait_for_err("event=pool_mode"));
  ASSERT_TRUE(analyzer.wait_for_err("event=listening"));
  struct stat status {};
  ASSERT_EQ(stat(pool_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  expect_exit(0, analyzer.stop(SIGTERM));
  expect_kept();
}

TEST_F(RefusalTest, AFullDiskLeavesNothingBehind) {
  expect_refused(run_arguments("grid:1000"), 3, {pool_}, [] {
    // If nothing may be mounted, a full disk is simulated: no file of this process may grow beyond 20 MB.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20'000'000, 20'000'000};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(RefusalTest, AFullFileSystemNamesTheSpaceItLacks) {
  const std::string mount_point = folder_.file("small");
  std::filesystem::create_directory(mount_point);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=30m") != 0) {
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  }
  const std::string small_pool = mount_point + "/p.pool";
  expect_refusal(3, run("ringside", {"run", "--matrix=grid:1000", "--pool=" + small_pool}), {small_pool, "space"});
  EXPECT_FALSE(std::filesystem::exists(small_pool));
  expect_done({"run", "--matrix=grid:20", "--pool=" + small_pool, "--iterations=3", "--slots=3"});
  expect_exit(3, run("ringside", {"run", "--matrix=grid:1000", "--pool=" + small_pool, "--overwrite"}));
  EXPECT_EQ(Json::parse(run("ringside", {"info", small_pool, "--json"}).out)["kept"], 3)
      << "the old pool is still there";
  umount(mount_point.c_str());
}

TEST_F(RefusalTest, ADamagedChunkIsFoundNamedAndNotExported) {
  keep_a_run("--iterations=10");
  damage_payload_of(10);
  expect_has(expect_exit(5, run("ringside", {"verify", pool_})).out, {"DAMAGED: 1 of 1 chunks"});
  expect_refused({"export", pool_, "--output", folder_.file("y.npy")}, 5,
                 {"iteration 10", "damaged", "--iteration 9 is the newest intact one"});
  EXPECT_FALSE(std::filesystem::exists(folder_.file("y.npy")));
  EXPECT_EQ(run("ringside", {"export", pool_, "--iteration=9", "--output", folder_.file("y.npy")}).exit_code, 0)
      << "damage costs the damaged slot only";
}

TEST_F(RefusalTest, ExportRefusesIterationsThatAreNotKept) {
  keep_a_run("--iterations=10");
  expect_refused({"export", pool_, "--iteration=1", "--output", folder_.file("x")}, 2, {"--iteration", "1", "3 to 10"});
  expect_refused({"export", pool_, "--iteration=first", "--output", folder_.file("x")}, 2, {"--iteration", "first"});
  expect_refused({"export", pool_, "--format=xlsx", "--output", folder_.file("x")}, 2, {"--format", "xlsx"});
  expect_refused({"export", pool_, "--output", "/nowhere/x.npy"}, 3, {"--output", "/nowhere/x.npy"});
}

TEST_F(RefusalTest, AnExportThatFailsLeavesNoPartOfAFile) {
  keep_a_run("--iterations=10");
  const std::string output = folder_.file("x.npy");
  std::filesystem::create_directory(output);
  expect_refused({"export", pool_, "--output", output}, 3, {"--output", output, "folder"});
  const auto files = std::filesystem::directory_iterator(folder_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 4) << "the pool, its two logs, and the folder in the way";
}

}  // namespace
}  // namespace ringside
