// SPDX-License-Identifier: BSD-3-Clause
// The reading half of the C interface: the content of a pool, held steps, copies, and misuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/library/reader_fixture.hpp"

namespace ringside {
namespace {

using testing::ReaderTest;

TEST_F(ReaderTest, SaysWhatThePoolHolds) {
  begin(5, 7);
  ringside_variable variables[4] = {};
  variables[0].size = sizeof(variables[0]);
  std::size_t count = 0;
  ASSERT_EQ(ringside_reader_variables(reader_, variables, 4, &count), RINGSIDE_OK);
  ASSERT_EQ(count, 5u) << "more than there was room for";
  EXPECT_STREQ(variables[0].name, "u");
  EXPECT_STREQ(variables[1].name, "v");
  EXPECT_STREQ(variables[1].unit, "m s-1");
  EXPECT_EQ(variables[0].dims, 2u);
  EXPECT_EQ(variables[0].shape[1], 100u);
  EXPECT_EQ(variables[3].dtype, RINGSIDE_C128);
  EXPECT_EQ(variables[3].role, RINGSIDE_ROLE_STATE);
  EXPECT_EQ(iterations(), (std::vector<std::uint64_t>{3, 4, 5, 6, 7}));
  EXPECT_EQ(ringside_variable_bytes(&variables[0]), schema_.place(0).bytes);
  std::uint32_t found = 0;
  EXPECT_EQ(ringside_reader_find_variable(reader_, "w", &found), RINGSIDE_OK);
  EXPECT_EQ(schema_.variables()[found].name, "w");
  EXPECT_EQ(ringside_reader_find_variable(reader_, "nothing", &found), RINGSIDE_ABSENT);

  ringside_run run{};
  run.size = sizeof(run);
  ASSERT_EQ(ringside_reader_runs(reader_, &run, 1, &count), RINGSIDE_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(std::string(run.solver), run_with(schema_).solver);
}

TEST_F(ReaderTest, OfMoreStepsThanRoomTheNewestAreGiven) {
  begin(5, 5);
  std::size_t count = 0;
  EXPECT_EQ(ringside_reader_steps(reader_, nullptr, 0, &count), RINGSIDE_OK);
  EXPECT_EQ(count, 5u);
  ringside_step_info two[2] = {};
  two[0].size = sizeof(two[0]);
  EXPECT_EQ(ringside_reader_steps(reader_, two, 2, &count), RINGSIDE_OK);
  EXPECT_EQ(two[0].iteration, 4u);
  EXPECT_EQ(two[1].iteration, 5u);
}

TEST_F(ReaderTest, AHeldStepIsReadInPlace) {
  begin(5, 5);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, 2, &step), RINGSIDE_OK) << line();
  ASSERT_EQ(ringside_step_describe(step, &info_), RINGSIDE_OK);
  EXPECT_EQ(info_.iteration, 2u);
  commit(10);
  for (std::uint32_t v = 0; v < 5; ++v) {
    const void* data = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(ringside_step_view(step, v, &data, &bytes), RINGSIDE_OK);
    EXPECT_EQ(bytes, schema_.place(v).bytes);
    EXPECT_TRUE(is_variable(data, 2, v)) << v;
    EXPECT_EQ(ringside_step_verify(step, v), RINGSIDE_OK) << line();
  }
  EXPECT_EQ(ringside_step_view(step, 5, nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "variable 5: expected less than 5");
  EXPECT_EQ(ringside_step_verify(step, RINGSIDE_ALL_VARIABLES), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_check(step), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OK);
  commit(2);
  EXPECT_EQ(iterations().front(), 13u) << "the slot is free again";
}

TEST_F(ReaderTest, ABrokenHoldIsReported) {
  begin(3, 3);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, RINGSIDE_NEWEST, &step), RINGSIDE_OK);
  commit(3);
  EXPECT_EQ(ringside_step_check(step), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(line().substr(0, 28), "iteration 3 is no longer hel");
  EXPECT_EQ(ringside_step_verify(step, 0), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OVERWRITTEN);
}

TEST_F(ReaderTest, AStepThatIsGoneCannotBeHeld) {
  begin(3, 0);
  ringside_step* step = nullptr;
  EXPECT_EQ(ringside_reader_hold(reader_, RINGSIDE_NEWEST, &step), RINGSIDE_ABSENT);
  commit(5);
  EXPECT_EQ(ringside_reader_hold(reader_, 1, &step), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(step, nullptr);
  EXPECT_EQ(line(), path_ + ": commit 1 is not kept");
}

TEST_F(ReaderTest, DamageIsFoundByVerification) {
  begin(3, 1);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, RINGSIDE_NEWEST, &step), RINGSIDE_OK);
  pool_->ring().writable_payload(0)[schema_.place(2).offset + 100] ^= std::byte{1};
  EXPECT_EQ(ringside_step_verify(step, 1), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_verify(step, 2), RINGSIDE_DAMAGED);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OK) << "it is held, and what it holds is damaged";
  std::vector<std::byte> copy(schema_.place(2).bytes);
  EXPECT_EQ(ringside_reader_copy(reader_, 1, 2, copy.data(), copy.size()), RINGSIDE_DAMAGED);
}

TEST_F(ReaderTest, ACopyHasTheBytesOfTheVariableAndNoMore) {
  begin(4, 4);
  for (std::uint32_t v = 0; v < 5; ++v) {
    std::vector<std::byte> copy(schema_.place(v).bytes + 8, std::byte{0x55});
    ASSERT_EQ(ringside_reader_copy(reader_, 3, v, copy.data(), schema_.place(v).bytes), RINGSIDE_OK) << line();
    EXPECT_TRUE(is_variable(copy.data(), 3, v)) << v;
    EXPECT_EQ(copy[schema_.place(v).bytes], std::byte{0x55});
  }
  std::byte small[1];
  EXPECT_EQ(ringside_reader_copy(reader_, 3, 0, small, 1), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "variable 0: found room for 1 bytes, expected 32000");
}

TEST_F(ReaderTest, ATruncatedPoolIsAnErrorOfACopyAndNoSignal) {
  begin(4, 4);
  ringside_reader_free(std::exchange(reader_, nullptr));
  const std::string other = folder_.file("other.pool");  // a copy that no owner has mapped
  std::filesystem::copy_file(path_, other);
  ASSERT_EQ(ringside_reader_open(other.c_str(), nullptr, &reader_, &error_), RINGSIDE_OK) << error_.line;
  std::filesystem::resize_file(other, std::filesystem::file_size(other) / 2);
  std::vector<std::byte> copy(schema_.place(0).bytes);
  EXPECT_EQ(ringside_reader_copy(reader_, 4, 0, copy.data(), copy.size()), RINGSIDE_DAMAGED);
  expect_has(line(), {"truncated"});
}

TEST_F(ReaderTest, AnErrorsLineHasNoCharacterThatSteersATerminal) {
  EXPECT_NE(ringside_reader_open("/nonexistent/\x1b[31m\n\u202egpj.pool", nullptr, &reader_, &error_), RINGSIDE_OK);
  expect_has(std::string(error_.line), {R"(/nonexistent/\x1b[31m\n\u202egpj.pool)"});
}

TEST_F(ReaderTest, WhatIsNoPoolIsRefused) {
  EXPECT_EQ(open(), RINGSIDE_USAGE);
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_NO_FILE));
  EXPECT_EQ(reader_, nullptr);
  EXPECT_EQ(error_.line, path_ + ": No such file or directory");
  std::ofstream(path_) << "no pool";
  EXPECT_EQ(open(), RINGSIDE_USAGE);
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_NO_POOL));
  EXPECT_EQ(ringside_reader_open(nullptr, nullptr, &reader_, &error_), RINGSIDE_USAGE);
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_ARGUMENT));
  EXPECT_EQ(ringside_reader_open(path_.c_str(), nullptr, nullptr, &error_), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_open(path_.c_str(), nullptr, &reader_, nullptr), RINGSIDE_USAGE);
  ringside_reader_options wrong{sizeof(wrong), 3, 0, nullptr};
  EXPECT_EQ(ringside_reader_open(path_.c_str(), &wrong, &reader_, &error_), RINGSIDE_USAGE);
  EXPECT_STREQ(error_.line, "follow: found 3, expected 1 to 2, or 0");
  wrong = {sizeof(wrong), 0, -1, nullptr};
  EXPECT_EQ(ringside_reader_open(path_.c_str(), &wrong, &reader_, &error_), RINGSIDE_USAGE);
}

TEST_F(ReaderTest, AChildCannotUseTheHandle) {
  begin(4, 4);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, 2, &step), RINGSIDE_OK);
  const auto use_in_child = [&] {
    std::size_t count = 0;
    bool right = ringside_reader_steps(reader_, nullptr, 0, &count) == RINGSIDE_USAGE;
    right = right && ringside_step_check(step) == RINGSIDE_USAGE && ringside_step_release(step) == RINGSIDE_USAGE;
    ringside_reader_free(reader_);
    _exit(right ? 0 : 1);
  };
  EXPECT_EXIT(use_in_child(), ::testing::ExitedWithCode(0), "");
  commit(10);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OK) << "the child did not end the parent's lease";
}

TEST_F(ReaderTest, AReaderIsFreedWithTheLastOfItsSteps) {
  begin(5, 5);
  ringside_step* steps[2] = {};
  ASSERT_EQ(ringside_reader_hold(reader_, 2, &steps[0]), RINGSIDE_OK);
  ASSERT_EQ(ringside_reader_hold(reader_, 3, &steps[1]), RINGSIDE_OK);
  ringside_reader_free(std::exchange(reader_, nullptr));
  commit(4);
  const void* data = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(ringside_step_view(steps[0], 0, &data, &bytes), RINGSIDE_OK);
  EXPECT_TRUE(is_variable(data, 2, 0));
  EXPECT_EQ(ringside_step_release(steps[0]), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_verify(steps[1], RINGSIDE_ALL_VARIABLES), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_release(steps[1]), RINGSIDE_OK);
}

TEST_F(ReaderTest, AWrongSizeIsRefusedAndNothingIsWritten) {
  begin(3, 3);
  struct {
    ringside_step_info info;
    unsigned char behind[64];
  } place;
  for (const std::uint32_t size : {0u, 4u, 44u, 45u, 1u << 20}) {
    std::memset(&place, 0x55, sizeof(place));
    place.info.size = size;
    std::size_t count = 0;
    EXPECT_EQ(ringside_reader_steps(reader_, &place.info, 1, &count), RINGSIDE_USAGE) << size;
    EXPECT_EQ(ringside_reader_next(reader_, 0, 0, &place.info), RINGSIDE_USAGE) << size;
    EXPECT_EQ(place.info.slot, 0x55555555u);
    EXPECT_EQ(place.behind[0], 0x55);
  }
}

TEST_F(ReaderTest, NoHandleAndNoPlaceAreMisuseAndNoCrash) {
  EXPECT_EQ(ringside_reader_variables(nullptr, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_runs(nullptr, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_steps(nullptr, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_next(nullptr, 0, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_hold(nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_copy(nullptr, 0, 0, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_results(nullptr, 0, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_describe(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_view(nullptr, 0, nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_verify(nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_check(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_release(nullptr), RINGSIDE_OK);
  EXPECT_STREQ(ringside_reader_error(nullptr)->line, "no handle: found NULL");
  begin(3, 1);
  EXPECT_EQ(ringside_reader_variables(reader_, nullptr, 1, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_results(reader_, 1, nullptr, 1, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_next(reader_, 0, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_hold(reader_, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_steps(reader_, nullptr, 1, nullptr), RINGSIDE_USAGE);
}

}  // namespace
}  // namespace ringside
