// SPDX-License-Identifier: BSD-3-Clause
// `ringside run` with a program of the user: the options that are permitted then, the program's environment, and its
// standard streams.
#include "tests/pipeline/program/program_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;
using testing::ProgramTest;

TEST_F(ProgramTest, OptionsOfABuiltInSolverAreRefusedByTheirNames) {
  const std::string rest =
      ": found before `-- true`, expected no option of a built-in solver there; the program's own "
      "options follow its name\n";
  expect_run(with({"true"}, {"--every=2", "--matrix-format=csr", "--cache", "--cache-dir=."}), 2,
             "ringside: --every, --matrix-format, --cache, --cache-dir" + rest);
  std::ofstream(folder_.file("run.toml")) << "slots = 5\nsolver = \"jacobi\"\n";
  expect_run(with({"true"}, {"--config=" + folder_.file("run.toml")}), 2, "ringside: --solver" + rest);
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(ProgramTest, TheProgramsArgumentsAreItsOwn) {
  const Finished ran = run("ringside", with({"echo", "--help", "--matrix", "--", "-x", "", "--help-as=man"}));
  EXPECT_EQ(ran.out, "--help --matrix -- -x  --help-as=man\n");
}

TEST_F(ProgramTest, APoolOfAnotherRunIsRefusedBeforeTheProgramStarts) {
  expect_run(scripted({"attach", "publish", "3", "detach"}), 0, "");
  const Finished ran = expect_exit(2, run("ringside", with({"echo", "started"})));
  EXPECT_EQ(ran.out, "");
  expect_has(ran.err, {"give --resume to continue from there, --overwrite"});
}

TEST_F(ProgramTest, TheEnvironmentHasTheSocketTheCoresAndTheOptions) {
  const Finished ran = run(
      "ringside",
      with({"sh", "-c",
            "env | grep -E 'RINGSIDE_|OMP_' | grep -v RINGSIDE_TEST_ | sort; grep Cpus_allowed_list /proc/self/status"},
           {"--producer-cores=0", "--buffers=7", "--peer-timeout=12.5", "--on-analyzer-loss=continue", "--resume",
            "--coordination=messages"}),
      [] {
        unsetenv("OMP_NUM_THREADS");
        unsetenv("OMP_WAIT_POLICY");  // test.sh sets it
        setenv("RINGSIDE_BUFFERS", "99", 1);  // as set by an outer run
        setenv("RINGSIDE_RESUME_FROM", "/around", 1);
        setenv("RINGSIDE_ELASTIC", "on", 1);
      });
  EXPECT_EQ(std::regex_replace(std::regex_replace(ran.out, std::regex("SOCKET=/[^\n]*/analyzer.socket"), "SOCKET=PATH"),
                               std::regex("POOL=/[^\n]*"), "POOL=PATH"),
            "OMP_NUM_THREADS=1\nRINGSIDE_BUFFERS=7\nRINGSIDE_COORDINATION=messages\nRINGSIDE_CORES=0\n"
            "RINGSIDE_ELASTIC=off\nRINGSIDE_ON_ANALYZER_LOSS=continue\nRINGSIDE_PEER_TIMEOUT=12.5\nRINGSIDE_POOL="
            "PATH\nRINGSIDE_POOL_USE=resume\n"
            "RINGSIDE_RESUME_FROM=\nRINGSIDE_SOCKET=PATH\nCpus_allowed_list:\t0\n");
  const Finished threads =
      run("ringside", with({"sh", "-c", "echo $OMP_NUM_THREADS"}), [] { setenv("OMP_NUM_THREADS", "3", 1); });
  EXPECT_EQ(threads.out, "3\n");
}

TEST_F(ProgramTest, WithElasticTheProgramLendsItsCoresAlsoByASettingsFile) {
  const std::string settings = folder_.write("elastic.toml", "elastic = \"on\"\n");
  for (const std::string& option : {std::string("--elastic"), "--config=" + settings}) {
    const Finished ran = run("ringside", with({"sh", "-c", "echo $RINGSIDE_ELASTIC $OMP_WAIT_POLICY"}, {option}),
                             [] { unsetenv("OMP_WAIT_POLICY"); });
    EXPECT_EQ(ran.out, "on passive\n") << option << ran.err;
  }
}

TEST_F(ProgramTest, TheProgramHasTheVariablesThatBindItsOwnOpenMpThreads) {
  const Finished ran =
      run("ringside", with({"sh", "-c", "echo $OMP_PROC_BIND $OMP_PLACES $GOMP_CPU_AFFINITY $HWLOC_XMLFILE"}), [] {
        setenv("OMP_PROC_BIND", "spread", 1);
        setenv("OMP_PLACES", "threads", 1);
        setenv("GOMP_CPU_AFFINITY", "0", 1);
        setenv("HWLOC_XMLFILE", "/none.xml", 1);
      });
  EXPECT_EQ(ran.out, "spread threads 0 /none.xml\n") << ran.err;
}

TEST_F(ProgramTest, TheSocketIsInAFolderForThisUserOnly) {
  EXPECT_EQ(run("ringside", with({"sh", "-c", "stat -c %a $(dirname $RINGSIDE_SOCKET)"})).out, "700\n");
}

TEST_F(ProgramTest, TheProgramHasTheStreamsAndSignalsThatARunFromTheShellHas) {
  const Finished ran = run("ringside", with({"sh", "-c",
                                             "printf '\\033[1m\\377'; printf '\\033[0m' >&2; "
                                             "grep -E 'Sig(Blk|Ign)' /proc/self/status"}));
  EXPECT_EQ(ran.out, "\x1b[1m\xffSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  expect_has(ran.err, {"\x1b[0m"});
}

}  // namespace
}  // namespace ringside
