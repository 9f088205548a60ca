// SPDX-License-Identifier: BSD-3-Clause
// The parts of reports that several commands share: damage in words and in JSON, and the results of a step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "common/results/catalogue.hpp"
#include "common/ring/ring_check.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// "2 of 1954 chunks of 16384 bytes differ: 3, 17", for a payload that is not intact. With several variables it also
/// names the damaged ones: "…: 3, 17 (r, p)".
std::string describe(const PayloadCheck& check, const RingGeometry& shape);

/// One line for each structure that is kept twice and has a damaged copy.
std::vector<std::string> describe(const TwinsCheck& check);

/// The line of verify and replay about a slot with a damaged header.
std::string describe_damaged_header(std::uint32_t slot);

/// Adds {superblocks_intact, damaged_run_records: [{record, copies}]} to `object`.
void add_to(Json& object, const TwinsCheck& check);

/// Adds {damaged_chunks, damaged_variables, chunk_table_intact} to `object`.
void add_to(Json& object, const PayloadCheck& check, const RingGeometry& shape);

/// {"x.l2": 1.5, "x.change_l1": null, …}: every result with one value, except the solver's scalars. An absent result is
/// null. An integer of more than 64 bits is a text. words: all words of a step's results (Catalogue::words), or none;
/// the object is then null.
Json results_to_json(const Catalogue& catalogue, std::span<const std::uint64_t> words);

}  // namespace ringside
