// SPDX-License-Identifier: BSD-3-Clause
// Which runs the written log of the journal describes, and which it lacks. Every log must describe the results of each
// run of which it has steps, because the other log may be emptied (docs/formats/files.md). Only the recorder's
// thread uses it.
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
  /// For another journal: forgets the logs.
  void clear();

  /// Adds a description that may be needed. run_id: 16 bytes; layout: null changes nothing.
  void know(const std::string& run_id, const SharedLayout& layout);

  /// Adds a record that a log has, or that will be appended next, with its number.
  void add(const wire::Record& record);
  /// Steps with these results will be appended next, from number `seq` on.
  void expect(const std::string& run_id, std::uint64_t catalogue, std::uint64_t seq);

  /// All records so far are in the logs; the written log begins with this number, which is not 0.
  void appended(std::uint64_t first_seq_of_log);

  /// The known descriptions that the written log lacks. Each is returned once for each log.
  std::vector<wire::RunDescribed> lacking();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // run, RecordLayout::hash
  using Newest = std::map<Key, std::uint64_t>;        // the number of the newest record

  std::map<Key, SharedLayout> known_;
  Newest used_;       // by a step
  Newest described_;  // by a RunStarted or a RunDescribed
  std::uint64_t first_seq_ = 0;
  std::uint64_t* last_used_ = nullptr;  // of the last step: most steps belong to the same run
  Key last_key_;
};

}  // namespace ringside
