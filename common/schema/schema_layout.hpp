// SPDX-License-Identifier: BSD-3-Clause
// The encoding of a schema in superblocks and attach requests. This header, docs/publish/variables.md (section 4.2) and
// the golden bytes of tests/unit/common/schema/schema_layout_test.cpp must change together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ringside {

inline constexpr std::size_t kMostVariables = 256;
inline constexpr std::size_t kMostDimensions = 8;
inline constexpr std::size_t kNameBytes = 64;  // including the NUL after the name
inline constexpr std::size_t kUnitBytes = 32;  // including the NUL after the unit

/// The declaration of a variable. `schema_id` is the hash of all declarations, in order.
struct VariableDescription {
  char name[kNameBytes] = {};  // padded with NULs
  char unit[kUnitBytes] = {};  // padded with NULs
  std::uint16_t dtype = 0;
  std::uint16_t role = 0;
  std::uint32_t dims = 0;
  std::uint64_t shape[kMostDimensions] = {};  // unused elements are 0
};
static_assert(sizeof(VariableDescription) == 168 && std::is_trivially_copyable_v<VariableDescription>);
static_assert(offsetof(VariableDescription, unit) == 64 && offsetof(VariableDescription, dtype) == 96 &&
              offsetof(VariableDescription, dims) == 100 && offsetof(VariableDescription, shape) == 104);

/// A variable in a superblock. The fields after the description can be computed from the schema; they are stored for
/// readers that cannot compute them.
struct VariableEntry {
  VariableDescription description;
  std::uint64_t offset = 0;        // the place of the variable in the payload
  std::uint64_t stored_bytes = 0;  // the size of the variable in bytes, rounded up to 8
  std::uint64_t first_chunk = 0;   // the index of its first entry in the slot's table of chunk hashes
};
static_assert(sizeof(VariableEntry) == 192 && offsetof(VariableEntry, offset) == 168 &&
              std::is_trivially_copyable_v<VariableEntry>);

}  // namespace ringside
