// SPDX-License-Identifier: BSD-3-Clause
// A plug-in in C++ that throws an exception. No function of a plug-in may throw.
#include <cstdint>
#include <stdexcept>

#include "ringside_reduction.h"

namespace {

void init(void*, void* state) {
  *static_cast<double*>(state) = 0;
}

void block(void*, void*, const ringside_reduction_block*) {
  throw std::runtime_error("a block that throws");
}

void merge(void*, void*, const void*) {}

std::uint64_t finish(void*, const void*, ringside_value* const*) {
  return 0;
}

const ringside_reduction_result kResults[] = {{nullptr, nullptr, RINGSIDE_VALUE_F64, 0, 0, 0}};

ringside_reduction declared() {
  ringside_reduction made{};
  made.abi = RINGSIDE_REDUCTION_ABI;
  made.size = sizeof made;
  made.name = "throws";
  made.result_size = sizeof(ringside_reduction_result);
  made.result_count = 1;
  made.results = kResults;
  made.state_bytes = sizeof(double);
  made.init = init;
  made.block = block;
  made.merge = merge;
  made.finish = finish;
  return made;
}

const ringside_reduction kThrows = declared();

}  // namespace

extern "C" {
RINGSIDE_REDUCTIONS(&kThrows);
}
