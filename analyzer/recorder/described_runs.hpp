// SPDX-License-Identifier: BSD-3-Clause
// Which runs the written log of the journal describes, and which it still has to: every log shall describe the results
// of each run of which it has steps, because the other log may be emptied (docs/formats/journal_format.md). Only the
// recorder's thread uses it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/records/record_layout.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

class DescribedRuns {
 public:
  /// Another journal: nothing is known of its logs.
  void clear();

  /// A description that may be needed. run_id: 16 bytes; layout: null changes nothing.
  void know(const std::string& run_id, const SharedLayout& layout);

  /// A record that one of the logs has, or that is about to be appended, with its number.
  void add(const wire::Record& record);
  /// Steps with these results are about to be appended, from number `seq` on.
  void expect(const std::string& run_id, std::uint64_t catalogue, std::uint64_t seq);

  /// All records so far are in the logs; those of the written one begin with this number, which is not 0.
  void appended(std::uint64_t first_seq_of_log);

  /// The descriptions that the written log lacks, of those that are known. Each is returned once for each log.
  std::vector<wire::RunDescribed> lacking();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // run, RecordLayout::hash
  using Newest = std::map<Key, std::uint64_t>;        // the number of the newest record

  std::map<Key, SharedLayout> known_;
  Newest used_;       // by a step
  Newest described_;  // by a RunStarted or a RunDescribed
  std::uint64_t first_seq_ = 0;
  std::uint64_t* last_used_ = nullptr;  // of the step that came last: most steps are of the same run
  Key last_key_;
};

}  // namespace ringside
