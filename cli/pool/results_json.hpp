// SPDX-License-Identifier: BSD-3-Clause
// The results of a step as JSON: the same keys in every command.
#pragma once

#include <cstdint>
#include <span>

#include "common/json/json.hpp"
#include "common/results/catalogue.hpp"

namespace ringside {

/// {"x.l2": 1.5, "x.change_l1": null, …}: every result that is a number; null where it is absent. An integer beyond 64
/// bits is a text. words: of a step, Catalogue::words of them, or none (no results).
Json results_to_json(const Catalogue& catalogue, std::span<const std::uint64_t> words);

}  // namespace ringside
