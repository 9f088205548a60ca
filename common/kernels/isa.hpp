// SPDX-License-Identifier: BSD-3-Clause
// Which instruction set the kernels use. A kernel source is compiled once per variant (cmake/isa_variants.cmake), each
// in a namespace of the variant's name; the caller picks one with `select`. All variants give the same bits: a kernel
// that adds uses a fixed number of running sums and folds them in a fixed order, whatever the width of the registers.
#pragma once

#include <string_view>

namespace ringside {

enum class Isa { kPlain, kAvx2, kAvx512 };

/// The widest variant this processor runs; the environment variable RINGSIDE_ISA (plain, avx2, avx512) narrows it, for
/// tests and comparisons. Decided once, at the first call. An unknown name, or a set that the processor lacks, is
/// ignored in favour of the widest one available.
Isa selected_isa() noexcept;

std::string_view to_string(Isa isa) noexcept;

/// The function, or the table of functions, of a variant: `select(plain::f, avx2::f, avx512::f)`.
template <class Variant>
Variant* select(Variant* plain, Variant* avx2, Variant* avx512, Isa isa = selected_isa()) noexcept {
  switch (isa) {
    case Isa::kAvx512: return avx512;
    case Isa::kAvx2: return avx2;
    case Isa::kPlain: break;
  }
  return plain;
}

}  // namespace ringside
