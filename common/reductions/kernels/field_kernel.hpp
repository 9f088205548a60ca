// SPDX-License-Identifier: BSD-3-Clause
// The pass over a field of any dtype, or over a part that is being copied, compiled once for each instruction set
// (cmake/isa_variants.cmake). A field of any dtype except f64 is converted to doubles, block by block in the
// first-level cache, and then goes through the same reductions, with the state and the block sums of
// common/reductions/kernels/reduction_kernel.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {

/// The blocks [first_block, end_block) of a field, which one thread reduces in one sweep.
struct FieldSweepPart {
  const void* x;         // the whole field
  const void* previous;  // the whole field in the previous step; null: keep the results for the change
  std::uint64_t entries;
  std::uint64_t first_block;
  std::uint64_t end_block;
};

/// A chunk of a field that is being copied.
struct FieldCopyPart {
  const void* from;           // the chunk; each byte is read once, because another process may write there
  void* to;                   // destination of non-temporal stores, 64-byte aligned; null: copy only to `staging`
  const void* previous;       // the same entries in the previous step, or null
  void* staging;              // kCopyChunkBytes bytes of this thread, 64-byte aligned
  std::uint64_t first_entry;  // index in the field of the chunk's first entry; must begin a block
  std::size_t entries;        // whole blocks, except at the end of the field
  std::size_t bytes;          // size of the entries, rounded up to 8; at most kCopyChunkBytes
};

/// The functions for one dtype. state: as in ReductionKernel; exact: used for integer dtypes only.
struct FieldKernel {
  void (*sweep)(void* state, ExactReductions& exact, double* block_sums, const FieldSweepPart& part) noexcept;
  /// Returns the hash64 of the bytes. Has no fence.
  std::uint64_t (*copy)(void* state, ExactReductions& exact, double* block_sums, const FieldCopyPart& part) noexcept;
  /// Sets x[i] to entry i as a double, for a complex entry to its modulus. Null if the entries are doubles.
  void (*widen)(const void* from, std::size_t entries, double* x) noexcept;
  /// Sets x[i] to the change of entry i since the previous step.
  void (*widen_change)(const void* from, const void* before, std::size_t entries, double* x) noexcept;
};

/// The functions for this dtype and for the instruction set that the programs use (common/kernels/isa.hpp).
const FieldKernel& field_kernel_of(DType dtype) noexcept;

/// The index of a dtype's functions is the number of the dtype minus 1.
using FieldKernels = FieldKernel[std::size(kDTypeNames)];

namespace plain {
extern const FieldKernels field_kernels;
}
namespace avx2 {
extern const FieldKernels field_kernels;
}
namespace avx512 {
extern const FieldKernels field_kernels;
}

}  // namespace ringside
