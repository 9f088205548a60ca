// SPDX-License-Identifier: BSD-3-Clause
// Hashes of bulk bytes: XXH3 (https://github.com/Cyan4973/xxHash), compiled once for each instruction set. The hashes
// detect damage and identify content; they do not protect against deliberate forgery.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ringside {

/// A 128-bit id: random (for a run), or a hash of content (XXH3-128). The struct is trivially copyable, because pools
/// and messages contain it.
struct Id128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Id128&) const = default;
};

/// The id as 32 lower-case hexadecimal digits.
std::string to_string(const Id128& id);

/// XXH3-64 of `bytes` bytes at `data`.
std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed = 0) noexcept;

/// XXH3-128 of `bytes` bytes at `data`.
Id128 hash128(const void* data, std::size_t bytes, std::uint64_t seed = 0) noexcept;

/// A 128-bit hash of a large array: all OpenMP threads hash fixed pieces of 1 MiB, then the pieces' hashes are hashed
/// in order. The value does not depend on the number of threads, and differs from `hash128` of the same bytes.
Id128 hash128_parallel(const void* data, std::size_t bytes, std::uint64_t seed = 0);

/// 128 random bits from the kernel.
Id128 random_id();

}  // namespace ringside
