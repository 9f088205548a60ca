// SPDX-License-Identifier: BSD-3-Clause
// Where a run's records are kept: the values of `--journal`, shared by the options and the journal.
#pragma once

#include <string_view>

namespace ringside {

enum class JournalKind {
  kAuto,     // the kind of the existing logs; else kPmemlog if it is built in and the pool is on DAX; else kFile
  kPmemlog,  // libpmemlog
  kFile,     // plain files
  kOff
};

constexpr std::string_view to_string(JournalKind kind) noexcept {
  switch (kind) {
    case JournalKind::kPmemlog: return "pmemlog";
    case JournalKind::kFile: return "file";
    case JournalKind::kOff: return "off";
    default: return "auto";
  }
}

}  // namespace ringside
