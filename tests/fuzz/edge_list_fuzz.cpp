// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as an edge list must give a matrix that a solver can process, or one Error.
#include "producer/matrix/edge_list.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace ringside;
  fuzzing::read_both_ways([&](Orientation orientation) {
    return read_edge_list({reinterpret_cast<const char*>(data), bytes}, "fuzz.txt", orientation);
  });
  return 0;
}
