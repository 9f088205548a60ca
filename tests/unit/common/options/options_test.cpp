// SPDX-License-Identifier: BSD-3-Clause
#include "common/options/options.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "common/options/command_line.hpp"
#include "common/platform/version.hpp"
#include "tests/unit/common/options/options_testing.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::kSolvers;
using testing::Words;

/// A program that declares all options of a run, as `ringside run` does.
class OptionsTest : public testing::ParsingTest {
 protected:
  void SetUp() override {
    declare(line_, mode_);
    declare(line_, solve_, kSolvers);
    declare(line_, publish_);
    declare(line_, ring_);
    declare(line_, journal_);
    declare(line_, telemetry_);
    declare(line_, reduce_);
    declare(line_, cores_);
    line_.declare_config_file();
  }

  /// Writes a file with this text, and returns the arguments that make `parse` read it.
  Words config(const std::string& text) {
    std::ofstream(folder_.file("run.toml")) << text;
    return {"--config", folder_.file("run.toml")};
  }

  testing::TemporaryFolder folder_;
  Mode mode_ = Mode::kPipeline;
  SolveOptions solve_;
  PublishOptions publish_;
  RingOptions ring_;
  JournalOptions journal_;
  TelemetryOptions telemetry_;
  ReduceOptions reduce_;
  CoreOptions cores_;
};

TEST_F(OptionsTest, SolverAndHelpListExactlyTheSolversOfTheProgram) {
  expect_refused({"--matrix=x", "--solver=gauss"}, "--solver: found 'gauss', expected pagerank|jacobi");
  expect_accepted({"--matrix=x", "--solver=jacobi"});
  EXPECT_EQ(parse({"--help"}), 0);
  for (const char* part :
       {"pagerank (ranks), jacobi (solutions)", "right-hand side b of jacobi", "damping d of pagerank"}) {
    EXPECT_NE(out_.find(part), std::string::npos) << part << " in " << out_;
  }
}

TEST_F(OptionsTest, TelemetryTcpIsRefusedIfTelemetryIsOff) {
  expect_refused({"--matrix=x", "--telemetry=off", "--telemetry-tcp=127.0.0.1:7700"},
                 "--telemetry-tcp: found with --telemetry off");
  expect_accepted({"--matrix=x", "--telemetry=on", "--telemetry-tcp=127.0.0.1:7700"});
}

TEST_F(OptionsTest, ReductionsAreMadeInTheSlotOrOnTheWayThere) {
  expect_accepted({"--matrix=x"});
  EXPECT_EQ(reduce_.at, ReduceAt::kSlot);
  expect_accepted({"--matrix=x", "--reduce=transfer"});
  EXPECT_EQ(reduce_.at, ReduceAt::kTransfer);
  EXPECT_EQ(line_.arguments_given<ReduceOptions>(), Words{"--reduce=transfer"});
  expect_refused({"--matrix=x", "--reduce=copy"}, "--reduce: found 'copy', expected slot|transfer");
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_NE(out_.find("--reduce slot|transfer"), std::string::npos) << out_;
}

TEST_F(OptionsTest, WhatIsNotGivenKeepsItsDefault) {
  expect_accepted({"--matrix=grid:9"});
  EXPECT_EQ(solve_.matrix, "grid:9");
  EXPECT_EQ(solve_.solver, "pagerank");
  EXPECT_EQ(solve_.last_iteration(), kFewIterations);
  EXPECT_EQ(ring_.slots, 8u);
  EXPECT_FALSE(ring_.slots_given);
  EXPECT_EQ(mode_, Mode::kPipeline);
}

TEST_F(OptionsTest, AToleranceDecidesUnlessIterationsAreGivenToo) {
  expect_accepted({"--matrix=m", "--tolerance=1e-6"});
  EXPECT_EQ(solve_.last_iteration(), kMostIterations);
  expect_accepted({"--matrix=m", "--tolerance=1e-6", "--iterations=7"});
  EXPECT_EQ(solve_.last_iteration(), 7u);
}

TEST_F(OptionsTest, TheVersionHasTwoNames) {
  for (const char* name : {"-V", "--version"}) {
    EXPECT_EQ(parse({name}), 0) << name;
    EXPECT_EQ(out_, std::string(version()) + "\n") << name;
  }
  expect_accepted({"--matrix=m", "--version=false"});
}

TEST_F(OptionsTest, HelpAndAnInvalidOptionReturnTheirExitCodes) {
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_NE(out_.find("--matrix"), std::string::npos);
  EXPECT_EQ(out_.find("\n\n\n"), std::string::npos) << out_;
  EXPECT_FALSE(out_.ends_with("\n\n")) << out_;
  EXPECT_EQ(err_, "");
  EXPECT_EQ(parse({"--matrix=m", "--when-full=cry"}), 2);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, "program: --when-full: found 'cry', expected skip|wait (see program --help)\n");
}

TEST_F(OptionsTest, AFileGivesWhatFlagsGiveAndAFlagWins) {
  Words words = config(
      "matrix = \"grid:20\"\niterations = 12\nslots = 4\nwhen-full = \"skip\"\noverwrite = true\n"
      "mode = \"dram\"\ndurability = \"process\"\nproducer-cores = \"0,2\"\n");
  words.push_back("--slots=6");
  expect_accepted(words);
  EXPECT_EQ(solve_.matrix, "grid:20");
  EXPECT_EQ(solve_.iterations, 12u);
  EXPECT_EQ(publish_.when_full, WhenFull::kSkip);
  EXPECT_TRUE(publish_.overwrite);
  EXPECT_EQ(mode_, Mode::kDram);
  EXPECT_EQ(ring_.durability, Durability::kProcess);
  EXPECT_EQ(cores_.producer_cores, "0,2");
  EXPECT_EQ(ring_.slots, 6u);
}

TEST_F(OptionsTest, AFilesMistakesAreNamed) {
  expect_refused(config("matrix = \"m\"\niterationss = 12\n"), "iterationss");
  expect_refused(config("matrix = \"m\"\nslots = 2\n"), "--slots: found '2', expected a number from 3 to 1024");
  expect_refused({"--matrix=m", "--config", folder_.file("missing.toml")}, "missing.toml");
}

TEST_F(OptionsTest, ExactlyTheOptionsThatWereSetArePassedOnByTheStructThatDeclaresThem) {
  Words words = config("passes = 3\nwhen-full = \"skip\"\n");
  words.insert(words.end(), {"--matrix=a file, with \"marks\".mtx", "--damping=0.9", "--cache", "--pool", "p.pool"});
  expect_accepted(words);
  EXPECT_EQ(line_.arguments_given<SolveOptions>(),
            (Words{"--matrix=a file, with \"marks\".mtx", "--damping=0.9", "--cache"}));
  EXPECT_EQ(line_.arguments_given<PublishOptions>(), Words{"--when-full=skip"});
  EXPECT_EQ((line_.arguments_given<RingOptions, ReduceOptions>()), (Words{"--pool=p.pool", "--passes=3"}));
  EXPECT_EQ(line_.arguments_given<CoreOptions>(), Words{});
}

TEST_F(OptionsTest, AnOptionUnderAnotherHeadingIsPassedOnAllTheSame) {
  for (Option option : line_.options()) {
    if (option.describe().name == "--slots") option.group("Problem and solver");
  }
  expect_accepted({"--matrix=m", "--slots=5"});
  EXPECT_EQ(line_.arguments_given<RingOptions>(), Words{"--slots=5"});
  EXPECT_EQ(line_.arguments_given<SolveOptions>(), Words{"--matrix=m"});
}

TEST_F(OptionsTest, AnOptionThatHelpDoesNotListIsParsedAndPassedOn) {
  for (Option option : line_.options()) {
    if (option.describe().name == "--slots") option.group("");
  }
  expect_accepted({"--matrix=m", "--slots=5"});
  EXPECT_EQ(line_.arguments_given<RingOptions>(), Words{"--slots=5"});
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_EQ(out_.find("--slots"), std::string::npos) << out_;
  EXPECT_EQ(parse({"--matrix=m", "--slots=2"}), 2);
  EXPECT_EQ(err_.rfind("program: --slots: found '2'", 0), 0u) << err_;
}

TEST_F(OptionsTest, AFlagThatAFileSetsToFalseIsNotPassedOn) {
  expect_accepted(config("matrix = \"m\"\noverwrite = false\ncache = true\n"));
  EXPECT_EQ(line_.arguments_given<PublishOptions>(), Words{});
  EXPECT_EQ(line_.arguments_given<SolveOptions>(), (Words{"--matrix=m", "--cache"}));
}

TEST_F(OptionsTest, WhatIsPassedOnMeansTheSameToTheChild) {
  expect_accepted({"--matrix=x y", "--tolerance=1e-9", "--rhs", "b.mtx", "--every=4"});
  SolveOptions child;
  CommandLine child_line("A child.", "child");
  declare(child_line, child, kSolvers);
  Words arguments = line_.arguments_given<SolveOptions>();
  std::vector<const char*> argv = {"child"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  ASSERT_EQ(parse_or_exit_code(child_line, static_cast<int>(argv.size()), argv.data()), std::nullopt);
  EXPECT_EQ(child.matrix, "x y");
  EXPECT_EQ(child.tolerance, 1e-9);
  EXPECT_EQ(child.rhs, "b.mtx");
  EXPECT_EQ(child.every, 4u);
}

TEST_F(OptionsTest, TheJournalsSizeIsBytesOrHasASuffix) {
  EXPECT_EQ(journal_.kind, JournalKind::kAuto);
  expect_accepted({"--matrix=m", "--journal=file", "--journal-size=8M"});
  EXPECT_EQ(journal_.kind, JournalKind::kFile);
  EXPECT_EQ(journal_.bytes, std::uint64_t{8} << 20);
  const Words passed = line_.arguments_given<JournalOptions>();
  EXPECT_EQ(passed, (Words{"--journal=file", "--journal-size=8388608"})) << "a child process is told the same";
}

TEST_F(OptionsTest, JournalSizesThatAreNoneOrImpossibleAreRefused) {
  for (const char* size : {"3M", "2G", "8Q", "1.5G", "M", "-1", "5000000x", "99999999999999999999"}) {
    expect_refused({"--matrix=m", std::string("--journal-size=") + size}, "expected bytes from 4M to 1G");
  }
  expect_refused({"--matrix=m", "--journal=paper"}, "expected auto|file|off|pmemlog");
}

TEST_F(OptionsTest, TheMatrixLiesInDramOrInAFolderWithALimit) {
  expect_accepted({"--matrix=m"});
  EXPECT_EQ(solve_.matrix_memory, "dram");
  EXPECT_EQ(solve_.dram_limit_bytes, 0u);
  expect_accepted({"--matrix=m", "--matrix-memory=far:/mnt/pmem", "--dram-limit=2G"});
  EXPECT_EQ(solve_.matrix_memory, "far:/mnt/pmem");
  EXPECT_EQ(solve_.dram_limit_bytes, std::uint64_t{2} << 30);
  const Words passed = line_.arguments_given<SolveOptions>();
  EXPECT_EQ(passed, (Words{"--matrix=m", "--matrix-memory=far:/mnt/pmem", "--dram-limit=2147483648"}));
  for (const char* place : {"far:", "far", "DRAM", "/mnt"}) {
    expect_refused({"--matrix=m", std::string("--matrix-memory=") + place}, "expected dram or far:DIR");
  }
  for (const char* size : {"1023K", "16385G", "0", "1T"}) {
    expect_refused({"--matrix=m", "--matrix-memory=far:/mnt", std::string("--dram-limit=") + size},
                   "expected bytes from 1M to 16384G");
  }
}

TEST_F(OptionsTest, ElasticStandsAloneOrWithAValueAlsoInAFile) {
  EXPECT_FALSE(publish_.elastic);
  const std::vector<std::pair<Words, bool>> accepted = {{config("matrix = \"grid:3\"\nelastic = \"on\"\n"), true},
                                                        {{"--matrix=grid:3", "--elastic"}, true},
                                                        {{"--elastic", "--matrix=grid:3"}, true},
                                                        {{"--matrix=grid:3", "--elastic", "on"}, true},
                                                        {{"--matrix=grid:3", "--elastic", "off"}, false},
                                                        {{"--matrix=grid:3", "--elastic=on"}, true},
                                                        {{"--matrix=grid:3", "--elastic=off"}, false}};
  for (const auto& [words, expected] : accepted) {
    SCOPED_TRACE(words.back());
    publish_.elastic = !expected;
    expect_accepted(words);
    EXPECT_EQ(publish_.elastic, expected);
  }
  expect_accepted({"--matrix=grid:3", "--elastic"});
  EXPECT_EQ(line_.arguments_given<PublishOptions>(), Words{"--elastic"});
}

TEST_F(OptionsTest, ElasticTakesNoOtherValueAndNoEmptyOne) {
  for (const char* word : {"--elastic=", "--elastic=perhaps", "--elastic=true"}) {
    expect_refused({"--matrix=grid:3", word}, "off|on");
  }
  EXPECT_EQ(parse(config("matrix = \"grid:3\"\nelastic = true\n")), std::optional<int>(2));
}

class ProgramWordsTest : public testing::ParsingTest {
 protected:
  void SetUp() override {
    declare(line_, solve_, testing::kSolvers, MatrixOption::kRequiredWithoutProgram);
    line_.take_program(program_);
  }

  SolveOptions solve_;
  testing::Words program_;
};

TEST_F(ProgramWordsTest, WhatFollowsTheDashesBelongsToTheProgram) {
  expect_accepted({"--every=2", "--", "p", "--every", "3", "--", "--help", "--help-as=man", "", "-V"});
  EXPECT_EQ(program_, (testing::Words{"p", "--every", "3", "--", "--help", "--help-as=man", "", "-V"}));
  EXPECT_EQ(solve_.every, 2u);
}

TEST_F(ProgramWordsTest, EitherAMatrixOrAProgramIsRequired) {
  expect_accepted({"--matrix=x"});
  EXPECT_TRUE(program_.empty());
  expect_refused({"--every=2"},
                 "--matrix: found none, expected FILE|grid:SIDE|rmat:SCALE, or a program and its arguments after --");
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_NE(out_.find("[OPTIONS]\n       program [OPTIONS] -- PROGRAM [ARGS...]\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("(required without -- PROGRAM)"), std::string::npos) << out_;
}

TEST_F(ProgramWordsTest, DashesWithoutAProgramAndAProgramWithoutDashesAreRefused) {
  expect_refused({"--matrix=x", "--"}, "--: found no program after it, expected PROGRAM and its arguments");
  expect_refused({"--matrix=x", "p"}, "found 'p', expected options only, or a program and its arguments after --");
}

}  // namespace
}  // namespace ringside
