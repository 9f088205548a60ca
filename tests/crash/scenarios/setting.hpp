// SPDX-License-Identifier: BSD-3-Clause
// The shape of a scenario's ring, and its storage.
#pragma once

#include <cstdint>
#include <string>

#include "common/ring/ring_geometry.hpp"
#include "common/ring/storage.hpp"
#include "tests/crash/images/random.hpp"

namespace ringside::crash {

struct Setting {
  Storage storage = Storage::kDax;
  Durability durability = Durability::kPower;
  std::uint32_t slots = 3;
  std::uint64_t rows = 170;     // the rows of x, the first variable
  std::uint32_t variables = 1;  // 1: x only
  std::uint32_t scalars = 2;    // the scalars of each step
  int threads = 1;              // the threads of the copy
  bool reduces_on_the_way = false;
  bool scattered = false;  // pieces are assigned to threads at random

  /// True if a sync thread persists the commits.
  bool syncs() const noexcept { return needs_sync(storage, durability); }
};

inline constexpr std::uint64_t kScenarioChunkBytes = 256;  // the smallest size: a few hundred rows are several chunks
inline constexpr std::uint32_t kMostScenarioVariables = 5;

std::string to_string(const Setting& setting);

/// Gives half of all settings 2 to 5 variables and 0 to 5 scalars.
void draw_variables(Setting& setting, Random& random);

/// x, then up to four of these variables: an f32 field, an i16 field whose size is no multiple of 8 bytes, a c128
/// state, an f64 state without dimensions.
Schema schema_of(const Setting& setting);

/// The results that run `run` records: only a few, so that images remain small. The descriptions of two runs differ.
Catalogue catalogue_of(const Setting& setting, std::uint32_t run);

/// The ring's shape for exactly this schema and catalogue.
RingShape shape_of(const Setting& setting);

}  // namespace ringside::crash
