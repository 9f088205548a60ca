// SPDX-License-Identifier: BSD-3-Clause
// The steps that a journal names as missing (RecordsMissing), counted over all of its runs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "proto/ringside.pb.h"

namespace ringside {

class RecordGaps {
 public:
  /// Call with each record of a journal, in order. A step that was named as missing but recorded later, from the ring,
  /// does not count as missing.
  void add(const wire::Record& record);

  /// The number of committed steps without a record.
  std::uint64_t steps() const noexcept { return steps_; }
  /// Lower and upper bound of their iterations, over all runs; both 0: not known.
  std::pair<std::uint64_t, std::uint64_t> iterations() const noexcept { return {first_iteration_, last_iteration_}; }

 private:
  struct Gap {
    std::uint64_t last = 0;            // commit_seq
    std::set<std::uint64_t> recorded;  // commit_seqs of steps that were recorded later
  };
  std::map<std::string, std::map<std::uint64_t, Gap>> gaps_;  // by run, by first commit_seq
  std::uint64_t steps_ = 0;
  std::uint64_t first_iteration_ = 0;
  std::uint64_t last_iteration_ = 0;
};

}  // namespace ringside
