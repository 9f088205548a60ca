// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/superblock_search.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "common/platform/version.hpp"
#include "common/ring/ring_layout_2.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

constexpr std::string_view kPoolSignature = "PMEMOBJ";  // the beginning of every libpmemobj pool
constexpr std::uint64_t kPoolDescriptorOffset = 4096;   // where libpmemobj's descriptor of the pool begins
constexpr std::uint64_t kPoolDescriptorBytes = 2048;    // it has the layout's name and, after the creation, a checksum
constexpr std::uint64_t kMinChunkBytes = 256;           // the write granule of persistent memory
constexpr std::uint64_t kMaxChunkBytes = 1 << 30;
constexpr std::uint64_t kMostSuperblockBytes =
    sizeof(Superblock) + kMaxSlots * sizeof(SlotPlace) + kMostVariables * sizeof(VariableEntry);

template <class T>
T load(std::span<const std::byte> file, std::uint64_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// Whether the file is in a state in which an interrupted creation may leave the file: empty; zeros; a libpmemobj pool
/// without a descriptor (layout name, checksum) yet; or a pool of our layout. False for files of other programs.
bool is_begun_pool(std::span<const std::byte> file) {
  const auto zeros = [](std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  };
  if (!is_pmemobj_pool(file)) return zeros(file);
  return names_our_layout(file) || zeros(file.subspan(kPoolDescriptorOffset, kPoolDescriptorBytes));
}

/// For files without a usable superblock: checks the last line of every page for a formatted word.
bool was_ever_formatted(std::span<const std::byte> file) {
  const std::uint64_t scan_end = std::min<std::uint64_t>(file.size(), kScanBytes);
  for (std::uint64_t page = 0; page + kPageBytes <= scan_end; page += kPageBytes) {
    if (load<std::uint64_t>(file, page + kPageBytes - kLineBytes) == kFormattedWord) return true;
  }
  return false;
}

UnfinishedPoolError unfinished(std::string_view name) {
  return UnfinishedPoolError(
      formatted("{}: the creation of this pool was interrupted; `ringside run --overwrite` makes a new one", name));
}

Error other_version(std::uint32_t version, std::string_view name) {
  return usage_error(
      "{}: the pool has format version {}, but Ringside {} reads versions {} to {}; {}, or give another --pool", name,
      version, ringside::version(), kOldestRingVersion, kRingVersion,
      version > kRingVersion ? "install the release that made it, or a newer one"
                             : "read it with the release that made it");
}

/// A superblock whose hash matches. A program that can write the file can also write the hash, so every number may
/// still be hostile. The checks throw at the first impossible number.
class SuperblockCheck {
 public:
  SuperblockCheck(std::span<const std::byte> file, std::uint64_t offset, std::string_view name)
      : file_(file), offset_(offset), name_(name) {}

  RingGeometry geometry(std::uint32_t version) const { return version == kRingVersion2 ? geometry_2() : geometry_3(); }

 private:
  Error damaged(std::string_view what, std::uint64_t found) const {
    return damage_error("{}: damaged pool: the superblock at byte {} has {} = {}, which is impossible", name_, offset_,
                        what, found);
  }

  RingGeometry geometry_2() const {
    const auto fixed = load<Superblock2>(file_, offset_);
    check_slots(fixed);
    check_size(fixed.head.bytes, superblock_bytes_2(fixed.slots));
    if (fixed.rows == 0 || fixed.rows > kMostPayloadBytes / sizeof(double)) throw damaged("rows", fixed.rows);
    RingGeometry geometry(shape_2(fixed.rows), fixed.chunk_bytes, kRingVersion2);
    fill(geometry, fixed, offset_ + sizeof(fixed));
    return geometry;
  }

  RingGeometry geometry_3() const {
    const auto fixed = load<Superblock>(file_, offset_);
    check_slots(fixed);
    if (fixed.variables == 0 || fixed.variables > kMostVariables) throw damaged("variables", fixed.variables);
    const std::uint64_t places = offset_ + sizeof(fixed);
    const std::uint64_t entries = places + fixed.slots * sizeof(SlotPlace);
    const std::uint64_t bytes = entries + fixed.variables * sizeof(VariableEntry) - offset_;
    check_size(fixed.head.bytes, bytes);
    const std::uint32_t further = fixed.scalar_words - kDescriptorScalars;
    if (fixed.scalar_words < kDescriptorScalars || further > kMostFurtherScalars || further % 8 != 0) {
      throw damaged("words for scalars", fixed.scalar_words);
    }
    if (fixed.results_bytes < kLineBytes || fixed.results_bytes > kMaxResultsBytes ||
        fixed.results_bytes % kLineBytes != 0) {
      throw damaged("bytes for results", fixed.results_bytes);
    }
    if (fixed.catalogue_entries == 0 || fixed.catalogue_entries > kMaxCatalogueEntries) {
      throw damaged("catalogue entries", fixed.catalogue_entries);
    }
    for (const std::uint32_t word : fixed.reserved) {
      if (word != 0) throw damaged("a reserved word", word);
    }

    std::vector<VariableEntry> stored(fixed.variables);
    std::memcpy(stored.data(), file_.data() + entries, fixed.variables * sizeof(VariableEntry));
    std::vector<VariableDescription> descriptions;
    for (const VariableEntry& entry : stored) descriptions.push_back(entry.description);
    RingGeometry geometry({.schema = decoded(descriptions),
                           .scalar_words = fixed.scalar_words,
                           .results_bytes = fixed.results_bytes,
                           .catalogue_entries = fixed.catalogue_entries},
                          fixed.chunk_bytes);
    if (fixed.schema_id != geometry.schema().id()) throw damaged("the schema's id", fixed.schema_id.high);
    for (std::size_t v = 0; v < stored.size(); ++v) {
      const VariablePlace& place = geometry.schema().place(v);
      const auto refuse = [&](std::string_view what, std::uint64_t found) {
        throw damaged(formatted("variable {}'s {}", v, what), found);
      };
      if (stored[v].offset != place.offset) refuse("offset", stored[v].offset);
      if (stored[v].stored_bytes != place.stored_bytes) refuse("bytes", stored[v].stored_bytes);
      if (stored[v].first_chunk != geometry.chunks.first_of(v)) refuse("first chunk", stored[v].first_chunk);
    }
    fill(geometry, fixed, places);
    return geometry;
  }

  /// Also checks that the superblock is within the file, because another process may have changed the stated size after
  /// the hash was computed.
  void check_size(std::uint64_t stated, std::uint64_t expected) const {
    if (stated != expected || stated > file_.size() - offset_) throw damaged("its size", stated);
  }

  /// Checks the numbers from which the geometry is computed.
  template <class Fixed>
  void check_slots(const Fixed& fixed) const {
    if (fixed.slots < kMinSlots || fixed.slots > kMaxSlots) throw damaged("slots", fixed.slots);
    if (fixed.run_records != fixed.slots + 2) throw damaged("run table entries", fixed.run_records);
    if (fixed.chunk_bytes < kMinChunkBytes || fixed.chunk_bytes > kMaxChunkBytes ||
        (fixed.chunk_bytes & (fixed.chunk_bytes - 1)) != 0) {
      throw damaged("chunk bytes", fixed.chunk_bytes);
    }
  }

  Schema decoded(const std::vector<VariableDescription>& descriptions) const try {
    return Schema::decode(descriptions, formatted("{}: damaged pool: the superblock at byte {}", name_, offset_));
  } catch (const Error& error) {
    throw Error(ExitCode::kDamaged, error.what());
  }

  /// Adds the place of every part to a geometry with known sizes.
  template <class Fixed>
  void fill(RingGeometry& geometry, const Fixed& fixed, std::uint64_t places) const {
    if (fixed.payload_bytes != geometry.payload_bytes()) throw damaged("payload bytes", fixed.payload_bytes);
    if (fixed.meta_bytes != geometry.meta_bytes()) throw damaged("meta bytes", fixed.meta_bytes);
    if (fixed.file_bytes > file_.size()) {
      throw damage_error("{}: damaged pool: the file has {} bytes, but it was created with {}: it was truncated", name_,
                         file_.size(), fixed.file_bytes);
    }
    geometry.file_bytes = fixed.file_bytes;
    geometry.created_realtime_ns = fixed.created_realtime_ns;
    geometry.pool_id = fixed.pool_id;
    geometry.pmdk_hash = fixed.pmdk_hash;
    geometry.slots.resize(fixed.slots);
    std::memcpy(geometry.slots.data(), file_.data() + places, fixed.slots * sizeof(SlotPlace));

    // The range [begin, end) of every part. All parts must be within the file, without overlaps.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
    const auto add_part = [&](std::string_view what, std::uint64_t begin, std::uint64_t bytes,
                              std::uint64_t alignment) {
      if (begin % alignment != 0 || begin > fixed.file_bytes || bytes > fixed.file_bytes - begin) {
        throw damaged(what, begin);
      }
      parts.emplace_back(begin, begin + bytes);
    };
    for (int copy : {0, 1}) {
      geometry.superblock_offset[copy] = fixed.superblock_offset[copy];
      geometry.run_table_offset[copy] = fixed.run_table_offset[copy];
      add_part("superblock offset", fixed.superblock_offset[copy], geometry.superblock_area_bytes(), kPageBytes);
      add_part("run table offset", fixed.run_table_offset[copy], geometry.run_table_bytes(), kPageBytes);
    }
    if (fixed.superblock_offset[1] < fixed.superblock_offset[0]) {
      throw damaged("the offset of the second superblock", fixed.superblock_offset[1]);
    }
    for (const SlotPlace& place : geometry.slots) {
      add_part("payload offset", place.payload_offset, geometry.payload_bytes(),
               payload_alignment(geometry.payload_bytes()));
      if (place.meta_offset > place.payload_offset ||
          place.payload_offset - place.meta_offset != geometry.meta_bytes()) {
        throw damaged("meta offset", place.meta_offset);
      }
      add_part("meta offset", place.meta_offset, geometry.meta_bytes(), kLineBytes);
    }
    std::sort(parts.begin(), parts.end());
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].first < parts[i - 1].second) throw damaged("two parts that overlap, one at byte", parts[i].first);
    }
  }

  std::span<const std::byte> file_;
  std::uint64_t offset_;
  std::string_view name_;
};

/// A possible superblock.
struct Candidate {
  SuperblockHead head;
  bool hash_holds = false;
};

/// The bytes at `offset` as a superblock, if they begin like one. Use its content only if its hash matches.
std::optional<Candidate> candidate_at(std::span<const std::byte> file, std::uint64_t offset) {
  if (load<std::uint64_t>(file, offset) != kRingMagic) return std::nullopt;
  Candidate candidate{load<SuperblockHead>(file, offset), false};
  const std::uint64_t bytes = candidate.head.bytes;
  if (bytes >= sizeof(SuperblockHead) && bytes <= kMostSuperblockBytes && bytes <= file.size() - offset) {
    candidate.hash_holds = superblock_hash(file.data() + offset, bytes) == candidate.head.hash;
  }
  return candidate;
}

/// The offsets of both copies and the pool's id. The place of the id depends on the version.
struct Identity {
  std::uint64_t superblock_offset[2];
  Id128 pool_id;
};

Identity identity_of(std::span<const std::byte> file, std::uint64_t offset, std::uint32_t version) {
  const auto of = [](const auto& fixed) {
    return Identity{{fixed.superblock_offset[0], fixed.superblock_offset[1]}, fixed.pool_id};
  };
  return version == kRingVersion2 ? of(load<Superblock2>(file, offset)) : of(load<Superblock>(file, offset));
}

/// The result of a search in the first kScanBytes of the file.
struct Superblocks {
  std::optional<RingGeometry> geometry;  // from the first superblock whose hash matches
  bool intact[2] = {false, false};       // whether the hash of the copy matches and the copy belongs to that pool
  bool saw_damaged = false;              // whether a block begins like a superblock, but its hash does not match

  bool complete() const noexcept { return intact[0] && intact[1]; }
};

Superblocks find_superblocks(std::span<const std::byte> file, std::string_view name) {
  Superblocks found;
  const std::uint64_t scan_end = std::min<std::uint64_t>(file.size(), kScanBytes);
  for (std::uint64_t offset = 0; offset + sizeof(Superblock) <= scan_end; offset += kPageBytes) {
    const std::optional<Candidate> candidate = candidate_at(file, offset);
    if (!candidate) continue;
    if (!candidate->hash_holds) {
      found.saw_damaged = true;
      continue;
    }
    const std::uint32_t version = candidate->head.version;
    if (version < kOldestRingVersion || version > kRingVersion) throw other_version(version, name);
    // A superblock that is not at its stated offset is a copy inside some payload.
    const Identity identity = identity_of(file, offset, version);
    if (identity.superblock_offset[0] != offset && identity.superblock_offset[1] != offset) continue;
    if (!found.geometry) found.geometry = SuperblockCheck(file, offset, name).geometry(version);
    const RingGeometry& geometry = *found.geometry;
    for (int copy : {0, 1}) {
      if (geometry.superblock_offset[copy] == offset) {
        found.intact[copy] = geometry.pool_id == identity.pool_id && geometry.version == version;
      }
    }
    if (offset >= geometry.superblock_offset[1]) break;
  }
  return found;
}

}  // namespace

bool is_pmemobj_pool(std::span<const std::byte> file) noexcept {
  return file.size() >= kPoolDescriptorOffset + kPoolDescriptorBytes &&
         std::memcmp(file.data(), kPoolSignature.data(), kPoolSignature.size()) == 0;
}

bool names_our_layout(std::span<const std::byte> file) noexcept {
  return is_pmemobj_pool(file) &&
         std::memcmp(file.data() + kPoolDescriptorOffset, kPoolLayoutName, sizeof(kPoolLayoutName)) == 0;
}

UnfinishedPoolError empty_pool_file(std::string_view name) {
  return UnfinishedPoolError(
      formatted("{}: an empty file, not a pool; `ringside run --overwrite` makes one in its place", name));
}

FoundRing find_ring_in(std::span<const std::byte> file, std::string_view name) {
  Superblocks found = find_superblocks(file, name);
  bool was_formatted = true;
  if (!found.complete()) {
    // The creator stores the formatted words last. So if one is present now, all superblocks are already written, and a
    // superblock that the next search does not find is damaged. Otherwise, superblocks may still have been written
    // during the first search.
    was_formatted = was_ever_formatted(file);
    std::atomic_thread_fence(std::memory_order_acquire);
    found = find_superblocks(file, name);
  }
  if (!found.geometry) {
    // The search does not find superblocks without their magic. In a file that was never formatted, damaged
    // superblocks are unfinished.
    if (!found.saw_damaged && !is_begun_pool(file)) throw usage_error("{}: not a Ringside pool", name);
    // At creation, the file has its full size before libpmemobj writes to it.
    if (is_pmemobj_pool(file) && file.size() < kLeastPoolBytes) {
      throw damage_error("{}: damaged pool: it was truncated to {} bytes; the smallest pool has {}", name, file.size(),
                         kLeastPoolBytes);
    }
    if (!was_formatted) throw unfinished(name);
    throw damage_error("{}: damaged pool: both superblocks are damaged, and its iterates cannot be found without them",
                       name);
  }
  FoundRing ring{std::move(*found.geometry), {}};
  const auto is_formatted = [&](int copy) {
    const RingGeometry& geometry = ring.geometry;
    return load<std::uint64_t>(file, geometry.superblock_offset[copy] + geometry.formatted_word_offset()) ==
           kFormattedWord;
  };
  if (!is_formatted(0) && !is_formatted(1)) throw unfinished(name);
  if (!was_formatted) {  // formatted now, so the creator was at work during the search
    std::atomic_thread_fence(std::memory_order_acquire);
    found = find_superblocks(file, name);
  }
  for (int copy : {0, 1}) ring.superblock_intact[copy] = found.intact[copy] && is_formatted(copy);
  return ring;
}

}  // namespace ringside
