// SPDX-License-Identifier: BSD-3-Clause
// An id as 16 bytes, in the order of the 32 digits that the programs print. The journal and the C interface use this
// form.
#pragma once

#include <cstddef>

#include "common/kernels/hash.hpp"

namespace ringside {

inline constexpr std::size_t kIdBytes = 16;

/// Writes kIdBytes bytes to `to`.
inline void put_id(unsigned char* to, const Id128& id) noexcept {
  for (std::size_t i = 0; i < 8; ++i) {
    to[i] = static_cast<unsigned char>(id.high >> (56 - 8 * i));
    to[8 + i] = static_cast<unsigned char>(id.low >> (56 - 8 * i));
  }
}

/// Reads kIdBytes bytes from `from`.
inline Id128 id_at(const unsigned char* from) noexcept {
  Id128 id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.high = id.high << 8 | from[i];
    id.low = id.low << 8 | from[8 + i];
  }
  return id;
}

}  // namespace ringside
