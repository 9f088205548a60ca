// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/matrix_memory_advice.hpp"

#include <gtest/gtest.h>

#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

// The matrix grid:2000, of 160 MB.
const MatrixMemoryFacts kGrid = {.rows = 4'000'000, .nonzeros = 31'976'004, .far_folder = {}};

MatrixMemoryFacts far_with(std::uint64_t limit) {
  MatrixMemoryFacts facts = kGrid;
  facts.far_folder = "/mnt";
  facts.dram_limit_bytes = limit;
  return facts;
}

TEST(MatrixMemoryAdvice, AMatrixThatFitsTheNodeNeedsNone) {
  EXPECT_EQ(matrix_memory_advice(kGrid), std::nullopt) << "the node's memory is not known";
  MatrixMemoryFacts facts = kGrid;
  facts.memory_bytes = 1'000'000'000;
  EXPECT_EQ(matrix_memory_advice(facts), std::nullopt);
}

TEST(MatrixMemoryAdvice, AMatrixLargerThanTheNodeNamesBothWays) {
  MatrixMemoryFacts facts = kGrid;
  facts.memory_bytes = 100'000'000;
  expect_has(matrix_memory_advice(facts).value_or("nothing"),
             {"at least 159.9 MB", "the node has 100.0 MB", "--matrix-memory far:DIR", "--cache"});
}

TEST(MatrixMemoryAdvice, BesideALimitItSaysThatTheTimesAreThoseOfDram) {
  expect_has(matrix_memory_advice(far_with(40'000'000)).value_or("nothing"),
             {"4.0 times --dram-limit. The times here assume a matrix in DRAM", "--cache"});
  expect_has(matrix_memory_advice(far_with(200'000'000)).value_or("nothing"),
             {"a matrix without values fits into --dram-limit"});
}

}  // namespace
}  // namespace ringside
