// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/pool_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string_view>

#include "common/records/shown_results.hpp"
#include "common/results/result_values.hpp"

namespace ringside {
namespace {

/// Formats ascending numbers as ranges: "0-3, 7" for 0, 1, 2, 3, 7.
std::string ranges(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

/// The names of the damaged variables, each once, in the order of the payload.
std::vector<std::string_view> damaged_variables(const PayloadCheck& check, const RingGeometry& shape) {
  std::vector<std::string_view> names;
  for (const std::uint64_t chunk : check.damaged_chunks) {
    const std::string_view name = shape.schema().variables()[shape.chunks[chunk].variable].name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

Json value_of(const ResultValues& values, const Result& result) {
  StepValue value{.type = result.type, .present = values.present(result)};
  value.words[0] = values.words()[result.word];
  if (result.type == ValueType::kI128) value.words[1] = values.words()[result.word + 1];
  return to_json(value);
}

}  // namespace

std::string describe(const PayloadCheck& check, const RingGeometry& shape) {
  std::string chunks;
  if (!check.damaged_chunks.empty()) {
    chunks = fmt::format("{} of {} chunks of {} bytes differ: {}", check.damaged_chunks.size(), shape.chunk_count(),
                         shape.chunk_bytes, ranges(check.damaged_chunks));
    if (shape.schema().size() > 1) chunks += fmt::format(" ({})", fmt::join(damaged_variables(check, shape), ", "));
  }
  if (check.table_intact) return chunks;
  if (!chunks.empty()) return "its table of chunk hashes is damaged; " + chunks;
  // Every chunk matches the table of hashes, but the table and the step descriptor do not match the slot's header.
  return "its step descriptor is damaged, or (after power loss on a plain file) the payload belongs to another step";
}

std::vector<std::string> describe(const TwinsCheck& check) {
  std::vector<std::string> lines;
  if (!check.superblocks_intact()) {
    lines.push_back("one of the two superblocks is DAMAGED; the next analyzer repairs it from the other one");
  }
  for (const TwinsCheck::DamagedEntry& entry : check.run_entries) {
    const bool both = entry.copy_damaged[0] && entry.copy_damaged[1];
    lines.push_back(
        fmt::format("run table entry {}: {}", entry.index,
                    both ? "both copies are DAMAGED: the description of this run is lost"
                         : "one of its two copies is DAMAGED; the next analyzer repairs it from the other one"));
  }
  return lines;
}

std::string describe_damaged_header(std::uint32_t slot) {
  return fmt::format("slot {:>4}  DAMAGED: its header is damaged; which iterate it held is unknown", slot);
}

void add_to(Json& object, const TwinsCheck& check) {
  object["superblocks_intact"] = check.superblocks_intact();
  Json& entries = object["damaged_run_records"] = Json::array();
  for (const TwinsCheck::DamagedEntry& entry : check.run_entries) {
    Json copies = Json::array();
    for (int copy : {0, 1}) {
      if (entry.copy_damaged[copy]) copies.push_back(copy);
    }
    entries.push_back({{"record", entry.index}, {"copies", std::move(copies)}});
  }
}

void add_to(Json& object, const PayloadCheck& check, const RingGeometry& shape) {
  object["damaged_chunks"] = check.damaged_chunks;
  object["damaged_variables"] = damaged_variables(check, shape);
  object["chunk_table_intact"] = check.table_intact;
}

Json results_to_json(const Catalogue& catalogue, std::span<const std::uint64_t> words) {
  if (words.size() != catalogue.words()) return {};
  Json object = Json::object();
  for (const Result& result : catalogue.results()) {
    if (result.source == ResultSource::kScalar || result.count != 1) continue;
    object[result.full_name] = value_of(ResultValues(words), result);
  }
  return object;
}

}  // namespace ringside
