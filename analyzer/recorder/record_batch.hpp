// SPDX-License-Identifier: BSD-3-Clause
// Numbered and encoded records that will be written to the journal and to the subscribers, all at once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/journal/journal.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Keeps its memory when it is cleared.
class RecordBatch {
 public:
  /// False if it exceeds a record's limit (kMaxRecordBytes): then it is not added.
  bool add(const wire::Record& record);
  std::size_t size() const noexcept { return ends_.size(); }
  bool empty() const noexcept { return ends_.empty(); }
  std::size_t bytes() const noexcept { return bytes_.size(); }
  /// Valid until the next call that changes the batch.
  std::span<const EncodedRecord> records();
  void clear() noexcept;

 private:
  struct End {
    std::uint64_t seq = 0;
    std::size_t at = 0;  // in bytes_
  };
  std::string bytes_;  // of the records, one after the other
  std::vector<End> ends_;
  std::vector<EncodedRecord> records_;
};

}  // namespace ringside
