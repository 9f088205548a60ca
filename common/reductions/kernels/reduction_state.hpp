// SPDX-License-Identifier: BSD-3-Clause
// The results that one thread has computed so far for an iterate. Both a sweep over memory (reduction_kernel.cpp) and a
// copy that also reduces (reducing_copy_kernel.cpp) use this state. Compiled once for each instruction set.
#pragma once

#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/kernels/reduction_list.hpp"

namespace ringside::RINGSIDE_ISA {

struct alignas(64) ReductionState {
  OfIterate of_iterate;
  OfChange of_change;
};

/// A thread's results for a field, without the sums, kept while its state is used for another field.
struct alignas(64) FoundReductions {
  OfIterate::Found of_iterate;
  OfChange::Found of_change;
};

// The number of sums, and the same number padded to whole registers. The padding is the same for every instruction set.
inline constexpr std::size_t kSums = OfIterate::kBlockSums + OfChange::kBlockSums;
inline constexpr std::size_t kSumsPerBlock = (kSums + 7) / 8 * 8;

/// The implementation of ReductionKernel::copy.
std::uint64_t copy_reduced(void* state, double* block_sums, const CopyPart& part) noexcept;

}  // namespace ringside::RINGSIDE_ISA
