// SPDX-License-Identifier: BSD-3-Clause
// The environment variables that connect a program started by `ringside run` with its analyzer.
#include "common/handoff/handoff_environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

/// Each test starts and ends without any of the variables.
class HandoffEnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const auto& [name, value] : environment_of({})) unsetenv(name.c_str());
    unsetenv("RINGSIDE_POOL");
    unsetenv("RINGSIDE_CORES");
  }
};

/// The place in the form "socket|pool"; for the analyzer of the service, "|service" is appended.
std::string place(const HandoffChoices& chosen = {}) {
  const AnalyzerPlace found = analyzer_place(chosen);
  return found.socket + "|" + found.pool + (found.is_service ? "|service" : "");
}

void expect_options(const HandoffOptions& found, const HandoffOptions& expected) {
  EXPECT_EQ(found.socket, expected.socket);
  EXPECT_EQ(found.buffers, expected.buffers);
  EXPECT_EQ(found.peer_timeout_s, expected.peer_timeout_s);
  EXPECT_EQ(found.pool_use, expected.pool_use);
  EXPECT_EQ(found.on_analyzer_loss, expected.on_analyzer_loss);
  EXPECT_EQ(found.coordination, expected.coordination);
  EXPECT_EQ(found.elastic, expected.elastic);
  EXPECT_EQ(found.cores, expected.cores);
}

TEST_F(HandoffEnvironmentTest, OneOrderDecidesWhichAnalyzerAProgramAttachesTo) {
  EXPECT_EQ(place(), "/run/ringside/analyzer.socket||service");
  EXPECT_EQ(place({.pool = "/a/p"}), "|/a/p");
  setenv("RINGSIDE_POOL", "/env/p", 1);
  EXPECT_EQ(place(), "|/env/p");
  EXPECT_EQ(place({.pool = "/a/p"}), "|/a/p");
  EXPECT_EQ(place({.socket = "s"}), "s|") << "RINGSIDE_POOL is that of RINGSIDE_SOCKET, not of another one";
  setenv("RINGSIDE_SOCKET", "/env/s", 1);
  EXPECT_EQ(place(), "/env/s|/env/p");
  EXPECT_EQ(place({.pool = "/a/p"}), "/env/s|/a/p");
  EXPECT_EQ(place({.socket = "s", .pool = "/a/p"}), "s|/a/p");
  EXPECT_EQ(place({.pool = "p"}), "/env/s|" + std::filesystem::absolute("p").string());
}

TEST_F(HandoffEnvironmentTest, TheOwnAnalyzersVariablesGiveTheValuesOfUnsetOnes) {
  const Variables said = {
      {"RINGSIDE_BUFFERS", "5"}, {"RINGSIDE_PEER_TIMEOUT", "7"}, {"RINGSIDE_ON_ANALYZER_LOSS", "stop"}};
  setenv("RINGSIDE_BUFFERS", "3", 1);
  const HandoffOptions options = handoff_options_of_environment({.peer_timeout_s = 9}, said);
  EXPECT_EQ(options.buffers, 3u);
  EXPECT_EQ(options.peer_timeout_s, 9);
  EXPECT_EQ(options.on_analyzer_loss, OnAnalyzerLoss::kStop);
}

TEST_F(HandoffEnvironmentTest, WithoutVariablesTheOptionsAreTheDefaultsAndTheSocketIsTheServices) {
  expect_options(handoff_options_of_environment(), {.socket = "/run/ringside/analyzer.socket",
                                                    .coordination = CoordinationKind::kLocks,
                                                    .pool_use = PoolUse::kFresh,
                                                    .on_analyzer_loss = OnAnalyzerLoss::kWait});
}

TEST_F(HandoffEnvironmentTest, WhatOneSideSetsTheOtherReads) {
  for (const HandoffOptions& set :
       {HandoffOptions{.socket = "/a/b.socket", .buffers = 64, .peer_timeout_s = 0.1, .pool_use = PoolUse::kResume},
        HandoffOptions{.socket = "s",
        .coordination = CoordinationKind::kMessages,
        .peer_timeout_s = 1e6,
        .pool_use = PoolUse::kOverwrite,
        .on_analyzer_loss = OnAnalyzerLoss::kContinue},
        HandoffOptions{.socket = "s", .peer_timeout_s = 0.3, .on_analyzer_loss = OnAnalyzerLoss::kStop},
        HandoffOptions{.socket = "s", .elastic = true, .cores = {0, 1, 2, 8}}, HandoffOptions{.socket = "s"}}) {
    setenv("RINGSIDE_CORES", "0-2,8", 1);
    for (const auto& [name, value] : environment_of(set)) setenv(name.c_str(), value.c_str(), 1);
    expect_options(handoff_options_of_environment(), set);
  }
}

TEST_F(HandoffEnvironmentTest, CoresThatTheProgramNamesAreLentInsteadOfThoseOfTheEnvironment) {
  setenv("RINGSIDE_ELASTIC", "on", 1);
  setenv("RINGSIDE_CORES", "0-2", 1);
  expect_options(handoff_options_of_environment({.socket = "s", .lent_cores = std::vector{5}}),
                 {.socket = "s", .elastic = true, .cores = {5}});
  expect_options(handoff_options_of_environment({.socket = "s", .lent_cores = std::vector<int>()}), {.socket = "s"});
}

TEST_F(HandoffEnvironmentTest, TheOwnAnalyzersCoresAreLentAlsoIfAnotherRunsCoresAreInherited) {
  setenv("RINGSIDE_CORES", "7", 1);
  const Variables said = {{"RINGSIDE_ELASTIC", "on"}, {"RINGSIDE_CORES", "0,3"}};
  expect_options(handoff_options_of_environment({.socket = "s"}, said),
                 {.socket = "s", .elastic = true, .cores = {0, 3}});
  setenv("RINGSIDE_ELASTIC", "off", 1);
  expect_options(handoff_options_of_environment({.socket = "s"}, said), {.socket = "s"});
}

TEST_F(HandoffEnvironmentTest, WrongCoresAreRefusedOnlyIfTheyAreLent) {
  setenv("RINGSIDE_CORES", "1-", 1);
  expect_options(handoff_options_of_environment({.socket = "s"}), {.socket = "s"});
  setenv("RINGSIDE_ELASTIC", "on", 1);
  EXPECT_TRUE(failure_line([] { handoff_options_of_environment(); }).starts_with("RINGSIDE_CORES: found '1-'"));
}

TEST_F(HandoffEnvironmentTest, AnEmptyVariableCountsAsUnset) {
  for (const auto& [name, value] : environment_of({})) setenv(name.c_str(), "", 1);
  EXPECT_EQ(handoff_options_of_environment().socket, "/run/ringside/analyzer.socket");
}

TEST_F(HandoffEnvironmentTest, AChoiceOfTheProgramPrecedesItsVariableWhichIsNotRead) {
  for (const auto& [name, value] : environment_of({})) setenv(name.c_str(), "wrong", 1);
  const HandoffOptions options = handoff_options_of_environment({.socket = "s",
                                                                 .pool_use = PoolUse::kResume,
                                                                 .buffers = 3,
                                                                 .peer_timeout_s = 2,
                                                                 .on_analyzer_loss = OnAnalyzerLoss::kStop,
                                                                 .coordination = CoordinationKind::kMessages,
                                                                 .lent_cores = std::vector{1, 2}});
  expect_options(options, {.socket = "s",
                           .coordination = CoordinationKind::kMessages,
                           .buffers = 3,
                           .peer_timeout_s = 2,
                           .pool_use = PoolUse::kResume,
                           .on_analyzer_loss = OnAnalyzerLoss::kStop,
                           .elastic = true,
                           .cores = {1, 2}});
}

TEST_F(HandoffEnvironmentTest, AWrongValueIsRefusedByTheNameOfItsVariable) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"RINGSIDE_POOL_USE", "again"},       {"RINGSIDE_BUFFERS", "1"},
      {"RINGSIDE_BUFFERS", "65"},           {"RINGSIDE_BUFFERS", "2x"},
      {"RINGSIDE_PEER_TIMEOUT", "0"},       {"RINGSIDE_PEER_TIMEOUT", "-1"},
      {"RINGSIDE_PEER_TIMEOUT", "inf"},     {"RINGSIDE_COORDINATION", "zmq"},
      {"RINGSIDE_ON_ANALYZER_LOSS", "die"}, {"RINGSIDE_ON_ANALYZER_LOSS", "wait "},
      {"RINGSIDE_ELASTIC", "true"},         {"RINGSIDE_POOL_USE", "\x1b[2J"}};
  for (const auto& [name, value] : wrong) {
    setenv(name.c_str(), value.c_str(), 1);
    const std::string line = failure_line([] { handoff_options_of_environment(); });
    EXPECT_TRUE(line.starts_with(name + ": found '")) << line;
    EXPECT_NE(line.find("expected"), std::string::npos) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    unsetenv(name.c_str());
  }
}

}  // namespace
}  // namespace ringside
