// SPDX-License-Identifier: BSD-3-Clause
// What records say of a run's variables and results, as texts and numbers, however they were decoded; and the layout
// that they describe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/records/record_layout.hpp"

namespace ringside {

struct VariableTexts {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape{};
  std::string unit{};
  std::string role;
};

struct ResultTexts {
  std::string name;
  std::string type;
  std::string source;
  std::uint32_t classes = 0;
  std::string unit{};
  std::uint32_t count = 0;
  bool needs_previous = false;
  std::string origin{};  // the bytes of a plug-in's id; else empty
};

struct LayoutTexts {
  std::vector<VariableTexts> schema;
  std::vector<ResultTexts> results;
};

/// As many results as a run's entry in the ring has room for. More would let one small record describe millions.
inline constexpr std::size_t kMostDescriptions = 128;

/// Null if they describe nothing, or nothing that can be.
SharedLayout layout_of(const LayoutTexts& texts);

}  // namespace ringside
