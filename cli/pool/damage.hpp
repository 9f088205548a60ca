// Damage in words and in JSON, the same wherever it is met: verify, replay, export.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analyzer/ring/ring_check.hpp"
#include "analyzer/ring/ring_recovery.hpp"
#include "analyzer/ring/ring_view.hpp"

namespace ringside {

/// "2 of 1954 chunks of 16384 bytes differ: 3, 17" of a payload that is not intact.
std::string describe(const PayloadCheck& check, const RingGeometry& shape);

/// A line for each thing that is kept twice and has a damaged copy.
std::vector<std::string> describe(const TwinsCheck& check);

/// What verify and replay say of damage to a slot's header.
std::string describe_damaged_header(std::uint32_t slot);

/// {superblocks_intact, damaged_run_records: [{record, copies}]}, put into `object`.
void add_to(nlohmann::ordered_json& object, const TwinsCheck& check);

/// {damaged_chunks, chunk_table_intact}, put into `object`.
void add_to(nlohmann::ordered_json& object, const PayloadCheck& check);

}  // namespace ringside
