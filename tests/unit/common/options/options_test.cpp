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

  /// The arguments that make `parse` read a file of this text.
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

TEST_F(OptionsTest, TheSolversThatAProgramHasDecideWhatSolverAcceptsAndWhatHelpSays) {
  EXPECT_EQ(parse({"--matrix=x", "--solver=gauss"}), 2);
  EXPECT_NE(err_.find("--solver: found 'gauss', expected pagerank|jacobi"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--matrix=x", "--solver=jacobi"}), std::nullopt) << err_;
  EXPECT_EQ(parse({"--help"}), 0);
  for (const char* part :
       {"pagerank (ranks), jacobi (solutions)", "right-hand side b of jacobi", "damping d of pagerank"}) {
    EXPECT_NE(out_.find(part), std::string::npos) << part << " in " << out_;
  }
}

TEST_F(OptionsTest, TelemetryTcpIsRefusedIfTelemetryIsOff) {
  EXPECT_EQ(parse({"--matrix=x", "--telemetry=off", "--telemetry-tcp=127.0.0.1:7700"}), 2);
  EXPECT_NE(err_.find("--telemetry-tcp: found with --telemetry off"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--matrix=x", "--telemetry=on", "--telemetry-tcp=127.0.0.1:7700"}), std::nullopt) << err_;
}

TEST_F(OptionsTest, ReductionsAreMadeInTheSlotOrOnTheWayThere) {
  EXPECT_EQ(parse({"--matrix=x"}), std::nullopt) << err_;
  EXPECT_EQ(reduce_.at, ReduceAt::kSlot);
  EXPECT_EQ(parse({"--matrix=x", "--reduce=transfer"}), std::nullopt) << err_;
  EXPECT_EQ(reduce_.at, ReduceAt::kTransfer);
  EXPECT_EQ(line_.arguments_given<ReduceOptions>(), Words{"--reduce=transfer"});
  EXPECT_EQ(parse({"--matrix=x", "--reduce=copy"}), 2);
  EXPECT_NE(err_.find("--reduce: found 'copy', expected slot|transfer"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_NE(out_.find("--reduce slot|transfer"), std::string::npos) << out_;
}

TEST_F(OptionsTest, WhatIsNotGivenKeepsItsDefault) {
  EXPECT_EQ(parse({"--matrix=grid:9"}), std::nullopt) << err_;
  EXPECT_EQ(solve_.matrix, "grid:9");
  EXPECT_EQ(solve_.solver, "pagerank");
  EXPECT_EQ(solve_.last_iteration(), kFewIterations);
  EXPECT_EQ(ring_.slots, 8u);
  EXPECT_FALSE(ring_.slots_given);
  EXPECT_EQ(mode_, Mode::kPipeline);
}

TEST_F(OptionsTest, AToleranceDecidesUnlessIterationsAreGivenToo) {
  ASSERT_EQ(parse({"--matrix=m", "--tolerance=1e-6"}), std::nullopt);
  EXPECT_EQ(solve_.last_iteration(), kMostIterations);
  ASSERT_EQ(parse({"--matrix=m", "--tolerance=1e-6", "--iterations=7"}), std::nullopt);
  EXPECT_EQ(solve_.last_iteration(), 7u);
}

TEST_F(OptionsTest, TheVersionHasTwoNames) {
  for (const char* name : {"-V", "--version"}) {
    EXPECT_EQ(parse({name}), 0) << name;
    EXPECT_EQ(out_, std::string(version()) + "\n") << name;
  }
  EXPECT_EQ(parse({"--matrix=m", "--version=false"}), std::nullopt) << err_;
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
  ASSERT_EQ(parse(words), std::nullopt) << err_;
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
  EXPECT_EQ(parse(config("matrix = \"m\"\niterationss = 12\n")), 2);
  EXPECT_NE(err_.find("iterationss"), std::string::npos) << err_;
  EXPECT_EQ(parse(config("matrix = \"m\"\nslots = 2\n")), 2);
  EXPECT_NE(err_.find("--slots: found '2', expected a number from 3 to 1024"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--matrix=m", "--config", folder_.file("missing.toml")}), 2);
  EXPECT_NE(err_.find("missing.toml"), std::string::npos) << err_;
}

TEST_F(OptionsTest, ExactlyTheOptionsThatWereSetArePassedOnByTheStructThatDeclaresThem) {
  Words words = config("passes = 3\nwhen-full = \"skip\"\n");
  words.insert(words.end(), {"--matrix=a file, with \"marks\".mtx", "--damping=0.9", "--cache", "--pool", "p.pool"});
  ASSERT_EQ(parse(words), std::nullopt) << err_;
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
  ASSERT_EQ(parse({"--matrix=m", "--slots=5"}), std::nullopt) << err_;
  EXPECT_EQ(line_.arguments_given<RingOptions>(), Words{"--slots=5"});
  EXPECT_EQ(line_.arguments_given<SolveOptions>(), Words{"--matrix=m"});
}

TEST_F(OptionsTest, AnOptionThatHelpDoesNotListIsParsedAndPassedOn) {
  for (Option option : line_.options()) {
    if (option.describe().name == "--slots") option.group("");
  }
  ASSERT_EQ(parse({"--matrix=m", "--slots=5"}), std::nullopt) << err_;
  EXPECT_EQ(line_.arguments_given<RingOptions>(), Words{"--slots=5"});
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_EQ(out_.find("--slots"), std::string::npos) << out_;
  EXPECT_EQ(parse({"--matrix=m", "--slots=2"}), 2);
  EXPECT_EQ(err_.rfind("program: --slots: found '2'", 0), 0u) << err_;
}

TEST_F(OptionsTest, AFlagThatAFileSetsToFalseIsNotPassedOn) {
  ASSERT_EQ(parse(config("matrix = \"m\"\noverwrite = false\ncache = true\n")), std::nullopt) << err_;
  EXPECT_EQ(line_.arguments_given<PublishOptions>(), Words{});
  EXPECT_EQ(line_.arguments_given<SolveOptions>(), (Words{"--matrix=m", "--cache"}));
}

TEST_F(OptionsTest, WhatIsPassedOnMeansTheSameToTheChild) {
  ASSERT_EQ(parse({"--matrix=x y", "--tolerance=1e-9", "--rhs", "b.mtx", "--every=4"}), std::nullopt);
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
  EXPECT_EQ(parse({"--matrix=m", "--journal=file", "--journal-size=8M"}), std::nullopt) << err_;
  EXPECT_EQ(journal_.kind, JournalKind::kFile);
  EXPECT_EQ(journal_.bytes, std::uint64_t{8} << 20);
  const Words passed = line_.arguments_given<JournalOptions>();
  EXPECT_EQ(passed, (Words{"--journal=file", "--journal-size=8388608"})) << "a child process is told the same";
}

TEST_F(OptionsTest, JournalSizesThatAreNoneOrImpossibleAreRefused) {
  for (const char* size : {"3M", "2G", "8Q", "1.5G", "M", "-1", "5000000x", "99999999999999999999"}) {
    EXPECT_EQ(parse({"--matrix=m", std::string("--journal-size=") + size}), 2) << size;
    EXPECT_NE(err_.find("expected bytes from 4M to 1G"), std::string::npos) << err_;
  }
  EXPECT_EQ(parse({"--matrix=m", "--journal=paper"}), 2);
  EXPECT_NE(err_.find("expected auto|file|off|pmemlog"), std::string::npos) << err_;
}

TEST_F(OptionsTest, TheMatrixLiesInDramOrInAFolderWithALimit) {
  EXPECT_EQ(parse({"--matrix=m"}), std::nullopt) << err_;
  EXPECT_EQ(solve_.matrix_memory, "dram");
  EXPECT_EQ(solve_.dram_limit_bytes, 0u);
  EXPECT_EQ(parse({"--matrix=m", "--matrix-memory=far:/mnt/pmem", "--dram-limit=2G"}), std::nullopt) << err_;
  EXPECT_EQ(solve_.matrix_memory, "far:/mnt/pmem");
  EXPECT_EQ(solve_.dram_limit_bytes, std::uint64_t{2} << 30);
  const Words passed = line_.arguments_given<SolveOptions>();
  EXPECT_EQ(passed, (Words{"--matrix=m", "--matrix-memory=far:/mnt/pmem", "--dram-limit=2147483648"}));
  for (const char* place : {"far:", "far", "DRAM", "/mnt"}) {
    EXPECT_EQ(parse({"--matrix=m", std::string("--matrix-memory=") + place}), 2) << place;
    EXPECT_NE(err_.find("expected dram or far:DIR"), std::string::npos) << err_;
  }
  for (const char* size : {"1023K", "16385G", "0", "1T"}) {
    EXPECT_EQ(parse({"--matrix=m", "--matrix-memory=far:/mnt", std::string("--dram-limit=") + size}), 2) << size;
    EXPECT_NE(err_.find("expected bytes from 1M to 16384G"), std::string::npos) << err_;
  }
}

TEST_F(OptionsTest, ElasticStandsAloneOrWithAValue) {
  EXPECT_FALSE(publish_.elastic);
  const std::vector<std::pair<Words, bool>> accepted = {
      {{"--matrix=grid:3", "--elastic"}, true},       {{"--elastic", "--matrix=grid:3"}, true},
      {{"--matrix=grid:3", "--elastic", "on"}, true}, {{"--matrix=grid:3", "--elastic", "off"}, false},
      {{"--matrix=grid:3", "--elastic=on"}, true},    {{"--matrix=grid:3", "--elastic=off"}, false}};
  for (const auto& [words, expected] : accepted) {
    SCOPED_TRACE(words.back());
    publish_.elastic = !expected;
    EXPECT_EQ(parse(words), std::nullopt) << err_;
    EXPECT_EQ(publish_.elastic, expected);
  }
}

TEST_F(OptionsTest, ElasticIsPassedOnAsItWasGiven) {
  ASSERT_EQ(parse({"--matrix=grid:3", "--elastic"}), std::nullopt) << err_;
  EXPECT_EQ(line_.arguments_given<PublishOptions>(), Words{"--elastic"});
}

TEST_F(OptionsTest, ElasticTakesNoOtherValueAndNoEmptyOne) {
  for (const char* word : {"--elastic=", "--elastic=perhaps", "--elastic=true"}) {
    EXPECT_EQ(parse({"--matrix=grid:3", word}), std::optional<int>(2)) << word;
    EXPECT_NE(err_.find("off|on"), std::string::npos) << err_;
  }
  EXPECT_EQ(parse(config("matrix = \"grid:3\"\nelastic = true\n")), std::optional<int>(2));
}

TEST_F(OptionsTest, ElasticIsAKeyOfTheFile) {
  ASSERT_EQ(parse(config("matrix = \"grid:3\"\nelastic = \"on\"\n")), std::nullopt) << err_;
  EXPECT_TRUE(publish_.elastic);
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
  EXPECT_EQ(parse({"--every=2", "--", "p", "--every", "3", "--", "--help", "--help-as=man", "", "-V"}), std::nullopt)
      << err_;
  EXPECT_EQ(program_, (testing::Words{"p", "--every", "3", "--", "--help", "--help-as=man", "", "-V"}));
  EXPECT_EQ(solve_.every, 2u);
}

TEST_F(ProgramWordsTest, EitherAMatrixOrAProgramIsRequired) {
  EXPECT_EQ(parse({"--matrix=x"}), std::nullopt) << err_;
  EXPECT_TRUE(program_.empty());
  EXPECT_EQ(parse({"--every=2"}), 2);
  EXPECT_NE(
      err_.find("--matrix: found none, expected FILE|grid:SIDE|rmat:SCALE, or a program and its arguments after --"),
      std::string::npos)
      << err_;
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_NE(out_.find("[OPTIONS]\n       program [OPTIONS] -- PROGRAM [ARGS...]\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("(required without -- PROGRAM)"), std::string::npos) << out_;
}

TEST_F(ProgramWordsTest, DashesWithoutAProgramAndAProgramWithoutDashesAreRefused) {
  EXPECT_EQ(parse({"--matrix=x", "--"}), 2);
  EXPECT_NE(err_.find("--: found no program after it, expected PROGRAM and its arguments"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--matrix=x", "p"}), 2);
  EXPECT_NE(err_.find("found 'p', expected options only, or a program and its arguments after --"), std::string::npos)
      << err_;
}

}  // namespace
}  // namespace ringside
