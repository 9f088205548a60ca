// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/utc_text.hpp"

#include <ctime>

namespace ringside {

std::string utc_text(std::int64_t realtime_ns) {
  const auto time = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&time, &parts);  // cannot fail: 64 bits of nanoseconds are some three hundred years
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace ringside
