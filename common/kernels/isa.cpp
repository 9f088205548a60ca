// SPDX-License-Identifier: BSD-3-Clause
#include "common/kernels/isa.hpp"

#include <cstdlib>

namespace ringside {
namespace {

bool processor_has(Isa isa) noexcept {
  switch (isa) {
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && processor_has(Isa::kAvx2);
    case Isa::kAvx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    case Isa::kPlain: return true;
  }
  return false;
}

Isa choose() noexcept {
  __builtin_cpu_init();
  if (const char* wanted = std::getenv("RINGSIDE_ISA")) {
    for (Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
      if (to_string(isa) == wanted && processor_has(isa)) return isa;
    }
  }
  if (processor_has(Isa::kAvx512)) return Isa::kAvx512;
  return processor_has(Isa::kAvx2) ? Isa::kAvx2 : Isa::kPlain;
}

}  // namespace

Isa selected_isa() noexcept {
  static const Isa isa = choose();
  return isa;
}

std::string_view to_string(Isa isa) noexcept {
  switch (isa) {
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx2: return "avx2";
    case Isa::kPlain: break;
  }
  return "plain";
}

}  // namespace ringside
