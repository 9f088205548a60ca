// SPDX-License-Identifier: BSD-3-Clause
// A copy or a sweep that reduces a field of any dtype. Memory traffic for n entries of b bytes: b n bytes are read; a
// copy writes b n bytes with non-temporal stores; if the change is wanted, b n bytes of the previous step are read.
//
// A block of 1024 entries is copied line by line into the first-level cache, hashed, and written to its destination
// with non-temporal stores. The copy in the cache is converted to 8 KiB of doubles, which the reductions read. The
// block's change is processed in the same way. f64 needs no conversion and has kernels of its own.
#include "common/reductions/kernels/field_kernel.hpp"

#include "common/kernels/copy_kernel.hpp"
#include "common/kernels/hash_kernel.hpp"
#include "common/reductions/kernels/field_entries.hpp"
#include "common/reductions/kernels/line_copy.hpp"
#include "common/reductions/kernels/reduction_state.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

/// x, previous: the first entries of the block; previous may be null.
template <class Entries>
void add_block(ReductionState& state, ExactReductions& exact, double* block_sums, const std::byte* x,
               const std::byte* previous, std::uint64_t first_row, std::size_t rows) noexcept {
  alignas(64) double widened[kBlockRows];
  double* const sums = block_sums + first_row / kBlockRows * kSumsPerBlock;
  Block block;
  block.x = widened;
  block.next = widened;  // the callers prefetch the next block
  block.previous = nullptr;
  block.rows = rows;
  block.first_row = first_row;

  Entries::widen(x, rows, widened);
  state.of_iterate.add_block<Values>(block, sums);
  Entries::add_exact(exact, x, block, sums);
  if (previous == nullptr) return;

  Entries::widen_change(x, previous, rows, widened);
  state.of_change.add_block<Values>(block, sums + OfIterate::kBlockSums);
  Entries::add_exact_change(exact, x, previous, block, sums + OfIterate::kBlockSums);
}

/// Makes only prefetches, which do not fault beyond the end of the field.
void read_ahead(const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(from + at);
}

template <class Entries>
void sweep(void* state, ExactReductions& exact, double* block_sums, const FieldSweepPart& part) noexcept {
  constexpr std::size_t kBlockBytes = kBlockRows * Entries::kBytes;
  const auto* const whole = static_cast<const std::byte*>(part.x);
  const auto* const whole_previous = static_cast<const std::byte*>(part.previous);
  for (std::uint64_t number = part.first_block; number < part.end_block; ++number) {
    const std::byte* const x = whole + number * kBlockBytes;
    const std::byte* const previous = whole_previous != nullptr ? whole_previous + number * kBlockBytes : nullptr;
    read_ahead(x + kBlockBytes, kBlockBytes);
    if (previous != nullptr) read_ahead(previous + kBlockBytes, kBlockBytes);
    const std::uint64_t first_row = number * kBlockRows;
    const std::uint64_t left = part.entries - first_row;
    add_block<Entries>(*static_cast<ReductionState*>(state), exact, block_sums, x, previous, first_row,
                       left < kBlockRows ? left : kBlockRows);
  }
}

/// Copies whole blocks.
template <class Entries, bool kStreaming>
std::uint64_t copy_blocks(ReductionState& state, ExactReductions& exact, double* block_sums,
                          const FieldCopyPart& part) noexcept {
  constexpr std::size_t kBlockBytes = kBlockRows * Entries::kBytes;
  static_assert(kBlockBytes % kHashBlockBytes == 0 && kCopyChunkBytes % kBlockBytes == 0);
  const auto* const from = static_cast<const double*>(part.from);
  const auto* const previous = static_cast<const std::byte*>(part.previous);
  auto* const to = static_cast<double*>(part.to);
  auto* const staged = static_cast<double*>(part.staging);
  LineHash hash;
  for (std::size_t begin = 0; begin < part.bytes; begin += kBlockBytes) {
    for (std::size_t at = begin; at < begin + kBlockBytes; at += kLineBytes) {
      const std::size_t i = at / sizeof(double);
      __builtin_prefetch(reinterpret_cast<const std::byte*>(from) + at + kAheadBytes);
      if (previous != nullptr) __builtin_prefetch(previous + at + kAheadBytes);
      stage_line<kStreaming>(from, to, staged, i);
      take_line(hash, staged + i, i, at + kLineBytes == part.bytes);
    }
    add_block<Entries>(state, exact, block_sums, static_cast<const std::byte*>(part.staging) + begin,
                       previous != nullptr ? previous + begin : nullptr, part.first_entry + begin / Entries::kBytes,
                       kBlockRows);
  }
  return hash.value(part.bytes);
}

/// Copies the end of a field in two steps, first to memory that only this thread writes.
template <class Entries>
std::uint64_t copy_rest(ReductionState& state, ExactReductions& exact, double* block_sums,
                        const FieldCopyPart& part) noexcept {
  const auto* const previous = static_cast<const std::byte*>(part.previous);
  __builtin_memcpy(part.staging, part.from, part.bytes);
  for (std::size_t first = 0; first < part.entries; first += kBlockRows) {
    const std::size_t left = part.entries - first;
    const std::size_t begin = first * Entries::kBytes;
    add_block<Entries>(state, exact, block_sums, static_cast<const std::byte*>(part.staging) + begin,
                       previous != nullptr ? previous + begin : nullptr, part.first_entry + first,
                       left < kBlockRows ? left : kBlockRows);
  }
  return part.to != nullptr ? copy_nontemporal_hashed(part.to, part.staging, part.bytes)
                            : hash64(part.staging, part.bytes, 0);
}

template <class Entries>
std::uint64_t copy(void* state_memory, ExactReductions& exact, double* block_sums, const FieldCopyPart& part) noexcept {
  auto& state = *static_cast<ReductionState*>(state_memory);
  if (part.entries % kBlockRows != 0) return copy_rest<Entries>(state, exact, block_sums, part);
  return part.to != nullptr ? copy_blocks<Entries, true>(state, exact, block_sums, part)
                            : copy_blocks<Entries, false>(state, exact, block_sums, part);
}

template <class Entries>
void widen(const void* from, std::size_t entries, double* x) noexcept {
  Entries::widen(static_cast<const std::byte*>(from), entries, x);
}

template <class Entries>
void widen_change(const void* from, const void* before, std::size_t entries, double* x) noexcept {
  Entries::widen_change(static_cast<const std::byte*>(from), static_cast<const std::byte*>(before), entries, x);
}

template <class Entries>
constexpr FieldKernel kernel_of() noexcept {
  return {sweep<Entries>, copy<Entries>, widen<Entries>, widen_change<Entries>};
}

void sweep_f64(void* state, ExactReductions&, double* block_sums, const FieldSweepPart& part) noexcept {
  reduction_kernel.sweep(state, block_sums,
                         {static_cast<const double*>(part.x), static_cast<const double*>(part.previous), part.entries,
                          part.first_block, part.end_block});
}

std::uint64_t copy_f64(void* state, ExactReductions&, double* block_sums, const FieldCopyPart& part) noexcept {
  return copy_reduced(
      state, block_sums,
      {static_cast<const double*>(part.from), static_cast<double*>(part.to), static_cast<const double*>(part.previous),
       static_cast<double*>(part.staging), part.first_entry, part.entries});
}

}  // namespace

const FieldKernels field_kernels = {kernel_of<Narrow<float>>(),
                                    {sweep_f64, copy_f64, nullptr, widen_change<Narrow<double>>},
                                    kernel_of<Complex<float>>(),
                                    kernel_of<Complex<double>>(),
                                    kernel_of<NarrowInteger<std::int8_t>>(),
                                    kernel_of<NarrowInteger<std::int16_t>>(),
                                    kernel_of<NarrowInteger<std::int32_t>>(),
                                    kernel_of<WideInteger<std::int64_t>>(),
                                    kernel_of<NarrowInteger<std::uint8_t>>(),
                                    kernel_of<NarrowInteger<std::uint16_t>>(),
                                    kernel_of<NarrowInteger<std::uint32_t>>(),
                                    kernel_of<WideInteger<std::uint64_t>>()};

}  // namespace ringside::RINGSIDE_ISA
