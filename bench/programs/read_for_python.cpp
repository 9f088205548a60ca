// SPDX-License-Identifier: BSD-3-Clause
// The references with which bench/reader.py compares a verified view: one read of the same memory, and only the hashes
// of its chunks. bench/reader.py loads this library with ctypes.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bench/programs/read_kernel.hpp"
#include "common/kernels/hash.hpp"
#include "common/kernels/isa.hpp"

extern "C" {

/// XORs all words, so that only the loads cost time.
__attribute__((visibility("default"))) std::uint64_t bench_read(const double* x, std::size_t rows) {
  using namespace ringside;
  static const auto kernel = select<bench::ReadFunction>(plain::read_all, avx2::read_all, avx512::read_all);
  return kernel(x, rows);
}

/// XORs the chunks' hashes.
__attribute__((visibility("default"))) std::uint64_t bench_hash(const unsigned char* data, std::size_t bytes,
                                                                std::size_t chunk_bytes) {
  std::uint64_t all = 0;
  for (std::size_t begin = 0; begin < bytes; begin += chunk_bytes) {
    all ^= ringside::hash64(data + begin, std::min(chunk_bytes, bytes - begin));
  }
  return all;
}

}  // extern "C"
