// SPDX-License-Identifier: BSD-3-Clause
// The table of all loops that measure memory: McCalpin's STREAM (copy, scale, add, triad), a sum, and the ten loops of
// Patil et al., MEMSYS 2019. `ringside calibrate` and `ringside experiment` use its names and bytes.
//
// An element is what one pass of the innermost loop computes. *Counted* bytes are those that the loop reads and writes,
// as STREAM counts. *Moved* bytes are the least that pass between memory and caches: a plain store first reads its
// cache line, a non-temporal store does not, and an access far from the previous one moves a whole line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "node/streams/stream_loops.hpp"

namespace ringside {

enum class StreamSource { kStream, kPatil };

/// The access pattern of a loop, which defines its units.
enum class StreamShape {
  kLine,        // element by element
  kStride,      // each kStreamStride-th element
  kRandom,      // through a table of random indices
  kPastCache,   // through a table whose successive indices are apart by the size of a last-level cache
  kMatrixRows,  // the units are rows of a square matrix
  kMatrixColumns,
  kMatrixInside  // the units are all rows but the first and the last
};

struct StreamKernel {
  std::string_view name;  // "copy", as in a node file
  StreamSource source = StreamSource::kStream;
  std::string_view figure;  // the figure in Patil et al.: "3a"; empty for others
  std::string_view loop;    // "c[i] = a[i]"
  StreamShape shape = StreamShape::kLine;
  bool nontemporal = false;
  int arrays = 0;          // number of arrays needed: arrays[0] up to arrays[arrays - 1]
  int arrays_read = 0;     // number of distinct arrays that are read
  int arrays_written = 0;  // number of distinct arrays that are written
  double read_bytes = 0;   // counted bytes per element
  double written_bytes = 0;
  double moved_bytes = 0;  // moved bytes per element
  double flops = 0;        // floating-point operations per element
  StreamLoop* StreamLoops::*run = nullptr;

  double counted_bytes() const noexcept { return read_bytes + written_bytes; }
};

/// All kernels of the table.
std::span<const StreamKernel> stream_kernels() noexcept;

/// Null if no kernel has this name.
const StreamKernel* find_stream_kernel(std::string_view name) noexcept;

/// Finds a kernel as find_stream_kernel does; for an unknown name, throws Error (exit code 2) that lists the existing
/// names.
const StreamKernel& stream_kernel(std::string_view name);

/// The variant of `kernel` with non-temporal stores; null if there is none.
const StreamKernel* nontemporal_variant(const StreamKernel& kernel) noexcept;

/// The number of units into which a loop over arrays of `elements` doubles can be divided.
std::uint64_t stream_units(const StreamKernel& kernel, std::uint64_t elements) noexcept;

/// The number of elements that all units together compute.
std::uint64_t stream_elements(const StreamKernel& kernel, std::uint64_t elements) noexcept;

/// The side of the largest square that fits an array of `elements` doubles.
std::uint64_t matrix_side(std::uint64_t elements) noexcept;

/// Runs the units [begin, end). The arrays that the kernel names, `elements`, and for matrices `side`, must be set. Any
/// thread may call this; threads that run different units share only the arrays. Returns the loop's sum, or 0.
double run_portion(const StreamKernel& kernel, const StreamArguments& on, std::uint64_t begin,
                   std::uint64_t end) noexcept;

/// Fills `order`. For kRandom: a pseudo-random permutation, always the same one, so that threads write different
/// elements. For kPastCache: a permutation whose successive entries are `apart` elements apart, as far as the array
/// permits.
void fill_random_order(std::span<std::uint32_t> order) noexcept;
void fill_order_apart(std::span<std::uint32_t> order, std::uint64_t apart) noexcept;

}  // namespace ringside
