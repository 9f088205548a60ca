// SPDX-License-Identifier: BSD-3-Clause
// The content of a superblock: the shape of a ring and the places of its parts. The shape determines the sizes; only
// the places of superblocks, run tables and slots are stored (docs/formats/ring_format.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/results/catalogue.hpp"
#include "common/ring/ring_layout.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// The data for which a ring is made.
struct RingShape {
  Schema schema;
  std::uint32_t scalar_words = kDescriptorScalars;
  std::uint64_t results_bytes = 0;
  std::uint32_t catalogue_entries = kCatalogueEntries;

  /// A shape with room for the results of `catalogue`, and spare room for results of later releases.
  static RingShape of(const Schema& schema, const Catalogue& catalogue);

  /// The shape for the built-in solvers with one variable: `rows` doubles and their reductions.
  static RingShape x_only(std::uint64_t rows);
};

/// Divides each variable of a payload into equal parts, which are numbered through all variables. No part contains
/// bytes of two variables; the last part of a variable may be shorter.
class PayloadParts {
 public:
  struct Part {
    std::uint32_t variable = 0;
    std::uint64_t in_variable = 0;  // its offset from the beginning of the variable
    std::uint64_t offset = 0;       // its offset from the beginning of the payload
    std::uint64_t bytes = 0;
  };

  /// part_bytes: a power of two.
  PayloadParts(const Schema& schema, std::uint64_t part_bytes);

  std::uint64_t count() const noexcept { return variables_.back().end; }
  std::uint64_t part_bytes() const noexcept { return part_bytes_; }
  std::uint64_t first_of(std::size_t variable) const noexcept {
    return variable == 0 ? 0 : variables_[variable - 1].end;
  }
  /// The number of the variable's last part, plus 1.
  std::uint64_t end_of(std::size_t variable) const noexcept { return variables_[variable].end; }

  /// index: below count().
  Part operator[](std::uint64_t index) const noexcept;

 private:
  struct Variable {
    std::uint64_t end = 0;  // the number of the variable's last part, plus 1
    std::uint64_t offset = 0;
    std::uint64_t stored_bytes = 0;
  };
  std::uint64_t part_bytes_;
  std::vector<Variable> variables_;
};

/// The content of a superblock.
struct RingGeometry {
  explicit RingGeometry(RingShape ring_shape, std::uint64_t bytes_of_chunk = kChunkBytes,
                        std::uint32_t ring_version = kRingVersion)
      : version(ring_version),
        shape(std::move(ring_shape)),
        chunk_bytes(bytes_of_chunk),
        chunks(shape.schema, bytes_of_chunk) {}

  std::uint32_t version;
  RingShape shape;
  std::uint64_t chunk_bytes;
  PayloadParts chunks;
  std::uint64_t file_bytes = 0;
  std::uint64_t superblock_offset[2] = {};
  std::uint64_t run_table_offset[2] = {};
  std::int64_t created_realtime_ns = 0;
  Id128 pool_id;
  std::uint64_t pmdk_hash = 0;
  std::vector<SlotPlace> slots;

  const Schema& schema() const noexcept { return shape.schema; }
  /// The number of entries of the first variable.
  std::uint64_t entries() const noexcept { return shape.schema.place(0).entries; }
  std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(slots.size()); }
  std::uint32_t run_entries() const noexcept { return slot_count() + 2; }  // 1 per slot, 1 newest, 1 to write next
  std::uint64_t payload_bytes() const noexcept { return shape.schema.payload_bytes(); }
  std::uint64_t chunk_count() const noexcept { return chunks.count(); }

  /// The size of the step descriptor with all scalars, in bytes.
  std::uint64_t step_bytes() const noexcept {
    return sizeof(StepDescriptor) + (shape.scalar_words - kDescriptorScalars) * sizeof(std::uint64_t);
  }
  // Offsets in a slot's meta area:
  std::uint64_t results_offset() const noexcept { return kStepOffset + step_bytes(); }
  std::uint64_t chunk_hashes_offset() const noexcept { return results_offset() + shape.results_bytes; }
  std::uint64_t meta_bytes() const noexcept {
    return chunk_hashes_offset() + round_up(chunk_count() * sizeof(std::uint64_t), kLineBytes);
  }

  /// The number of words of results for which a slot has room.
  std::uint64_t most_result_words() const noexcept {
    return (shape.results_bytes - sizeof(ResultsHead)) / sizeof(std::uint64_t);
  }

  std::uint64_t superblock_bytes() const noexcept;
  /// The size of one copy of the superblock in bytes: whole pages, whose last line contains the formatted word.
  std::uint64_t superblock_area_bytes() const noexcept { return round_up(superblock_bytes() + kLineBytes, kPageBytes); }
  std::uint64_t formatted_word_offset() const noexcept { return superblock_area_bytes() - kLineBytes; }

  std::uint64_t run_entry_bytes() const noexcept;
  std::uint64_t run_tail_offset() const noexcept { return run_entry_bytes() - sizeof(RunEntryTail); }
  std::uint64_t run_table_bytes() const noexcept { return run_entries() * run_entry_bytes(); }

  /// Empty if each slot has room for the results of `catalogue`, otherwise a text about the missing room: "room for 2
  /// scalars, this run has 5".
  std::string lacks_room_for(const Catalogue& catalogue) const;

  /// The value of SlotHeader::payload_bytes in this ring: payload_bytes(); in format 2, rows.
  std::uint64_t header_size() const noexcept;
};

/// The bytes of the superblock, including its hash. geometry: must have the newest version.
std::vector<std::uint64_t> encode_superblock(const RingGeometry& geometry);

/// The seed of the hashes of slot `slot`. The seed depends on version, index, place, size, chunk size, pool and schema,
/// so that a header does not verify if it is read with another layout or was copied to another slot.
std::uint64_t slot_seed(const RingGeometry& geometry, std::uint32_t slot) noexcept;

/// The seed of the hash of entry `index` of the run table; it is the same for both copies.
std::uint64_t run_seed(const RingGeometry& geometry, std::uint32_t index) noexcept;

}  // namespace ringside
