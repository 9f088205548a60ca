// SPDX-License-Identifier: BSD-3-Clause
// ringside tail: follows a run from a terminal. Earlier records are read from the journal.
#pragma once

#include <cstdint>
#include <string>

#include "proto/ringside.pb.h"

namespace ringside {

/// The first record to show, from --since.
struct Since {
  std::uint64_t seq = 0;        // the number of the first record
  std::uint64_t iteration = 0;  // the first iteration to show of each run
  std::int64_t unix_ns = 0;     // the time from which records are shown

  bool holds(const wire::Record& record) const noexcept;
};

/// Reads "17" (a record's number), "iteration=17", or "10m" (s, m, h or d before now_unix_ns). Throws Error (exit code
/// 2).
Since parse_since(const std::string& text, std::int64_t now_unix_ns);

}  // namespace ringside
