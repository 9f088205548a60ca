// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a log, as a hostile writer may have written them: whole frames with words that the fuzzer changed, cut
// off anywhere. Some of the hashes are corrected, because the scan would otherwise reject most changes. The log is in a
// plain file or follows a libpmemlog header. In every case, the scan must end, and every record that it returns must be
// within the bytes, have a right hash, and have a higher number than the previous record.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

std::vector<std::byte> whole_log() {
  JournalHeader header;
  header.generation = 3;
  header.first_seq = 11;
  header.hash = journal_header_hash(header);
  std::vector<std::byte> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (std::uint64_t seq = 11; seq < 21; ++seq) {
    const std::string payload(seq * 3, static_cast<char>('a' + seq));
    const std::size_t at = bytes.size();
    bytes.resize(at + frame_bytes(payload.size()));
    encode_frame(bytes.data() + at, seq, payload, header.hash);
  }
  return bytes;
}

template <class T>
T read_at(const std::vector<std::byte>& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

void mend_header(std::vector<std::byte>& bytes) {
  if (bytes.size() < sizeof(JournalHeader)) return;
  auto header = read_at<JournalHeader>(bytes, 0);
  header.hash = journal_header_hash(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
}

void mend_frame(std::vector<std::byte>& bytes, std::size_t at) {
  if (bytes.size() < sizeof(JournalHeader) + sizeof(FrameHeader)) return;
  at = sizeof(JournalHeader) + at % (bytes.size() - sizeof(JournalHeader) - sizeof(FrameHeader) + 1) / 8 * 8;
  if (at + sizeof(FrameHeader) > bytes.size()) return;
  auto frame = read_at<FrameHeader>(bytes, at);
  if (frame.payload_bytes > kMaxRecordBytes || frame_bytes(frame.payload_bytes) > bytes.size() - at) return;
  const auto seed = read_at<JournalHeader>(bytes, 0).hash;
  frame.hash = frame_hash(bytes.data() + at, frame_bytes(frame.payload_bytes), seed);
  std::memcpy(bytes.data() + at, &frame.hash, sizeof(frame.hash));
}

void check_scan(const std::vector<std::byte>& bytes, std::uint32_t log) {
  const LogScan scan = scan_log(bytes, log, 0);
  fuzzing::demand(scan.damage.find('\n') == std::string::npos && scan.damage.size() < 500, "damage is one short line");
  fuzzing::demand(scan.end <= bytes.size(), "a log ends within its bytes");
  fuzzing::demand(scan.records.empty() || scan.state == LogState::kValid, "no records without a header that verifies");
  std::uint64_t last = 0;
  for (const ScannedRecord& record : scan.records) {
    fuzzing::demand(record.seq > last && record.seq < kMaxRecordSeq, "numbers ascend");
    last = record.seq;
    fuzzing::demand(record.bytes > 0 && record.bytes <= kMaxRecordBytes && record.offset + record.bytes <= scan.end,
                    "every record lies in its log");
    const std::size_t frame = record.offset - sizeof(FrameHeader);
    fuzzing::demand(read_at<FrameHeader>(bytes, frame).hash ==
                        frame_hash(bytes.data() + frame, frame_bytes(record.bytes), scan.header.hash),
                    "what is returned verifies");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> whole = whole_log();
  FuzzedDataProvider choice(data, size);
  std::vector<std::byte> bytes = whole;
  bytes.resize(choice.ConsumeIntegralInRange<std::size_t>(0, whole.size() + 64));
  const bool mends_header = choice.ConsumeBool();
  const std::uint32_t log = choice.ConsumeIntegralInRange<std::uint32_t>(0, 1);
  std::vector<std::size_t> mended;
  for (int i = choice.ConsumeIntegralInRange<int>(0, 4); i > 0; --i)
    mended.push_back(choice.ConsumeIntegral<std::size_t>());
  const auto file_bytes = choice.ConsumeIntegral<std::uint64_t>();
  while (choice.remaining_bytes() > 0 && bytes.size() >= 8) {
    const std::size_t at = choice.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 8);
    const auto value = choice.ConsumeIntegral<std::uint64_t>();
    std::memcpy(bytes.data() + at, &value, choice.ConsumeIntegralInRange<std::size_t>(1, 8));
  }
  if (mends_header) mend_header(bytes);
  for (const std::size_t at : mended) mend_frame(bytes, at);
  check_scan(bytes, log);

  std::vector<std::byte> head(kPmemlogHeadBytes);
  std::memcpy(head.data(), "PMEMLOG", 8);
  std::memcpy(head.data() + kPmemlogOffsetsAt, bytes.data(), std::min<std::size_t>(bytes.size(), 24));
  const LogPlace place = place_of_log(head, file_bytes);
  fuzzing::demand(place.begin <= place.end && place.end <= file_bytes, "a log lies in its file");
  return 0;
}
