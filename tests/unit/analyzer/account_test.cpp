// SPDX-License-Identifier: BSD-3-Clause
// The analyzer's report about a solver that makes no report of its own.
#include "analyzer/account.hpp"

#include <gtest/gtest.h>

#include "common/json/json.hpp"

namespace ringside {
namespace {

TEST(PublisherAccountTest, TheFirstScalarsAreTheChangeOnlyIfTheSolverSaysSo) {
  AnalyzerAccount account;
  account.publisher.add({.iteration = 1, .residual_l1 = 0.5, .residual_linf = 0.25});
  EXPECT_TRUE(publisher_json(account)["residual_l1"].is_null());
  EXPECT_TRUE(publisher_json(account)["residual_linf"].is_null());
  account.publisher.has_change = true;
  EXPECT_EQ(publisher_json(account)["residual_l1"], 0.5);
  EXPECT_EQ(publisher_json(account)["residual_linf"], 0.25);
}

}  // namespace
}  // namespace ringside
