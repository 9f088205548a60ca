// SPDX-License-Identifier: BSD-3-Clause
// Knows which runs the journal's active log describes, and which descriptions this log lacks. Every log must describe
// the results of each run of which it has steps, because the other log may be emptied (docs/formats/files.md). Only the
// recorder's thread uses this class.
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
  /// Forgets everything, for use with another journal.
  void clear();

  /// Adds a description that may be needed. run_id: 16 bytes. layout: if null, nothing changes.
  void know(const std::string& run_id, const SharedLayout& layout);

  /// Adds a record that a log has, or that will be appended next, with its number.
  void add(const wire::Record& record);
  /// The same for a step's record. catalogue: the hash of the step's layout.
  void add_step(const Id128& run_id, std::uint64_t catalogue, std::uint64_t seq);
  /// Announces that steps with these results will be appended next, beginning with record number `seq`.
  void expect(const std::string& run_id, std::uint64_t catalogue, std::uint64_t seq);

  /// Call this when all records up to now are in the logs. first_seq_of_log: the first number in the active log; not 0.
  void appended(std::uint64_t first_seq_of_log);

  /// The known descriptions that the active log lacks. Each is returned once for each log.
  std::vector<wire::RunDescribed> lacking();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // run, RecordLayout::hash
  using Newest = std::map<Key, std::uint64_t>;        // by key: the number of the newest record

  std::map<Key, SharedLayout> known_;
  Newest used_;       // the newest step with the key
  Newest described_;  // the newest RunStarted or RunDescribed with the key
  std::uint64_t first_seq_ = 0;
  std::uint64_t* last_used_ = nullptr;  // the last step's entry in used_, because most steps belong to the same run
  Id128 last_run_;                      // the key of that entry, like the next member
  std::uint64_t last_catalogue_ = 0;
};

}  // namespace ringside
