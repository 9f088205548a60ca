// SPDX-License-Identifier: BSD-3-Clause
// Helpers for tests of golden bytes: the text of bytes, and, for a ring of any format, the places of the ring's parts
// and the header of a slot.
#pragma once

#include <fmt/format.h>

#include <string>

#include "common/ring/ring_geometry.hpp"
#include "common/ring/ring_layout.hpp"

namespace ringside {

template <class T>
std::string hex(const T* data, std::size_t bytes) {
  std::string text;
  const auto* byte = reinterpret_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", byte[i]);
  return text;
}

/// Places the parts of a ring of three slots.
inline void place_golden(RingGeometry& geometry) {
  geometry.file_bytes = 0x800000;
  geometry.superblock_offset[0] = 0x1000;
  geometry.superblock_offset[1] = 0x2000;
  geometry.run_table_offset[0] = 0x3000;
  geometry.run_table_offset[1] = 0x5000;
  geometry.created_realtime_ns = 1'700'000'000'000'000'000;
  geometry.pool_id = {0x1122334455667788, 0x99aabbccddeeff00};
  geometry.pmdk_hash = 0x0102030405060708;
  for (std::uint64_t slot = 1; slot <= 3; ++slot) {
    geometry.slots.push_back({slot * 0x200000 - geometry.meta_bytes(), slot * 0x200000});
  }
}

/// payload_bytes: in format 2, the number of rows. seed: the slot's seed.
inline SlotHeader golden_header_of(std::uint64_t payload_bytes, std::uint64_t seed) {
  SlotHeader header;
  header.iteration = 42;
  header.step = 41;
  header.run_id = {0xa1, 0xb2};
  header.payload_bytes = payload_bytes;
  header.payload_hash = 0x0123456789abcdef;
  header.commit_seq = 17;
  header.header_hash = header_hash(header, seed);
  return header;
}

}  // namespace ringside
