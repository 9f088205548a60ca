// SPDX-License-Identifier: BSD-3-Clause
// An instant as people and programs write it: ISO 8601, UTC, to the second.
#pragma once

#include <cstdint>
#include <string>

namespace ringside {

/// "2026-11-23T01:00:00Z", of realtime_ns() (common/platform/clock.hpp).
std::string utc_text(std::int64_t realtime_ns);

}  // namespace ringside
