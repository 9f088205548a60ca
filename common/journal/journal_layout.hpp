// SPDX-License-Identifier: BSD-3-Clause
// The journal's format, which is the same for every kind of storage: a log is a header and frames, and each frame has
// its own hash. If this header changes, change docs/formats/files.md, the golden bytes of
// tests/unit/analyzer/journal/journal_layout_test.cpp and kJournalVersion as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ringside {

inline constexpr std::uint64_t kJournalMagic = 0x31304c4e524a5352;  // "RSJRNL01" in memory
inline constexpr std::uint32_t kJournalVersion = 1;
inline constexpr std::uint32_t kFrameMark = 0x4d415246;  // "FRAM" in memory
inline constexpr std::size_t kFrameAlignment = 8;
// Any greater number is a sign of damage.
inline constexpr std::uint64_t kMaxRecordSeq = std::uint64_t{1} << 62;

/// The first bytes of a log. The first 12 bytes keep their place and meaning in every version.
struct JournalHeader {
  std::uint64_t magic = kJournalMagic;
  std::uint32_t version = kJournalVersion;
  std::uint32_t log = 0;         // 0 or 1; detects a log that was copied over the other one
  std::uint64_t generation = 0;  // 1, 2, 3 ...: the emptied log gets the next number; the greater number is active
  std::uint64_t first_seq = 0;   // the number of the record that follows the header
  std::int64_t created_realtime_ns = 0;
  std::uint64_t reserved[2] = {};
  std::uint64_t hash = 0;  // the hash of all fields before this one; seeds the hash of every frame
};
static_assert(sizeof(JournalHeader) == 64 && std::is_trivially_copyable_v<JournalHeader>);
static_assert(offsetof(JournalHeader, generation) == 16 && offsetof(JournalHeader, hash) == 56);

/// Precedes each record's bytes, which are zero-padded to a multiple of kFrameAlignment.
struct FrameHeader {
  std::uint64_t hash = 0;  // the hash of the rest of the frame, seeded by the hash in the log's header, so a frame of
                           // an older generation, or of another log, does not verify
  std::uint32_t mark = kFrameMark;
  std::uint32_t payload_bytes = 0;  // from 1 to kMaxRecordBytes
  std::uint64_t seq = 0;
};
static_assert(sizeof(FrameHeader) == 24 && std::is_trivially_copyable_v<FrameHeader>);
static_assert(offsetof(FrameHeader, mark) == 8 && offsetof(FrameHeader, seq) == 16);

constexpr std::size_t frame_bytes(std::size_t payload_bytes) noexcept {
  return (sizeof(FrameHeader) + payload_bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
}

std::uint64_t journal_header_hash(const JournalHeader& header) noexcept;

/// The hash of the frame at `frame`, whose length is frame_bytes(its payload_bytes). log_seed: the hash in the log's
/// header.
std::uint64_t frame_hash(const std::byte* frame, std::size_t bytes, std::uint64_t log_seed) noexcept;

/// Writes a frame of frame_bytes(payload.size()) bytes to `to`.
void encode_frame(std::byte* to, std::uint64_t seq, std::string_view payload, std::uint64_t log_seed) noexcept;

}  // namespace ringside
