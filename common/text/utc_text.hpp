// SPDX-License-Identifier: BSD-3-Clause
// Times in the form that people and programs use: ISO 8601, UTC, to the second.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace ringside {

/// A text such as "2026-11-23T01:00:00Z". realtime_ns: as from realtime_ns() (common/platform/clock.hpp).
inline std::string utc_text(std::int64_t realtime_ns) {
  const auto time = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&time, &parts);  // cannot fail: 64 bits of nanoseconds are about 300 years
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace ringside
