// SPDX-License-Identifier: BSD-3-Clause
#include "common/journal/journal_scan.hpp"

#include <algorithm>
#include <cstring>

#include "common/journal/journal_files.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

/// What was found at a place in a log.
enum class Found {
  kRecord,
  kCut,   // the beginning of a record that the log's end cuts off
  kOther  // anything else, for instance a damaged record
};

struct Place {
  Found found = Found::kOther;
  FrameHeader header;
  bool has_mark = false;
};

Place look_at(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t log_seed) {
  Place place;
  const std::uint64_t left = bytes.size() - at;
  if (left < sizeof(FrameHeader)) {
    place.found = Found::kCut;
    return place;
  }
  FrameHeader& header = place.header;
  std::memcpy(&header, bytes.data() + at, sizeof(header));
  place.has_mark = header.mark == kFrameMark;
  if (!place.has_mark || header.payload_bytes == 0 || header.payload_bytes > kMaxRecordBytes) return place;
  const std::size_t frame = frame_bytes(header.payload_bytes);
  if (frame > left) {
    place.found = Found::kCut;
  } else if (frame_hash(bytes.data() + at, frame, log_seed) == header.hash) {
    place.found = Found::kRecord;
  }
  return place;
}

std::string why(const Place& place, std::uint64_t last_seq) {
  if (!place.has_mark) return "no record begins here";
  if (place.found == Found::kRecord) {
    return formatted("record {} follows record {}", place.header.seq, last_seq);
  }
  return "this record fails its check";
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// Sets state and header, and also damage, except for kEmpty and kValid.
void read_header(std::span<const std::byte> bytes, std::uint32_t log, std::uint64_t file_offset, LogScan& scan) {
  const auto damaged = [&](LogState state, const std::string& text) {
    scan.state = state;
    scan.damage = formatted("byte {}: {}", file_offset, text);
  };
  JournalHeader& header = scan.header;
  const std::size_t there = std::min(bytes.size(), sizeof(header));
  std::memcpy(&header, bytes.data(), there);
  constexpr std::size_t kVersionEnd = offsetof(JournalHeader, log);
  if (std::memcmp(&header.magic, &kJournalMagic, std::min(there, sizeof(kJournalMagic))) != 0) {
    // If the bytes are zeros, the power failed after the file had grown but before its bytes were written.
    if (is_zero(bytes.first(there)))
      return damaged(LogState::kDamaged, "found zeros in the place of a journal's header");
    return damaged(LogState::kForeign, "not a Ringside journal");
  }
  if (there >= kVersionEnd && header.version != kJournalVersion) {
    return damaged(LogState::kNewer, formatted("found a journal of format {}, but this program reads format {}",
                                               header.version, kJournalVersion));
  }
  if (there < sizeof(header)) {  // a torn header: the state stays kEmpty
    scan.torn_at = file_offset;
    return;
  }
  if (journal_header_hash(header) != header.hash) {
    return damaged(LogState::kDamaged, "the header is damaged; no record after it can be recognised");
  }
  if (header.log != log) {
    return damaged(LogState::kDamaged, formatted("this is a copy of log {} in the place of log {}", header.log, log));
  }
  if (header.first_seq == 0 || header.first_seq >= kMaxRecordSeq || header.generation >= kMaxRecordSeq) {
    return damaged(LogState::kDamaged, "the header holds impossible numbers");
  }
  scan.state = LogState::kValid;
}

}  // namespace

LogScan scan_log(std::span<const std::byte> bytes, std::uint32_t log, std::uint64_t file_offset) {
  LogScan scan;
  if (bytes.empty()) return scan;
  read_header(bytes, log, file_offset, scan);
  if (scan.state != LogState::kValid) return scan;
  scan.end = sizeof(JournalHeader);
  scan.last_seq = scan.header.first_seq - 1;
  continue_scan(scan, bytes.subspan(scan.end), file_offset);
  return scan;
}

void continue_scan(LogScan& scan, std::span<const std::byte> appended, std::uint64_t file_offset) {
  const std::uint64_t begin = scan.end;
  const std::uint64_t log_bytes = begin + appended.size();
  std::uint64_t& last_seq = scan.last_seq;
  scan.records.clear();
  scan.damage.clear();
  scan.torn_at.reset();
  int impostors = 0;
  int places = 0;          // the number of damaged places
  bool in_damage = false;  // whether the scan is between a damaged place and the next record
  bool first_cut = false;  // whether the damage begins with what looks like a record that is cut off
  std::uint64_t damage_begin = 0;
  std::string damage_text;
  std::uint64_t at = scan.end;
  while (at < log_bytes) {
    const Place place = look_at(appended, at - begin, scan.header.hash);
    if (place.found == Found::kRecord && place.header.seq > last_seq && place.header.seq < kMaxRecordSeq) {
      if (in_damage && ++places == 1) {
        scan.damage = formatted("byte {}: {}; {} bytes cannot be read, and record {} follows them",
                                file_offset + damage_begin, damage_text, at - damage_begin, place.header.seq);
      }
      in_damage = false;
      last_seq = place.header.seq;
      scan.records.push_back({last_seq, at + sizeof(FrameHeader), place.header.payload_bytes});
      at += frame_bytes(place.header.payload_bytes);
      scan.end = at;
      continue;
    }
    if (!in_damage) {
      in_damage = true;
      first_cut = place.found == Found::kCut;
      damage_begin = at;
      damage_text = why(place, last_seq);
    }
    if (place.has_mark && ++impostors == kMaxFalseFrames) break;
    at += kFrameAlignment;
  }
  if (in_damage && first_cut) scan.torn_at = file_offset + damage_begin;
  if (in_damage && !first_cut && ++places == 1) {
    scan.damage = formatted("byte {}: {}; the log ends there", file_offset + damage_begin, damage_text);
  }
  if (places > 1) scan.damage += formatted(", and {} more damaged places", places - 1);
}

}  // namespace ringside
