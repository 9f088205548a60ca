// SPDX-License-Identifier: BSD-3-Clause
// The loops that measure memory, over raw pointers, compiled once per instruction set (cmake/isa_variants.cmake).
// node/streams/stream_table.hpp lists the arrays that each loop reads and writes. The loops add in the order of the
// elements.
#pragma once

#include <cstdint>

namespace ringside {

/// The data of a loop. The names a, b, c of the table are arrays[0], arrays[1], arrays[2].
struct StreamArguments {
  static constexpr int kMostArrays = 10;

  double* arrays[kMostArrays] =
      {};  // each `elements` doubles, aligned to 64 bytes; null if the loop does not use it
  const std::uint32_t* order = nullptr;  // for the random loops: `elements` indices below `elements`
  std::uint64_t elements = 0;            // below 2^32 if `order` is set
  std::uint64_t side = 0;                // for the loops over matrices: side * side <= elements
  double scalar = 3.0;
};

/// The stride of a strided loop in elements: 128 bytes, which are two cache lines, because a prefetcher fetches lines
/// in pairs.
inline constexpr std::uint64_t kStreamStride = 16;

/// A loop over the units [begin, end) (`stream_units`). Returns the sum if the loop computes one, else 0.
using StreamLoop = double(const StreamArguments& on, std::uint64_t begin, std::uint64_t end) noexcept;

struct StreamLoops {
  StreamLoop* read;
  StreamLoop* copy;
  StreamLoop* copy_nontemporal;
  StreamLoop* scale;
  StreamLoop* scale_nontemporal;
  StreamLoop* add;
  StreamLoop* add_nontemporal;
  StreamLoop* triad;
  StreamLoop* triad_nontemporal;
  StreamLoop* write_only;
  StreamLoop* write_read4;
  StreamLoop* write_read4_twice;
  StreamLoop* stride;
  StreamLoop* order;  // through the table of indices
  StreamLoop* rows_first;
  StreamLoop* columns_first;
  StreamLoop* mixed;
  StreamLoop* stencil9;
};

namespace plain {
extern const StreamLoops kStreamLoops;
}
namespace avx2 {
extern const StreamLoops kStreamLoops;
}
namespace avx512 {
extern const StreamLoops kStreamLoops;
}

}  // namespace ringside
