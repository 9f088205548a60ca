// SPDX-License-Identifier: BSD-3-Clause
#include "common/journal/journal_layout.hpp"

#include <cstring>

#include "common/kernels/hash.hpp"

namespace ringside {

std::uint64_t journal_header_hash(const JournalHeader& header) noexcept {
  return hash64(&header, offsetof(JournalHeader, hash));
}

std::uint64_t frame_hash(const std::byte* frame, std::size_t bytes, std::uint64_t log_seed) noexcept {
  constexpr std::size_t kHashed = offsetof(FrameHeader, mark);
  return hash64(frame + kHashed, bytes - kHashed, log_seed);
}

void encode_frame(std::byte* to, std::uint64_t seq, std::string_view payload, std::uint64_t log_seed) noexcept {
  FrameHeader header;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.seq = seq;
  const std::size_t bytes = frame_bytes(payload.size());
  std::memset(to + bytes - kFrameAlignment, 0, kFrameAlignment);  // zeros for the padding
  std::memcpy(to, &header, sizeof(header));
  std::memcpy(to + sizeof(header), payload.data(), payload.size());
  header.hash = frame_hash(to, bytes, log_seed);
  std::memcpy(to, &header.hash, sizeof(header.hash));
}

}  // namespace ringside
