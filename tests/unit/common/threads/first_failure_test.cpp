// SPDX-License-Identifier: BSD-3-Clause
#include "common/threads/first_failure.hpp"

#include <gtest/gtest.h>

#include <new>
#include <vector>

namespace ringside {
namespace {

TEST(FirstFailure, OfAParallelLoopIsThrownBehindIt) {
  FirstFailure failure;
  std::vector<int> done(100, 0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(4)
  for (std::size_t i = 0; i < done.size(); ++i) {
    failure.guard([&] {
      if (i == 40) throw std::bad_alloc();
      done[i] = 1;
    });
  }
  EXPECT_THROW(failure.rethrow(), std::bad_alloc);
  EXPECT_EQ(done[40], 0);
  EXPECT_EQ(done[0], 1);
}

TEST(FirstFailure, RethrowsNothingIfNothingWasThrown) {
  FirstFailure failure;
  int done = 0;
  failure.guard([&] { ++done; });
  EXPECT_NO_THROW(failure.rethrow());
  EXPECT_EQ(done, 1);
}

TEST(FirstFailure, EndsTheWorkThatHasNotBegun) {
  FirstFailure failure;
  int done = 0;
  failure.guard([] { throw std::bad_alloc(); });
  failure.guard([&] { ++done; });
  EXPECT_EQ(done, 0);
  EXPECT_THROW(failure.rethrow(), std::bad_alloc);
}

}  // namespace
}  // namespace ringside
