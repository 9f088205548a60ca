// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_scratch.hpp"

#include "common/kernels/isa.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"

namespace ringside {

ReductionScratch::ReductionScratch(std::size_t threads)
    : kernel_(*select(&plain::reduction_kernel, &avx2::reduction_kernel, &avx512::reduction_kernel)),
      threads_(threads),
      states_(threads * kernel_.state_bytes / sizeof(Line)),
      staging_(threads * kCopyChunkBytes / sizeof(Line)) {}

}  // namespace ringside
