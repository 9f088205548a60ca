// SPDX-License-Identifier: BSD-3-Clause
// The floating-point environment of a thread. The default (IEEE 754) is: rounding to nearest, subnormal numbers kept,
// no exception trapped. The bits of iterates and results depend on the environment, and foreign code may change it:
// loading a library that was linked with -ffast-math sets "flush to zero", and interval arithmetic may leave another
// rounding mode. A new thread inherits its creator's environment. So each program of Ringside sets the default when it
// begins, and again after foreign code: plug-ins, MPI_Init. libringside does not change the environment of the program
// that uses it.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ringside {

inline void set_default_floats() noexcept {
  std::fesetenv(FE_DFL_ENV);
}

/// Sets the default if the environment differs. Returns whether it differed. If it did not differ, the call takes only
/// a few cycles on x86-64 and AArch64. On other processors only the rounding mode is compared; the other settings are
/// restored, but a difference in them is not reported.
inline bool restore_default_floats() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kExceptions = 0x3f;  // the flags that arithmetic raises, which are not settings
  constexpr unsigned kSseDefault = 0x1f80;
  constexpr std::uint16_t kX87Set = 0x0f3f;  // the bits for masks, precision and rounding
  constexpr std::uint16_t kX87Default = 0x033f;
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  if ((_mm_getcsr() & ~kExceptions) == kSseDefault && (x87 & kX87Set) == kX87Default) return false;
  set_default_floats();
  return true;
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  if (control == 0) return false;
  set_default_floats();
  return true;
#else
  const bool changed = std::fegetround() != FE_TONEAREST;
  set_default_floats();
  return changed;
#endif
}

}  // namespace ringside
