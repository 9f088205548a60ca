// SPDX-License-Identifier: BSD-3-Clause
// Reducers allocate memory when they are made, but never in a step.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "common/reductions/step_reducer.hpp"

namespace {

std::atomic<long> allocations{0};

void* allocate(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

#include "tests/unit/replaced_new.hpp"  // must follow the function that it calls

namespace ringside {
namespace {

TEST(StepReducerMemory, AStepAllocatesNothing) {
  StepReducer reducer(Schema::of({{.name = "u", .dtype = DType::kF32, .shape = {5000}},
                                  {.name = "x", .dtype = DType::kF64, .shape = {5000}},
                                  {.name = "z", .dtype = DType::kC128, .shape = {5000}},
                                  {.name = "n", .dtype = DType::kI64, .shape = {5000}}}));
  const std::vector<std::uint64_t> payload(reducer.schema().payload_bytes() / 8, 0x4010000040100000);
  const long before = allocations.load();
  for (int step = 0; step < 3; ++step) {
    const auto words = reducer.reduce(payload.data(), step == 0 ? nullptr : payload.data(), 2);
    EXPECT_EQ(words.size(), reducer.catalogue().words());
  }
  EXPECT_GT(before, 0);
  EXPECT_EQ(allocations.load(), before);
}

}  // namespace
}  // namespace ringside
