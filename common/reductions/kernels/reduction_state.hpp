// SPDX-License-Identifier: BSD-3-Clause
// One thread's results for an iterate so far: the same for a sweep over memory (reduction_kernel.cpp) and for a copy
// that also reduces (reducing_copy_kernel.cpp). Compiled once per instruction set.
#pragma once

#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/kernels/reduction_list.hpp"

namespace ringside::RINGSIDE_ISA {

struct alignas(64) ReductionState {
  OfIterate of_iterate;
  OfChange of_change;
};

/// What a thread has found of a field, kept while its state serves another one. The sums are not among it.
struct alignas(64) FoundReductions {
  OfIterate::Found of_iterate;
  OfChange::Found of_change;
};

// Padded to whole registers, with the same padding for every instruction set.
inline constexpr std::size_t kSums = OfIterate::kBlockSums + OfChange::kBlockSums;
inline constexpr std::size_t kSumsPerBlock = (kSums + 7) / 8 * 8;

/// ReductionKernel::copy.
std::uint64_t copy_reduced(void* state, double* block_sums, const CopyPart& part) noexcept;

}  // namespace ringside::RINGSIDE_ISA
