// SPDX-License-Identifier: BSD-3-Clause
#include "memory/far/far_timing.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/core.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/line.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit FarTiming far_timing;

int FarTiming::from_environment() noexcept {
  const char* const given = getenv("RINGSIDE_FAR_TIMING");
  if (given == nullptr || *given == '\0') return 0;
  if (strcmp(given, "optane") == 0) return ringside_memory_emulate(305, 4e9, 2e9);
  Line line;
  line << "RINGSIDE_FAR_TIMING: found '" << given << "', expected optane";
  return fail(EINVAL, line);
}

FarTransfer::FarTransfer(size_t bytes, bool write) noexcept {
  if (far_timing.emulated) until_ns_ = now_ns() + far_timing.least_ns(bytes, write);
}

FarTransfer::~FarTransfer() {
  if (until_ns_ == 0) return;
  while (now_ns() < until_ns_) {
  }
}

}  // namespace ringside::memory

using ringside::memory::far_timing;

int ringside_memory_emulate(double read_latency_ns, double read_bytes_per_s, double write_bytes_per_s) {
  constexpr double kNsPerS = 1e9;
  if (!(read_latency_ns >= 0 && read_latency_ns <= kNsPerS && read_bytes_per_s > 0 && write_bytes_per_s > 0)) {
    ringside::memory::Line line;
    line << "ringside_memory_emulate: found a latency below 0 or above 1 s, or a rate that is not above 0";
    return ringside::memory::fail(EINVAL, line);
  }
  far_timing = {read_latency_ns, kNsPerS / read_bytes_per_s, kNsPerS / write_bytes_per_s, true};
  return 0;
}
