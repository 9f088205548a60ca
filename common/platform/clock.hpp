// SPDX-License-Identifier: BSD-3-Clause
// The only clock for all measured times: CLOCK_MONOTONIC in integer nanoseconds. Both processes read the same clock, so
// a time that the producer took can be subtracted from a time that the analyzer took.
#pragma once

#include <cstdint>
#include <ctime>

namespace ringside {

inline std::int64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// The wall clock, only for the time at which a run started; these times are never subtracted.
inline std::int64_t realtime_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

inline double seconds(std::int64_t ns) noexcept {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace ringside
