// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy of caches before a memory, as text and as a plain struct. It defines a simulated memory and the true
// answers with which a probe is checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/probe/replacement.hpp"

namespace ringside::probe {

enum class Prefetch { kNone, kNextLine, kStride };
enum class Index { kPlain, kXor };  // a line's set: its number modulo the sets, or the XOR of groups of its bits

inline constexpr std::array<std::string_view, 3> kPrefetchNames = {"none", "next-line", "stride"};

constexpr std::string_view to_string(Prefetch prefetch) noexcept {
  return kPrefetchNames[static_cast<std::size_t>(prefetch)];
}

struct CacheLevel {
  std::uint64_t size_bytes = 32 << 10;
  std::uint64_t line_bytes = 64;
  std::uint32_t ways = 8;
  Index index = Index::kPlain;
  Replacement replacement = Replacement::kLru;
  bool write_back = true;      // else write-through
  bool write_allocate = true;  // whether a write that misses brings the line in
  Prefetch prefetch = Prefetch::kNone;
  double hit_ns = 2;

  std::uint64_t sets() const noexcept { return size_bytes / line_bytes / ways; }
};

struct CacheSpec {
  std::vector<CacheLevel> levels{CacheLevel{}};  // nearest first
  double memory_read_ns = 80;
  double memory_write_ns = 80;  // the cost of a write for which the processor waits
  bool posted_writes = false;   // if true, no access waits for a write to the memory
  double noise = 0.03;          // standard deviation of a cost, as a share of this cost
  double spikes = 0;            // share of accesses that an interrupt lengthens by the cost of 1 to 5 memory accesses
  std::uint64_t seed = 1;
};

/// Parses a text such as "size=32K,ways=8/size=1M,ways=16,replacement=random;memory=80,noise=0.05". The levels are
/// separated by slashes, with the nearest level first. Values for the whole hierarchy follow a semicolon. Omitted
/// values have the defaults above; hit defaults to 2, 8, 32 ns. Throws std::invalid_argument, whose text says what was
/// found and what is accepted.
CacheSpec parse_cache_spec(const std::string& text);

std::string to_string(const CacheSpec& spec);

/// Returns a text such as "48 KiB", "1.5 MiB" or "96 B".
std::string size_text(std::uint64_t bytes);

}  // namespace ringside::probe
