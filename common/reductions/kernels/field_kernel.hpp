// SPDX-License-Identifier: BSD-3-Clause
// The pass over a field of any dtype, or over the part of it that is being copied, once per instruction set
// (cmake/isa_variants.cmake). A field of another dtype than f64 is widened to doubles, block by block in the
// first-level cache, and goes through the same reductions; its state and its block sums are those of
// common/reductions/kernels/reduction_kernel.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {

/// The blocks [first_block, end_block) of a field, walked by one thread in one sweep.
struct FieldSweepPart {
  const void* x;         // the whole field
  const void* previous;  // the whole field of the step before, or null: the results for the change then stay
  std::uint64_t entries;
  std::uint64_t first_block;
  std::uint64_t end_block;
};

/// A chunk of a field on its way from one place to another.
struct FieldCopyPart {
  const void* from;           // the chunk: another process may write there; each byte is read once
  void* to;                   // its place, 64-byte aligned, written past the cache; null: the copy stays in `staging`
  const void* previous;       // the same entries of the step before, or null
  void* staging;              // kCopyChunkBytes bytes of this thread's, 64-byte aligned
  std::uint64_t first_entry;  // of the field: the first of a block
  std::size_t entries;        // whole blocks, except at the end of the field
  std::size_t bytes;          // of the entries, rounded up to 8; at most kCopyChunkBytes
};

/// For one dtype. state: as ReductionKernel's; exact: used by integer dtypes only.
struct FieldKernel {
  void (*sweep)(void* state, ExactReductions& exact, double* block_sums, const FieldSweepPart& part) noexcept;
  /// Returns hash64 of the bytes. No fence.
  std::uint64_t (*copy)(void* state, ExactReductions& exact, double* block_sums, const FieldCopyPart& part) noexcept;
  /// x[i] = entry i as a double, of a complex one its modulus. Null: the entries are doubles.
  void (*widen)(const void* from, std::size_t entries, double* x) noexcept;
  /// x[i] = the change of entry i against the step before.
  void (*widen_change)(const void* from, const void* before, std::size_t entries, double* x) noexcept;
};

/// Of this dtype, for the instruction set that the programs use (common/kernels/isa.hpp).
const FieldKernel& field_kernel_of(DType dtype) noexcept;

/// By dtype: its number - 1.
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
