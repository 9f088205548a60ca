// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_geometry.hpp"

#include <algorithm>
#include <cstring>

#include "common/reductions/reduction_catalogue.hpp"
#include "common/ring/ring_layout_2.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

RingShape RingShape::of(const Schema& schema, const Catalogue& catalogue) {
  const std::uint64_t used = sizeof(ResultsHead) + catalogue.words() * sizeof(std::uint64_t);
  return {
      .schema = schema,
      .scalar_words = scalar_words_for(catalogue.scalars().size()),
      .results_bytes = round_up(used, kLineBytes) + kSpareResultBytes,
      .catalogue_entries = std::max(kCatalogueEntries, static_cast<std::uint32_t>(catalogue.descriptions().size()))};
}

RingShape RingShape::x_only(std::uint64_t rows) {
  const Schema schema = Schema::x_only(rows);
  return of(schema, catalogue_of(schema, residual_scalars()));
}

PayloadParts::PayloadParts(const Schema& schema, std::uint64_t part_bytes) : part_bytes_(part_bytes) {
  std::uint64_t end = 0;
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariablePlace& place = schema.place(v);
    end += (place.stored_bytes + part_bytes - 1) / part_bytes;
    variables_.push_back({end, place.offset, place.stored_bytes});
  }
}

PayloadParts::Part PayloadParts::operator[](std::uint64_t index) const noexcept {
  const auto is_before = [](std::uint64_t part, const Variable& variable) { return part < variable.end; };
  const auto found = variables_.size() == 1 ? variables_.begin()
                                            : std::upper_bound(variables_.begin(), variables_.end(), index, is_before);
  const auto variable = static_cast<std::size_t>(found - variables_.begin());
  const std::uint64_t begin = (index - first_of(variable)) * part_bytes_;
  return {static_cast<std::uint32_t>(variable), begin, found->offset + begin,
          std::min(part_bytes_, found->stored_bytes - begin)};
}

std::uint64_t RingGeometry::superblock_bytes() const noexcept {
  if (version == kRingVersion2) return superblock_bytes_2(slot_count());
  return sizeof(Superblock) + slot_count() * sizeof(SlotPlace) + shape.schema.size() * sizeof(VariableEntry);
}

std::uint64_t RingGeometry::run_entry_bytes() const noexcept {
  if (version == kRingVersion2) return sizeof(RunTableEntry2);
  return sizeof(RunEntryHead) + shape.catalogue_entries * sizeof(ResultDescription) + kLineBytes;
}

std::string RingGeometry::lacks_room_for(const Catalogue& catalogue) const {
  const auto lacks = [](std::uint64_t room, const char* what, std::uint64_t wanted) {
    return formatted("room for {} {}, but this run has {}", room, what, wanted);
  };
  if (catalogue.scalars().size() > shape.scalar_words) {
    return lacks(shape.scalar_words, "scalars", catalogue.scalars().size());
  }
  if (catalogue.words() > most_result_words()) return lacks(most_result_words(), "words of results", catalogue.words());
  if (catalogue.descriptions().size() > shape.catalogue_entries) {
    return lacks(shape.catalogue_entries, "descriptions of results", catalogue.descriptions().size());
  }
  return {};
}

std::uint64_t RingGeometry::header_size() const noexcept {
  return version == kRingVersion2 ? entries() : payload_bytes();
}

std::vector<std::uint64_t> encode_superblock(const RingGeometry& geometry) {
  const Schema& schema = geometry.schema();
  Superblock fixed;
  fixed.head.magic = kRingMagic;
  fixed.head.version = kRingVersion;
  fixed.head.bytes = static_cast<std::uint32_t>(geometry.superblock_bytes());
  fixed.file_bytes = geometry.file_bytes;
  for (int copy : {0, 1}) {
    fixed.superblock_offset[copy] = geometry.superblock_offset[copy];
    fixed.run_table_offset[copy] = geometry.run_table_offset[copy];
  }
  fixed.slots = geometry.slot_count();
  fixed.run_records = geometry.run_entries();
  fixed.payload_bytes = geometry.payload_bytes();
  fixed.chunk_bytes = geometry.chunk_bytes;
  fixed.meta_bytes = geometry.meta_bytes();
  fixed.created_realtime_ns = geometry.created_realtime_ns;
  fixed.pool_id = geometry.pool_id;
  fixed.pmdk_hash = geometry.pmdk_hash;
  fixed.schema_id = schema.id();
  fixed.variables = static_cast<std::uint32_t>(schema.size());
  fixed.scalar_words = geometry.shape.scalar_words;
  fixed.results_bytes = geometry.shape.results_bytes;
  fixed.catalogue_entries = geometry.shape.catalogue_entries;

  std::vector<std::uint64_t> words(fixed.head.bytes / sizeof(std::uint64_t));
  auto* to = reinterpret_cast<std::byte*>(words.data());
  const auto append = [&to](const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  append(&fixed, sizeof(fixed));
  append(geometry.slots.data(), geometry.slots.size() * sizeof(SlotPlace));
  const std::vector<VariableDescription> descriptions = schema.encode();
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariableEntry entry{.description = descriptions[v],
                              .offset = schema.place(v).offset,
                              .stored_bytes = schema.place(v).stored_bytes,
                              .first_chunk = geometry.chunks.first_of(v)};
    append(&entry, sizeof(entry));
  }
  words[offsetof(SuperblockHead, hash) / sizeof(std::uint64_t)] =
      superblock_hash(reinterpret_cast<const std::byte*>(words.data()), fixed.head.bytes);
  return words;
}

std::uint64_t slot_seed(const RingGeometry& geometry, std::uint32_t slot) noexcept {
  if (geometry.version == kRingVersion2) return slot_seed_2(geometry, slot);
  const Id128 schema_id = geometry.schema().id();
  const std::uint64_t identity[] = {kRingVersion,
                                    slot,
                                    geometry.payload_bytes(),
                                    geometry.slots[slot].payload_offset,
                                    geometry.chunk_bytes,
                                    geometry.pool_id.high,
                                    geometry.pool_id.low,
                                    schema_id.high,
                                    schema_id.low};
  return hash64(identity, sizeof(identity));
}

std::uint64_t run_seed(const RingGeometry& geometry, std::uint32_t index) noexcept {
  const std::uint64_t identity[] = {geometry.version, index, geometry.pool_id.high, geometry.pool_id.low};
  return hash64(identity, sizeof(identity));
}

}  // namespace ringside
