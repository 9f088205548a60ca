// SPDX-License-Identifier: BSD-3-Clause
// A follower that uses the C interface waits for steps and for pools, and is told how a run has ended.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/unit/library/reader_fixture.hpp"

namespace ringside {
namespace {

using testing::append;
using testing::ReaderTest;

TEST_F(ReaderTest, FollowsInOrderAndReportsTheEndOfItsPatience) {
  volatile int stop = 0;
  const ringside_reader_options options{sizeof(options), RINGSIDE_FOLLOW_POOL, 0, &stop};
  options_ = &options;
  begin(3, 2);
  ASSERT_EQ(ringside_reader_next(reader_, 0, 0, &info_), RINGSIDE_OK);
  EXPECT_EQ(info_.commit_seq, 1u);
  ASSERT_EQ(ringside_reader_next(reader_, info_.commit_seq, 0, &info_), RINGSIDE_OK);
  EXPECT_EQ(info_.commit_seq, 2u);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0, &info_), RINGSIDE_TIMEOUT);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0.001, &info_), RINGSIDE_TIMEOUT);
  stop = 1;
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info_), RINGSIDE_INTERRUPTED);
  stop = 0;
  std::thread analyzer([&] { commit(1); });
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info_), RINGSIDE_OK);
  analyzer.join();
  EXPECT_EQ(info_.commit_seq, 3u);
  commit(4);
  ASSERT_EQ(ringside_reader_next(reader_, 3, 0, &info_), RINGSIDE_OK);
  EXPECT_EQ(info_.commit_seq, 5u) << "4 was overwritten";
}

TEST_F(ReaderTest, AFollowerLearnsThatTheRunHasEnded) {
  begin(3, 2);
  wire::Record record;
  record.mutable_run_started()->set_solver("heat");
  append(path_, record);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0.2, &info_), RINGSIDE_TIMEOUT) << "the journal has no end of the run";
  record.mutable_run_ended()->set_how("stopped");
  append(path_, record);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 2, &info_), RINGSIDE_TIMEOUT) << "a stopped analyzer has a successor";
  record.mutable_run_ended()->set_how("detached");
  append(path_, record);
  EXPECT_EQ(ringside_reader_next(reader_, 1, -1, &info_), RINGSIDE_OK) << "every step comes before the end";
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info_), RINGSIDE_END);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0, &info_), RINGSIDE_END) << "as long as nothing else is known";
  record.mutable_run_started()->set_solver("heat");
  append(path_, record);
  commit(1);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0, &info_), RINGSIDE_OK) << "another run has begun";
  EXPECT_EQ(ringside_reader_next(reader_, 3, 0.2, &info_), RINGSIDE_TIMEOUT);
}

TEST_F(ReaderTest, AFollowerOfAPoolThatWasLeftAloneLearnsIt) {
  begin(3, 2);
  writer_.reset();
  pool_.reset();
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info_), RINGSIDE_PEER_LOST);
  EXPECT_EQ(line().substr(0, path_.size() + 40), path_ + ": no process has owned this pool for 5 s");
}

TEST_F(ReaderTest, WaitsForAPoolThatDoesNotExistYet) {
  const ringside_reader_options options{sizeof(options), 0, 60, nullptr};
  const std::string path = folder_.file("later.pool");
  std::thread reader(
      [&] { EXPECT_EQ(ringside_reader_open(path.c_str(), &options, &reader_, &error_), RINGSIDE_OK) << error_.line; });
  const Catalogue catalogue = catalogue_of(schema_, five_scalars());
  const RingPool pool = RingPool::create(path, RingShape::of(schema_, catalogue), 3);
  reader.join();
  const volatile int stop = 1;
  const ringside_reader_options stopped{sizeof(stopped), 0, 60, &stop};
  ringside_reader* none = nullptr;
  EXPECT_EQ(ringside_reader_open(folder_.file("never.pool").c_str(), &stopped, &none, &error_), RINGSIDE_INTERRUPTED);
}

}  // namespace
}  // namespace ringside
