// SPDX-License-Identifier: BSD-3-Clause
// Which words are accepted as a flag, a number or a setting, on the command line and in a file, and how all other words
// are refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/options/options.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/common/options/options_testing.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::kSolvers;
using testing::Words;

/// A program that declares the options of producer and analyzer.
class OptionValuesTest : public testing::ParsingTest {
 protected:
  void SetUp() override {
    unsetenv("RINGSIDE_LOG_LEVEL");
    declare(line_, solve_, kSolvers);
    declare(line_, publish_);
    declare(line_, peer_);
    declare(line_, ring_);
    declare(line_, journal_);
    declare(line_, telemetry_);
    declare(line_, reduce_);
    declare(line_, process_);
    line_.declare_config_file();
  }

  std::optional<int> parse_file(const std::string& text) {
    std::ofstream(folder_.file("run.toml"), std::ios::binary) << text;
    return parse({"--matrix=m", "--config", folder_.file("run.toml")});
  }

  /// Expects exit code 2 and a single line that contains `fragments`.
  void expect_refused(std::optional<int> code, const Words& fragments) {
    EXPECT_EQ(code, 2);
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
    expect_has(err_, fragments);
  }

  testing::TemporaryFolder folder_;
  SolveOptions solve_;
  PublishOptions publish_;
  PeerOptions peer_;
  RingOptions ring_;
  JournalOptions journal_;
  TelemetryOptions telemetry_;
  ReduceOptions reduce_;
  ProcessOptions process_;
};

using CommandLineValues = testing::ParsingTest;

TEST_F(CommandLineValues, ANumberWithoutALimitIsDecimalAndFitsItsVariable) {
  std::uint32_t number = 0;
  std::uint64_t other = 0;
  double fraction = 0;
  line_.option("--number", number, "a number");
  line_.option("--other", other, "another one");
  line_.option("--fraction", fraction, "a fraction");
  EXPECT_EQ(parse({"--number=010"}), std::nullopt);
  EXPECT_EQ(number, 10u);
  EXPECT_EQ(parse({"--other=007"}), std::nullopt);
  EXPECT_EQ(other, 7u);
  for (const char* word : {"--number=0x10", "--number=-1", "--number=4294967296", "--other=+1", "--fraction=inf"}) {
    EXPECT_EQ(parse({word}), 2) << word;
  }
}

TEST_F(CommandLineValues, AListIsOneWordWithCommas) {
  std::vector<int> counts = {1};
  std::vector<std::string> names;
  line_.option("--counts", counts, "numbers").comma_separated().check(whole_number_within(1, 8));
  line_.option("NAMES", names, "up to two").times(1, 2);
  EXPECT_EQ(parse({"--counts=2,03", "a,b", "c"}), std::nullopt);
  EXPECT_EQ(counts, (std::vector{2, 3}));
  EXPECT_EQ(names, (Words{"a,b", "c"}));
}

TEST_F(OptionValuesTest, AFlagStandsAloneOrIsTrueOrFalse) {
  const std::vector<std::pair<const char*, bool>> accepted = {
      {"--overwrite", true}, {"--overwrite=true", true}, {"--overwrite=false", false}};
  for (const auto& [word, expected] : accepted) {
    publish_.overwrite = !expected;
    EXPECT_EQ(parse({"--matrix=m", word}), std::nullopt) << err_;
    EXPECT_EQ(publish_.overwrite, expected) << word;
  }
}

TEST_F(OptionValuesTest, AFlagTakesNoOtherValue) {
  for (const char* word :
       {"--overwrite=", "--overwrite=1", "--overwrite=0", "--overwrite=7", "--overwrite=1.5", "--overwrite=yes",
        "--overwrite=on", "--overwrite=TRUE", "--overwrite={}", "--overwrite=99999999999999999999",
        "--resume=", "--cache=2", "--require-dax=x", "--shared-core=t"}) {
    SCOPED_TRACE(word);
    expect_refused(parse({"--matrix=m", word}),
                   {std::string(word).substr(0, std::string(word).find('=')), "expected true or false"});
    EXPECT_FALSE(publish_.overwrite);
  }
}

TEST_F(OptionValuesTest, AFlagInAFileIsTrueOrFalse) {
  ASSERT_EQ(parse_file("overwrite = true\nresume = false\n"), std::nullopt) << err_;
  EXPECT_TRUE(publish_.overwrite);
  for (const char* value : {"\"\"", "7", "1.5", "[true]", "1", "0", "\"true\"", "yes", "True", "'x'", ""}) {
    SCOPED_TRACE(value);
    publish_.overwrite = false;
    expect_refused(parse_file(std::string("overwrite = ") + value + "\n"), {"overwrite", "expected", "line 1"});
    EXPECT_FALSE(publish_.overwrite);
  }
  expect_refused(parse_file("overwrite\n"), {"line 1", "KEY = VALUE"});
}

TEST_F(OptionValuesTest, NumbersAreDecimalWhateverTheyBeginWith) {
  ASSERT_EQ(parse({"--matrix=m", "--iterations", "0100", "--slots=0010", "--buffers=08", "--passes=007"}), std::nullopt)
      << err_;
  EXPECT_EQ(solve_.iterations, 100u);
  EXPECT_EQ(ring_.slots, 10u);
  EXPECT_EQ(publish_.buffers, 8u);
  EXPECT_EQ(reduce_.passes, 7);
  EXPECT_EQ((line_.arguments_given<SolveOptions, RingOptions>()),
            (Words{"--matrix=m", "--iterations=100", "--slots=10"}))
      << "a child process is told the same";
  ASSERT_EQ(parse_file("iterations = 0100\n"), std::nullopt) << err_;
  EXPECT_EQ(solve_.iterations, 100u);
}

TEST_F(OptionValuesTest, NumbersInOtherFormsAreRefusedWithBothLimits) {
  for (const char* number : {"0x10", "0X10", "0b11", "0o17", "1_000", "+5", " 5", "5 ", "1e2", "5.0", "-5", "ten", "0",
                             "1152921504606846977", "99999999999999999999", "18446744073709551617"}) {
    SCOPED_TRACE(number);
    expect_refused(parse({"--matrix=m", std::string("--iterations=") + number}),
                   {"--iterations: found '", "expected a number from 1 to 1152921504606846976"});
  }
  expect_refused(parse({"--matrix=m", "--iterations", "-1"}), {"--iterations", "-1"});
  expect_refused(parse({"--matrix=m", "--buffers=65"}), {"a number from 2 to 64"});
  expect_refused(parse({"--matrix=m", "--buffers=1"}), {"a number from 2 to 64"});
  expect_refused(parse({"--matrix=m", "--passes=0x1"}), {"a number from 1 to 1000"});
  expect_refused(parse({"--matrix=m", "--report-fd=0x2"}), {"a number from 0 to 2147483647"});
  expect_refused(parse({"--matrix=m", "--journal-size=0x400000"}), {"4M to 1G"});
  for (const char* number : {"0x10", "1_000", "0o17"}) {
    SCOPED_TRACE(number);
    expect_refused(parse_file(std::string("slots = ") + number + "\n"),
                   {"--slots", number, "from 3 to 1024", "line 1"});
  }
}

TEST_F(OptionValuesTest, FractionsAreDecimalToo) {
  ASSERT_EQ(parse({"--matrix=m", "--damping=00.5", "--tolerance=1e-9", "--peer-timeout=010"}), std::nullopt) << err_;
  EXPECT_EQ(solve_.damping, 0.5);
  EXPECT_EQ(solve_.tolerance, 1e-9);
  EXPECT_EQ(peer_.timeout_s, 10);
  for (const char* word : {"--damping=0x1p-1", "--damping=nan", "--damping=abc", "--damping=1", "--damping=-0.5"}) {
    expect_refused(parse({"--matrix=m", word}), {"--damping: found '", "expected a number above 0 and below 1"});
  }
  for (const char* word : {"--tolerance=inf", "--tolerance=0x1p-3", "--tolerance=1e400", "--tolerance=-1"}) {
    expect_refused(parse({"--matrix=m", word}), {"--tolerance: found '", "expected a number from 0 to 1e+300"});
  }
}

TEST_F(OptionValuesTest, EveryRefusalNamesTheOptionWhatWasFoundAndWhatIsAccepted) {
  expect_refused(parse({"--matrix=m", "--iterations"}), {"--iterations: found no value", "expected N"});
  expect_refused(parse({"--matrix=m", "--pool", "--overwrite"}),
                 {"--pool: found no value before '--overwrite'", "expected FILE"});
  expect_refused(parse({"--matrix=m", "--slots=4", "--slots=5"}), {"--slots: found '4' and '5'", "expected K once"});
  expect_refused(parse({"--matrix=m", "--speed=11"}), {"found '--speed'", "expected"});
  expect_refused(parse({"--matrix=m", "-x"}), {"found '-x'", "expected"});
  expect_refused(parse({"--matrix=m", "grid:3"}), {"found 'grid:3'", "expected options only"});
  expect_refused(parse({}), {"--matrix: found none", "expected FILE|grid:SIDE|rmat:SCALE"});
  expect_refused(parse({"--matrix="}), {"--matrix: found an empty value", "expected FILE"});
  expect_refused(parse({"--matrix=m", "--log-level=loud"}), {"--log-level: found 'loud'", "trace|debug"});
}

TEST_F(OptionValuesTest, WhatIsWithoutEffectIsRefused) {
  expect_refused(parse({"--matrix=m", "--cache-dir=d"}), {"--cache-dir: found without --cache"});
  expect_refused(parse({"--matrix=m", "--cache=false", "--cache-dir=d"}), {"--cache-dir: found with --cache false"});
  EXPECT_EQ(parse({"--matrix=m", "--cache", "--cache-dir=d"}), std::nullopt) << err_;
  expect_refused(parse({"--matrix=m", "--journal=off", "--journal-size=8M"}),
                 {"--journal-size: found with --journal off"});
  expect_refused(parse({"--matrix=m", "--telemetry-keys=k"}), {"--telemetry-keys: found without --telemetry-tcp"});
  expect_refused(parse_file("cache-dir = \"d\"\n"), {"--cache-dir: found without --cache"});
}

TEST_F(OptionValuesTest, AVariableOfTheEnvironmentIsNamedWhereItIsWrong) {
  setenv("RINGSIDE_LOG_LEVEL", "loud", 1);
  expect_refused(parse({"--matrix=m"}), {"--log-level: found 'loud'", "expected trace|", "RINGSIDE_LOG_LEVEL"});
  setenv("RINGSIDE_LOG_LEVEL", "", 1);
  EXPECT_EQ(parse({"--matrix=m"}), std::nullopt) << "empty is as good as unset";
  unsetenv("RINGSIDE_LOG_LEVEL");
}

TEST_F(OptionValuesTest, ValuesThatNoProgramCouldPassOnAreRefused) {
  expect_refused(parse({"--matrix=" + std::string(200'000, 'a')}),
                 {"--matrix: found 'aaa", "(200000 bytes)", "at most 16384"});
  EXPECT_LT(err_.size(), 400u);
  expect_refused(parse_file("pool = \"" + std::string(200'000, 'a') + "\"\n"), {"--pool", "(200000 bytes)", "line 1"});
  EXPECT_LT(err_.size(), 400u);
}

TEST_F(OptionValuesTest, NoControlCharacterOfAValueIsPrinted) {
  expect_refused(parse({"--matrix=m", "--when-full=\x1b[31m\nno\x7f\xc2\x9b\xff"}),
                 {R"(found '\x1b[31m\nno\x7f\xc2\x9b\xff')"});
}

TEST_F(OptionValuesTest, AFileThatMayNotBeReadLacksAPermission) {
  ASSERT_EQ(parse_file("slots = 4\n"), std::nullopt) << err_;
  ASSERT_EQ(chmod(folder_.file("run.toml").c_str(), 0), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  const testing::AsNobody nobody;
  EXPECT_EQ(parse({"--matrix=m", "--config", folder_.file("run.toml")}), 3);
  EXPECT_NE(err_.find("Permission denied"), std::string::npos) << err_;
}

TEST_F(OptionValuesTest, AFileThatCannotBeReadIsNotAnEmptyOne) {
  EXPECT_EQ(parse({"--matrix=m", "--config", folder_.path()}), 2);
  EXPECT_NE(err_.find("found a folder"), std::string::npos) << err_;
  // A process cannot read page 0 of its own memory, so the read fails.
  EXPECT_EQ(parse({"--matrix=m", "--config", "/proc/self/mem"}), 3);
  EXPECT_NE(err_.find("/proc/self/mem: cannot be read (Input/output error)"), std::string::npos) << err_;
  EXPECT_EQ(parse({"--matrix=m", "--config", folder_.file("missing.toml")}), 2);
  EXPECT_EQ(parse({"--matrix=m", "--config", "/dev/zero"}), 2);
  EXPECT_NE(err_.find("expected a file of settings"), std::string::npos) << err_;
}

}  // namespace
}  // namespace ringside
