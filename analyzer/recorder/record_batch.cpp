// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/record_batch.hpp"

#include <string_view>

namespace ringside {

bool RecordBatch::add(const wire::Record& record) {
  const std::size_t begin = bytes_.size();
  record.AppendToString(&bytes_);
  if (bytes_.size() - begin > kMaxRecordBytes) {
    bytes_.resize(begin);
    return false;
  }
  ends_.push_back({record.seq(), bytes_.size()});
  return true;
}

std::span<const EncodedRecord> RecordBatch::records() {
  records_.clear();
  std::size_t begin = 0;
  for (const End& end : ends_) {
    records_.push_back({end.seq, std::string_view(bytes_).substr(begin, end.at - begin)});
    begin = end.at;
  }
  return records_;
}

void RecordBatch::clear() noexcept {
  bytes_.clear();
  ends_.clear();
}

}  // namespace ringside
