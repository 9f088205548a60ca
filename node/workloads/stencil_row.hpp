// SPDX-License-Identifier: BSD-3-Clause
// One row of the stencil of the thesis (6.2.1), compiled once per instruction set: each inner element becomes the mean
// of its eight neighbours. Elements are added row by row, from left to right, so that all variants give the same bits.
#pragma once

#include <cstdint>

namespace ringside {

/// to[j] for j in [begin, end), 1 <= begin, end < columns. Each row may be in any memory.
using StencilRow = void(const double* above, const double* here, const double* below, double* to, std::uint64_t begin,
                        std::uint64_t end) noexcept;

namespace plain {
extern StencilRow stencil_row;
}
namespace avx2 {
extern StencilRow stencil_row;
}
namespace avx512 {
extern StencilRow stencil_row;
}

}  // namespace ringside
