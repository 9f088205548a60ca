// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/record_history.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "common/platform/clock.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

constexpr std::int64_t kUnusedNs = 10'000'000'000;
constexpr std::size_t kFieldBytes = 6;                // the most that append_head adds
constexpr std::int64_t kReadAgainNs = 1'000'000'000;  // the least interval between two reads for missing records

/// Appends the bytes that precede an entry of field 1: its tag and its length.
void append_head(std::string& message, std::size_t bytes) {
  using google::protobuf::io::CodedOutputStream;
  constexpr std::uint8_t kFieldOne = (1 << 3) | 2;  // length-delimited
  std::array<std::uint8_t, kFieldBytes> head{kFieldOne};
  const std::uint8_t* end = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(bytes), head.data() + 1);
  message.append(reinterpret_cast<const char*>(head.data()), static_cast<std::size_t>(end - head.data()));
}

}  // namespace

void append_record_field(std::string& message, std::string_view record) {
  append_head(message, record.size());
  message.append(record);
}

bool RecordBatch::add(const wire::Record& record) {
  const std::size_t bytes = record.ByteSizeLong();
  if (bytes > kMaxRecordBytes) return false;
  append_head(message_, bytes);
  places_.push_back({record.seq(), message_.size(), bytes});
  record.AppendToString(&message_);
  return true;
}

bool RecordBatch::add(const EncodedRecord& record) {
  if (record.bytes.size() > kMaxRecordBytes) return false;
  append_head(message_, record.bytes.size());
  places_.push_back({record.seq, message_.size(), record.bytes.size()});
  message_.append(record.bytes);
  return true;
}

std::span<const EncodedRecord> RecordBatch::records() {
  records_.clear();
  for (const Place& place : places_) {
    records_.push_back({place.seq, std::string_view(message_).substr(place.begin, place.bytes)});
  }
  return records_;
}

void RecordBatch::clear() noexcept {
  message_.clear();
  places_.clear();
}

void RecordHistory::keep(std::uint64_t seq, std::string_view record) {
  if (seq != first_in_memory_ + memory_.size()) {
    memory_.clear();
    bytes_in_memory_ = 0;
    forget_files();
  }
  while (!memory_.empty() && bytes_in_memory_ + record.size() > kBytesInMemory) {
    bytes_in_memory_ -= memory_.front().size();
    memory_.pop_front();
    ++first_in_memory_;
  }
  bytes_in_memory_ += record.size();
  if (memory_.empty()) first_in_memory_ = seq;
  if (memory_.size() == kInMemory) {
    // Reuses the oldest record's memory.
    std::string oldest = std::move(memory_.front());
    memory_.pop_front();
    ++first_in_memory_;
    bytes_in_memory_ -= oldest.size();
    oldest.assign(record);
    memory_.push_back(std::move(oldest));
  } else {
    memory_.emplace_back(record);
  }
}

std::uint64_t RecordHistory::oldest_seq() {
  if (!memory_.empty() && first_in_memory_ == 1) return 1;
  const Files* found = files();
  if (found != nullptr && !found->records.empty()) return found->records.front().seq;
  return memory_.empty() ? 0 : first_in_memory_;
}

std::uint64_t RecordHistory::newest_seq() {
  if (!memory_.empty()) return first_in_memory_ + memory_.size() - 1;
  const Files* found = files();
  return found != nullptr && !found->records.empty() ? found->records.back().seq : 0;
}

void RecordHistory::append(std::uint64_t from, std::size_t at_most, std::size_t bytes, std::string& message) {
  const std::size_t end_bytes = message.size() + bytes;
  // A record that is larger than a whole message is sent alone.
  const auto fits = [&, begin = message.size()](std::string_view record) {
    return at_most > 0 && (message.size() == begin || message.size() + record.size() + kFieldBytes <= end_bytes);
  };
  const auto add = [&](std::string_view record) {
    append_record_field(message, record);
    --at_most;
    ++from;
  };
  // A client that requests only recent records is answered from memory; no file is read.
  if (memory_.empty() || from < first_in_memory_) {
    from = std::max(from, oldest_seq());
    const Files* found = files_with(from);
    if (found == nullptr) return;
    const auto before = [](const EncodedRecord& record, std::uint64_t seq) { return record.seq < seq; };
    auto record = std::lower_bound(found->records.begin(), found->records.end(), from, before);
    // Records that are damaged in the files, or could not be written, are lost: the answer continues with the next
    // existing record.
    if (record != found->records.end()) from = record->seq;
    if (record == found->records.end() && !memory_.empty() && just_read()) from = first_in_memory_;
    for (; record != found->records.end() && record->seq == from && fits(record->bytes); ++record) add(record->bytes);
  }
  if (memory_.empty() || from < first_in_memory_) return;
  for (std::uint64_t at = from - first_in_memory_; at < memory_.size() && fits(memory_[at]); ++at) add(memory_[at]);
}

void RecordHistory::forget_files_if_unused() {
  if (files_ && now_ns() - used_ns_ > kUnusedNs) files_.reset();
}

const RecordHistory::Files* RecordHistory::files() {
  if (pool_.empty()) return nullptr;
  used_ns_ = now_ns();
  if (files_) return &*files_;
  try {
    read_ns_ = now_ns();
    files_.emplace(Files{JournalReader::open(pool_), {}});
    std::uint64_t from = 0;
    while (const std::optional<EncodedRecord> record = files_->reader.next(from)) {
      files_->records.push_back(*record);
      from = record->seq + 1;
    }
    return &*files_;
  } catch (const std::exception&) {  // the journal does not exist yet
    return nullptr;
  }
}

const RecordHistory::Files* RecordHistory::files_with(std::uint64_t seq) {
  const Files* found = files();
  // The files now contain the records that left memory after the last read.
  if (found != nullptr && (found->records.empty() || found->records.back().seq < seq) && !just_read()) {
    forget_files();
    found = files();
  }
  return found;
}

bool RecordHistory::just_read() const noexcept {
  return now_ns() - read_ns_ < kReadAgainNs;
}

}  // namespace ringside
