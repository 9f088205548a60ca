// SPDX-License-Identifier: BSD-3-Clause
// No output replaces a file that its command reads, or a pool, a journal or a cache. The programs themselves are
// tested.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <string>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace testing::names;

class OutputsTest : public PipelineTest {
 protected:
  /// Expects that `arguments` are refused with exit code 2 and one line, and that `file` keeps its bytes.
  void expect_refused(const Words& arguments, const std::string& file, const Words& fragments) const {
    const std::string before = content_of(file);
    expect_refusal(2, run("ringside", arguments), fragments);
    EXPECT_TRUE(content_of(file) == before) << file << " was changed";
  }

  const std::string matrix_ = folder_.write("edges.txt", "0 1\n1 2\n2 0\n");
};

TEST_F(OutputsTest, ASummaryNeverReplacesTheMatrix) {
  const std::string link = folder_.file("link");
  const std::string hard_link = folder_.file("hard-link");
  fs::create_symlink(matrix_, link);
  fs::create_hard_link(matrix_, hard_link);
  for (const std::string& name : {matrix_, link, hard_link}) {
    for (const char* mode : {"--mode=pipeline", "--mode=dram"}) {
      expect_refused({"run", "--matrix=" + matrix_, "--pool=" + pool_, mode, "--summary=" + name}, matrix_,
                     {"--summary", "--matrix"});
    }
  }
  EXPECT_FALSE(fs::exists(pool_));
}

// If the name were accepted, the ending of the name would not match the format of the content.
TEST_F(OutputsTest, ANameWithTheEndingOfAnotherFormatIsRefused) {
  keep_a_run();
  const auto refused = [&](Words words, const std::string& name, const std::string& expected) {
    const std::string path = folder_.file(name);
    words.push_back("--output=" + path);
    expect_refusal(2, run("ringside", words),
                   {"--output: found '" + path + "', expected a name that ends with " + expected});
    EXPECT_FALSE(fs::exists(path));
  };
  refused({"export", pool_}, "x.vtk", ".npy, .npz, .csv");
  refused({"export", pool_}, "x.csv.gz", ".npy, .npz, .csv");
  refused({"export", pool_, "--records"}, "x.npy", ".csv, .feather, .arrow, .parquet");
  refused({"report", pool_}, "x.pdf", ".html, .htm");
  refused({"compare", pool_, pool_}, "x.json", ".html, .htm");
  refused({"plan", "--matrix=grid:10", std::string("--node=") + RINGSIDE_PUBLISHED_NODE}, "x.txt", ".html, .htm");
  for (const char* const name : {"x", "x.2026-11", ".x", "x.vtk"}) {
    const std::string path = folder_.file(name);
    EXPECT_EQ(run("ringside", {"export", pool_, "--format=npy", "--output=" + path}).exit_code, 0) << name;
    if (std::string(name) == "x.vtk") continue;
    EXPECT_EQ(run("ringside", {"report", pool_, "--output=" + path}).exit_code, 0) << name;
  }
}

TEST_F(OutputsTest, ASummaryNeverReplacesTheRightHandSide) {
  const std::string rhs = folder_.write("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
  expect_refused(
      {"run", "--solver=jacobi", "--matrix=" + matrix_, "--rhs=" + rhs, "--pool=" + pool_, "--summary=" + rhs}, rhs,
      {"--summary", "--rhs"});
  expect_refused({"run", "--solver=jacobi", "--matrix=" + matrix_, "--rhs=" + rhs + ":member", "--pool=" + pool_,
                  "--summary=" + rhs},
                 rhs, {"--summary", "--rhs"});
}

TEST_F(OutputsTest, ASummaryNeverReplacesTheConfigFile) {
  const std::string config = folder_.write("run.toml", "iterations = 5\n");
  expect_refused({"run", "--config=" + config, "--matrix=" + matrix_, "--pool=" + pool_, "--summary=" + config}, config,
                 {"--summary", "--config"});
  const std::string names_itself = folder_.file("self.toml");
  folder_.write("self.toml", "summary = \"" + names_itself + "\"\n");
  expect_refused({"run", "--config", names_itself, "--matrix=" + matrix_, "--pool=" + pool_}, names_itself,
                 {"--summary", "--config"});
}

TEST_F(OutputsTest, ASummaryNeverReplacesAKey) {
  const std::string keys = folder_.file("keys");
  expect_done({"keygen", keys});
  for (const char* name : {"/server.secret", "/server.public", "/clients.allowed"}) {
    expect_refused({"run", "--matrix=" + matrix_, "--pool=" + pool_, "--telemetry-tcp=127.0.0.1:0",
                    "--telemetry-keys=" + keys, "--summary=" + keys + name},
                   keys + name, {"--summary", "--telemetry-keys"});
  }
}

TEST_F(OutputsTest, ASummaryNeverReplacesThePoolsJournal) {
  expect_refused({"run", "--matrix=" + matrix_, "--pool=" + pool_, "--summary=" + pool_ + ".journal-0"},
                 pool_ + ".journal-0", {"--summary", "journal"});
  keep_a_run();
  expect_refused({"run", "--matrix=" + matrix_, "--pool=" + pool_, "--overwrite", "--summary=" + pool_ + ".journal-0"},
                 pool_ + ".journal-0", {"--summary", "journal"});
  expect_refused({"run", "--matrix=" + matrix_, "--mode=dram", "--summary=" + pool_ + ".journal-0"},
                 pool_ + ".journal-0", {"--summary", "journal"});
}

TEST_F(OutputsTest, AnExportNeverReplacesThePoolOrAJournal) {
  keep_a_run();
  const std::string log = pool_ + ".journal-0";
  const std::string link = folder_.file("link");
  fs::create_symlink(log, link);
  for (const std::string& name : {log, link}) {
    expect_refused({"export", pool_, "--output=" + name}, log, {"--output", "journal"});
  }
  expect_refused({"export", pool_, "--output=" + pool_}, pool_, {"--output", "POOL"});
  const std::string hard_link = folder_.file("hard-link");
  fs::create_hard_link(log, hard_link);
  expect_refused({"export", pool_, "--output=" + hard_link}, log, {"--output", "journal"});
}

TEST_F(OutputsTest, AReportNeverReplacesItsInputOrAJournal) {
  keep_a_run();
  const std::string log = pool_ + ".journal-0";
  expect_refused({"report", pool_, "-o", log}, log, {"--output", "journal"});
  expect_refused({"report", pool_, "-o", pool_}, pool_, {"--output", "INPUT"});
  expect_done({"run", "--matrix=grid:9", "--mode=dram", "--summary=" + summary_, "--quiet"});
  expect_refused({"report", summary_, "-o", summary_}, summary_, {"--output", "INPUT"});
}

TEST_F(OutputsTest, AnOutputNeverReplacesAMatrixCache) {
  expect_done({"cache", matrix_});
  const std::string cache = matrix_ + ".in-links.rsm";
  expect_refused({"run", "--matrix=" + matrix_, "--cache", "--mode=dram", "--summary=" + cache}, cache,
                 {"--summary", "matrix cache"});
  keep_a_run();
  expect_refused({"export", pool_, "--output=" + cache}, cache, {"--output", "matrix cache"});
}

TEST_F(OutputsTest, ACacheNeverReplacesAnotherFileOfItsName) {
  const std::string taken = folder_.write("edges.txt.in-links.rsm", "precious");
  expect_refused({"cache", matrix_}, taken, {"not a matrix cache"});
  expect_refused({"run", "--matrix=" + matrix_, "--cache", "--mode=dram"}, taken, {"found no matrix cache"});
}

TEST_F(OutputsTest, ASummaryMayBeTheFileThatItsOwnWrapperHasLocked) {
  // As in `flock s.json ringside run --summary s.json`: flock(1) makes the file, and the command inherits the
  // descriptor of this file.
  const auto locked = [file = summary_] {
    const int fd = open(file.c_str(), O_RDONLY | O_CREAT, 0600);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) _exit(126);
  };
  expect_done({"run", "--matrix=grid:9", "--mode=dram", "--quiet", "--summary=" + summary_}, locked);
  EXPECT_EQ(summary()["mode"], "dram");
}

TEST_F(OutputsTest, ASummaryInAFoldersPlaceIsRefusedWithItsReason) {
  expect_refusal(3, run("ringside", {"run", "--matrix=" + matrix_, "--mode=dram", "--summary=" + folder_.path()}),
                 {"--summary: cannot write '" + folder_.path() + "': found a folder; expected a file"});
}

TEST_F(OutputsTest, WipeRefusesAForeignFileUnderAJournalsNameAndTouchesNothing) {
  keep_a_run();
  const std::string log = pool_ + ".journal-0";
  write_file("test.pool.journal-0", "a text of the user's own");
  const std::string pool = content_of(pool_);
  expect_refusal(2, run("ringside", {"wipe", pool_, "--yes"}), {log, "not a journal's log", "nothing was wiped"});
  EXPECT_EQ(content_of(log), "a text of the user's own");
  EXPECT_TRUE(content_of(pool_) == pool);
}

}  // namespace
}  // namespace ringside
