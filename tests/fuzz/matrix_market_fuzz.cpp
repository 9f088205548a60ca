// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as MatrixMarket text must give a matrix that a solver can process, or one Error.
#include "producer/matrix/matrix_market.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace ringside;
  fuzzing::read_both_ways([&](Orientation orientation) {
    return read_matrix_market({reinterpret_cast<const char*>(data), bytes}, "fuzz.mtx", orientation);
  });
  return 0;
}
