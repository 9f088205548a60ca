// SPDX-License-Identifier: BSD-3-Clause
// Calls that the writing half of the C interface refuses: each with one line, and without any effect.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/library/writer_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

TEST_F(WriterTest, WhatCannotBePublishedIsRefused) {
  begin();
  EXPECT_EQ(ringside_writer_publish(writer_, 1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 1: no step is claimed");
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(line(), "iteration 1: no step is claimed") << "the last failure's, until the next one";
  ringside_value values[4] = {};
  EXPECT_EQ(ringside_writer_publish(writer_, 1, values, 4), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 1: found 4 scalars, expected at most 3");
  EXPECT_EQ(ringside_writer_publish(writer_, 0, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_publish(writer_, 1, values, 3), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_detach(writer_, 5), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "outcome: found 5, expected 1 to 4");
  EXPECT_EQ(ringside_writer_detach(writer_, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "outcome: found 0, expected 1 to 4");
}

TEST_F(WriterTest, AnAnalyzersRefusalHasItsLineAndCode) {
  attach_to(RINGSIDE_DAMAGED, [&] { reader_->refuse(damage_error("the pool is damaged")); });
  EXPECT_STREQ(error_.line, "the pool is damaged");
}

TEST_F(WriterTest, ARefusalIsToldFromAnArgument) {
  attach_to(RINGSIDE_USAGE, [&] { reader_->refuse(usage_error("the pool holds another run")); });
  EXPECT_STREQ(error_.line, "the pool holds another run");
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_REFUSED));
}

/// There is no analyzer, because the arguments are refused before the library searches for one.
TEST_F(WriterTest, ArgumentsThatCannotBeAreRefusedInOneLine) {
  options_.peer_timeout_s = 0.01;
  const auto expect = [&](const char* line, const auto& change) {
    SCOPED_TRACE(line);
    const auto before = std::tuple(options_, variables_, scalars_);
    change();
    error_ = {};
    error_.size = sizeof(error_);
    EXPECT_EQ(attach(), RINGSIDE_USAGE);
    EXPECT_EQ(writer_, nullptr);
    EXPECT_EQ(error_.status, RINGSIDE_USAGE);
    EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_ARGUMENT));
    EXPECT_STREQ(error_.line, line);
    std::tie(options_, variables_, scalars_) = before;
  };
  expect("variables: found 0 variables, expected 1 to 256", [&] { variables_.clear(); });
  expect("variables: found 10000 variables, expected 1 to 256", [&] { variables_.resize(10'000, variables_[0]); });
  expect("variables: variables 0 and 1 are both named 'x'; expected each name once", [&] { variables_[1].name = "x"; });
  expect("variables: variable 0 has no name; expected 1 to 63 of A-Z a-z 0-9 _ . -, beginning with a letter or _",
         [&] { variables_[0].name = nullptr; });
  expect("variables: variable 'x': dtype 77; expected one of f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64",
         [&] { variables_[0].dtype = 77; });
  expect("variables: variable 'x': role 7; expected field or state", [&] { variables_[0].role = 7; });
  expect("variables: variable 'x': found 9 dimensions; expected 0 to 8", [&] { variables_[0].dims = 9; });
  expect("variables: variable 'x': shape (0): dimension 0 is 0; expected at least 1",
         [&] { variables_[0].shape[0] = 0; });
  expect("ringside_variable: its size is 0; expected sizeof(ringside_variable)", [&] { variables_[0].size = 0; });
  expect("variables: variable 'x': reserved is 7; expected 0", [&] { variables_[0].reserved = 7; });
  expect("ringside_variable: element 1 has size 104, but the first has 96", [&] { variables_[1].size = 104; });
  expect("ringside_writer_options: its size is 7; expected sizeof(ringside_writer_options)",
         [&] { options_.size = 7; });
  expect("--buffers: found 1, expected 2 to 64", [&] { options_.buffers = 1; });
  expect("pool_use: found 4, expected 1 to 3, or 0", [&] { options_.pool_use = 4; });
  expect("on_analyzer_loss: found 9, expected 1 to 4, or 0", [&] { options_.on_analyzer_loss = 9; });
  expect("peer_timeout_s: found -1, expected 0.001 to 1000000, or 0", [&] { options_.peer_timeout_s = -1; });
  expect("the solver's name: found 24 bytes, expected at most 23",
         [&] { options_.solver = "123456789012345678901234"; });
  expect("coordination: found 3, expected 1 to 2, or 0", [&] { options_.coordination = 3; });
  expect("lent_cores: found NULL, expected 2 cores", [&] { options_.lent_core_count = 2; });
  expect("lent_cores: found core -1, expected 0 to 1023", [&] {
    static const std::int32_t kCores[] = {0, -1};
    options_.lent_cores = kCores;
    options_.lent_core_count = 2;
  });
  expect("problem_bytes: found 1 bytes, although problem_id is set; expected only one of the two", [&] {
    static const unsigned char kId[16] = {};
    options_.problem_id = kId;
    options_.problem_bytes = kId;
    options_.problem_bytes_count = 1;
  });
  expect("scalars: found 65 scalars, expected at most 64", [&] { scalars_.resize(65, scalars_[0]); });
}

TEST_F(WriterTest, AStructOfALaterVersionIsAcceptedUnlessItAsksForMore) {
  struct Later {
    ringside_writer_options known;
    std::uint64_t more;
  } later{options_, 0};
  later.known.size = sizeof(later);
  later.known.peer_timeout_s = 0.01;
  ringside_writer* writer = nullptr;
  EXPECT_EQ(ringside_writer_attach(&later.known, variables_.data(), 2, nullptr, 0, &writer, &error_),
            RINGSIDE_PEER_LOST);
  later.more = 1;
  EXPECT_EQ(ringside_writer_attach(&later.known, variables_.data(), 2, nullptr, 0, &writer, &error_), RINGSIDE_USAGE);
  expect_has(std::string(error_.line), {"newer interface"});
}

TEST_F(WriterTest, AnErrorWithAWrongSizeIsNotTouchedAndNothingIsDone) {
  options_.peer_timeout_s = 0.01;
  for (const std::uint32_t size : {0u, 20u, 1025u, 4u << 20}) {
    error_.size = size;
    error_.line[0] = '#';
    EXPECT_EQ(attach(), RINGSIDE_USAGE);
    EXPECT_EQ(error_.line[0], '#') << size;
  }
}

TEST_F(WriterTest, NoHandleIsAMisuseAndNoCrash) {
  ringside_value value;
  EXPECT_EQ(ringside_writer_claim(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_try_claim(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_claim_at_once(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_claim_last(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_buffer(nullptr, 0), nullptr);
  EXPECT_EQ(ringside_writer_publish(nullptr, 1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_detach(nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_kept(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_kept_variable(nullptr, 0, nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_kept_scalar(nullptr, 0, &value), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_counts(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_STREQ(ringside_writer_error(nullptr)->line, "no handle: found NULL");
  EXPECT_EQ(ringside_writer_skip(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_previous(nullptr, 0), nullptr);
  EXPECT_EQ(ringside_writer_publish_timed(nullptr, 1, 0, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_put(nullptr, 1, nullptr, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_run(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_STREQ(ringside_writer_note(nullptr), "");
  ringside_writer_free(nullptr);
}

TEST_F(WriterTest, CountsThatCannotBeAreRefusedBeforeAnythingIsRead) {
  EXPECT_EQ(ringside_writer_attach(&options_, variables_.data(), SIZE_MAX, nullptr, 0, &writer_, &error_),
            RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_attach(&options_, nullptr, 1, nullptr, 0, &writer_, &error_), RINGSIDE_USAGE);
  EXPECT_STREQ(error_.line, "variables: found NULL, expected 1 variables");
  EXPECT_EQ(ringside_writer_attach(&options_, variables_.data(), 2, nullptr, SIZE_MAX, &writer_, &error_),
            RINGSIDE_USAGE);
  options_.problem_bytes_count = 8;
  EXPECT_EQ(attach(), RINGSIDE_USAGE);
  EXPECT_STREQ(error_.line, "problem_bytes: found NULL, expected 8 bytes");
}

}  // namespace
}  // namespace ringside
