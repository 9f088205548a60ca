// SPDX-License-Identifier: BSD-3-Clause
// The instruction set that the kernels use. A kernel source is compiled once per variant (cmake/isa_variants.cmake),
// each in a namespace with the variant's name; the caller chooses with `select`. All variants give the same bits: for
// every register width, a kernel that adds has the same number of running sums and folds them in the same order.
#pragma once

#include <string_view>

namespace ringside {

enum class Isa { kPlain, kAvx2, kAvx512 };

/// The widest variant that this processor supports. The environment variable RINGSIDE_ISA (plain, avx2, avx512) can
/// select a narrower one, for tests and comparisons; an unknown name or an unsupported set is ignored. The first call
/// makes the choice for the whole process.
Isa selected_isa() noexcept;

std::string_view to_string(Isa isa) noexcept;

/// The function, or the table of functions, of the selected variant: `select(plain::f, avx2::f, avx512::f)`.
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
