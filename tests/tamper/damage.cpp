// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tamper/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "common/journal/journal_layout.hpp"

namespace ringside::testing {
namespace {

using Random = std::mt19937_64;

std::uint64_t below(std::uint64_t n, Random& random) {
  return n == 0 ? 0 : std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
}

struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// A part of the pool that has a meaning, or (rarely) the whole pool.
Range part_of_pool(const Specimen& specimen, std::size_t file_bytes, Random& random) {
  const RingGeometry& g = specimen.geometry;
  const SlotPlace& slot = g.slots[below(g.slots.size(), random)];
  const Range parts[] = {
      {0, 8192},  // libpmemobj's bytes
      {g.superblock_offset[below(2, random)], g.superblock_area_bytes()},
      {g.run_table_offset[below(2, random)], g.run_table_bytes()},
      {slot.meta_offset, g.chunk_hashes_offset()},
      {slot.meta_offset, kLineBytes},
      {slot.meta_offset + g.chunk_hashes_offset(), g.chunk_count() * sizeof(std::uint64_t)},
      {slot.payload_offset, g.payload_bytes()},
      {0, file_bytes},
  };
  Range part = parts[below(std::size(parts), random)];
  part.begin = std::min(part.begin, file_bytes);
  part.size = std::min(part.size, file_bytes - part.begin);
  return part;
}

/// The file that is damaged, and the part of this file.
struct Place {
  Bytes* bytes = nullptr;
  Range part;
  std::string name;
};

Place any_place(Files& files, const Specimen& specimen, Random& random) {
  const std::uint64_t which = below(5, random);
  if (which >= 3 && !files.journal[which - 3].empty()) {
    Bytes& log = files.journal[which - 3];
    return {&log, {0, log.size()}, fmt::format("journal-{}", which - 3)};
  }
  return {&files.pool, part_of_pool(specimen, files.pool.size(), random), "pool"};
}

/// A piece of `place`'s part, of at most 16 KiB.
Range piece_of(const Place& place, Random& random) {
  const std::size_t at = below(place.part.size, random);
  const std::size_t most = std::min<std::size_t>(place.part.size - at, 16384);
  return {place.part.begin + at, most == 0 ? 0 : 1 + below(most, random)};
}

template <class T>
T load(const Bytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void store(Bytes& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::uint64_t hostile(Random& random) {
  const std::uint64_t values[] = {0,
                                  1,
                                  2,
                                  7,
                                  255,
                                  4096,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  std::uint64_t{1} << 32,
                                  std::uint64_t{1} << 34,
                                  std::uint64_t{1} << 61,
                                  std::uint64_t{1} << 62,
                                  std::uint64_t{1} << 63,
                                  ~std::uint64_t{0},
                                  random()};
  return values[below(std::size(values), random)];
}

void flip_bits(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const Place place = any_place(files, specimen, random);
  if (place.part.size == 0) return;
  for (std::uint64_t flips = 1 + below(8, random); flips > 0; --flips) {
    const std::size_t at = place.part.begin + below(place.part.size, random);
    (*place.bytes)[at] ^= std::byte{1} << below(8, random);
    done.what += fmt::format("{} byte {}; ", place.name, at);
  }
}

void fill_range(Files& files, const Specimen& specimen, Random& random, Damage& done, bool zeros) {
  const Place place = any_place(files, specimen, random);
  const Range piece = piece_of(place, random);
  for (std::size_t i = 0; i < piece.size; ++i) {
    (*place.bytes)[piece.begin + i] = zeros ? std::byte{0} : static_cast<std::byte>(random() & 255);
  }
  done.what = fmt::format("{} bytes {} to {}", place.name, piece.begin, piece.begin + piece.size);
}

void swap_ranges(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const Place place = any_place(files, specimen, random);
  const Range one = piece_of(place, random);
  const std::size_t other = below(place.bytes->size() - one.size + 1, random);
  const std::size_t apart = one.begin > other ? one.begin - other : other - one.begin;
  const std::size_t size = std::min(one.size, apart);
  const auto begin = place.bytes->begin() + static_cast<std::ptrdiff_t>(one.begin);
  std::swap_ranges(begin, begin + static_cast<std::ptrdiff_t>(size),
                   place.bytes->begin() + static_cast<std::ptrdiff_t>(other));
  done.what = fmt::format("{}: {} bytes at {} and {}", place.name, size, one.begin, other);
}

void cut(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const Place place = any_place(files, specimen, random);
  place.bytes->resize(below(place.bytes->size(), random));
  done.what = fmt::format("{} to {} bytes", place.name, place.bytes->size());
}

void extend(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const Place place = any_place(files, specimen, random);
  const std::size_t before = place.bytes->size();
  place.bytes->resize(before + 1 + below(1 << 20, random));
  if (below(2, random) == 0) {
    const std::size_t noise = std::min<std::size_t>(place.bytes->size() - before, 5000);
    for (std::size_t i = 0; i < noise; ++i) (*place.bytes)[before + i] = static_cast<std::byte>(random() & 255);
  }
  done.what = fmt::format("{} from {} to {} bytes", place.name, before, place.bytes->size());
}

/// Copies a slot, its payload or both from another slot, or from another pool of the same shape.
void exchange_slots(Files& files, const Specimen& specimen, const std::vector<Specimen>& all, Random& random,
                    Damage& done) {
  const Specimen& other = all[below(all.size(), random)];
  const bool same_shape = other.geometry.entries() == specimen.geometry.entries() &&
                          other.geometry.slot_count() == specimen.geometry.slot_count();
  const Specimen& from = same_shape ? other : specimen;
  const std::uint64_t a = below(specimen.slots, random);
  const std::uint64_t b = &from == &specimen ? (a + 1) % specimen.slots : below(from.slots, random);
  const SlotPlace to_place = specimen.geometry.slots[a];
  const SlotPlace from_place = from.geometry.slots[b];
  const std::uint64_t what = below(3, random);
  const auto copy = [&](std::uint64_t to, std::uint64_t at, std::uint64_t bytes) {
    std::memcpy(files.pool.data() + to, from.files.pool.data() + at, bytes);
  };
  if (what != 1) copy(to_place.meta_offset, from_place.meta_offset, specimen.geometry.meta_bytes());
  if (what != 0) copy(to_place.payload_offset, from_place.payload_offset, specimen.geometry.payload_bytes());
  done.what = fmt::format("slot {} from slot {} of {}, {}", a, b, from.name,
                          what == 0   ? "without its payload"
                          : what == 1 ? "its payload alone"
                                      : "whole");
}

void exchange_journals(Files& files, const std::vector<Specimen>& all, Random& random, Damage& done) {
  const Specimen& other = all[below(all.size(), random)];
  const std::uint64_t what = below(4, random);
  if (what == 0) {
    std::swap(files.journal[0], files.journal[1]);
  } else if (what == 3) {
    files.journal = other.files.journal;
  } else {
    files.journal[what - 1] = other.files.journal[what - 1];
  }
  done.records_forged = true;  // the records are intact, but they are of another run
  done.what = what == 0 ? "the two logs exchanged" : fmt::format("journal of {} ({})", other.name, what);
}

void exchange_pools(Files& files, const std::vector<Specimen>& all, Random& random, Damage& done) {
  const Specimen& other = all[below(all.size(), random)];
  files.pool = other.files.pool;
  done.pool = &other;
  done.what = "pool of " + other.name;
}

/// Only for the specimen with an earlier state: restores parts of the earlier state.
void put_old_copy_back(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const std::uint64_t what = 1 + below(7, random);  // a bit for each file that is restored
  if ((what & 1) != 0) files.pool = specimen.earlier.pool;
  if ((what & 2) != 0) files.journal[0] = specimen.earlier.journal[0];
  if ((what & 4) != 0) files.journal[1] = specimen.earlier.journal[1];
  done.what = fmt::format("earlier copies of files {:b}", what);
}

void forge_superblock(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const RingGeometry& g = specimen.geometry;
  const std::size_t bytes = g.superblock_bytes();
  const std::size_t word = below(bytes / 8, random) * 8;
  const bool half = below(2, random) == 0;
  const std::uint64_t value = hostile(random);
  const bool both = below(3, random) != 0;
  const bool rehash = below(3, random) != 0;
  for (int copy : {0, 1}) {
    if (copy == 1 && !both) break;
    const std::size_t at = g.superblock_offset[copy];
    if (half) {
      store(files.pool, at + word + 4 * (value & 1), static_cast<std::uint32_t>(value));
    } else {
      store(files.pool, at + word, value);
    }
    if (rehash) store(files.pool, at + offsetof(SuperblockHead, hash), superblock_hash(files.pool.data() + at, bytes));
  }
  done.what = fmt::format("superblock word {} = {}{}{}", word, value, both ? ", both" : "", rehash ? ", rehashed" : "");
}

void forge_slot_header(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const auto slot = static_cast<std::uint32_t>(below(specimen.slots, random));
  const std::size_t at = specimen.geometry.slots[slot].meta_offset;
  const std::size_t word = below(8, random) * 8;
  const std::uint64_t value = hostile(random);
  store(files.pool, at + word, value);
  const bool rehash = below(3, random) != 0;
  if (rehash) {
    auto header = load<SlotHeader>(files.pool, at);
    header.header_hash = header_hash(header, slot_seed(specimen.geometry, slot));
    store(files.pool, at, header);
  }
  done.numbers_forged = rehash;
  done.what = fmt::format("slot {} header word {} = {}{}", slot, word, value, rehash ? ", rehashed" : "");
}

void forge_run_entry(Files& files, const Specimen& specimen, Random& random, Damage& done) {
  const auto index = static_cast<std::uint32_t>(below(specimen.geometry.run_entries(), random));
  const RingGeometry& g = specimen.geometry;
  const bool in_tail = below(8, random) == 0;
  const std::size_t word = in_tail ? g.run_tail_offset() + 8 * below(2, random)
                                   : 8 * below((sizeof(RunEntryHead) + 20 * sizeof(ResultDescription)) / 8, random);
  const std::uint64_t value = hostile(random);
  for (const std::uint64_t table : g.run_table_offset) {
    const std::size_t at = table + index * g.run_entry_bytes();
    store(files.pool, at + word, value);
    const auto head = load<RunEntryHead>(files.pool, at);
    auto tail = load<RunEntryTail>(files.pool, at + g.run_tail_offset());
    std::vector<ResultDescription> catalogue(std::min(head.results, g.shape.catalogue_entries));
    std::memcpy(catalogue.data(), files.pool.data() + at + sizeof(head), catalogue.size() * sizeof(ResultDescription));
    tail.hash = run_hash(head, catalogue, tail.record_seq, run_seed(g, index));
    store(files.pool, at + g.run_tail_offset(), tail);
  }
  done.numbers_forged = true;
  done.what = fmt::format("run table entry {} word {} = {}, rehashed", index, word, value);
}

/// The offsets of a log's frames.
std::vector<std::size_t> frames_of(const Bytes& log) {
  std::vector<std::size_t> frames;
  std::size_t at = sizeof(JournalHeader);
  while (at + sizeof(FrameHeader) <= log.size()) {
    const auto frame = load<FrameHeader>(log, at);
    if (frame.mark != kFrameMark || at + frame_bytes(frame.payload_bytes) > log.size()) break;
    frames.push_back(at);
    at += frame_bytes(frame.payload_bytes);
  }
  return frames;
}

void forge_journal(Files& files, Random& random, Damage& done) {
  done.records_forged = true;
  Bytes& log = files.journal[files.journal[1].empty() ? 0 : below(2, random)];
  const std::vector<std::size_t> frames =
      log.size() < sizeof(JournalHeader) ? std::vector<std::size_t>{} : frames_of(log);
  if (frames.empty()) {
    done.what = "nothing to forge";
    return;
  }
  const std::uint64_t value = hostile(random);
  const bool rehash = below(3, random) != 0;
  if (below(3, random) == 0) {
    const std::size_t word = 8 + below(5, random) * 8;
    store(log, word, value);
    auto header = load<JournalHeader>(log, 0);
    if (rehash) header.hash = journal_header_hash(header);
    store(log, 0, header);
    // The header's hash is the seed of the frames' hashes. With `rehash`, the frames' hashes are also recomputed.
    for (std::size_t i = 0; rehash && i < frames.size(); ++i) {
      const auto bytes = frame_bytes(load<FrameHeader>(log, frames[i]).payload_bytes);
      store(log, frames[i], frame_hash(log.data() + frames[i], bytes, header.hash));
    }
    done.what = fmt::format("journal header word {} = {}{}", word, value, rehash ? ", all rehashed" : "");
    return;
  }
  const std::size_t at = frames[below(frames.size(), random)];
  const std::size_t bytes = frame_bytes(load<FrameHeader>(log, at).payload_bytes);
  if (below(2, random) == 0) {
    const std::size_t word = 8 + below(2, random) * 8;
    store(log, at + word, value);
    done.what = fmt::format("frame at {} word {} = {}", at, word, value);
  } else {
    for (std::uint64_t n = 1 + below(20, random); n > 0; --n) {
      const std::size_t byte = at + sizeof(FrameHeader) + below(bytes - sizeof(FrameHeader), random);
      log[byte] = static_cast<std::byte>(random() & 255);
    }
    done.what = fmt::format("frame at {}, its message", at);
  }
  if (!rehash) return;
  const std::size_t now = std::min(frame_bytes(load<FrameHeader>(log, at).payload_bytes), log.size() - at);
  store(log, at, frame_hash(log.data() + at, now, load<JournalHeader>(log, 0).hash));
  done.what += ", rehashed";
}

}  // namespace

Damage damage(Files& files, const std::vector<Specimen>& all, std::size_t of, Random& random) {
  const Specimen& specimen = all[of];
  Damage done{.kind = {}, .what = {}, .pool = &specimen, .journal = &specimen};
  const std::pair<const char*, std::function<void()>> kinds[] = {
      {"flipped bits", [&] { flip_bits(files, specimen, random, done); }},
      {"zeroed range", [&] { fill_range(files, specimen, random, done, true); }},
      {"noise", [&] { fill_range(files, specimen, random, done, false); }},
      {"swapped ranges", [&] { swap_ranges(files, specimen, random, done); }},
      {"truncation", [&] { cut(files, specimen, random, done); }},
      {"extension", [&] { extend(files, specimen, random, done); }},
      {"slots exchanged", [&] { exchange_slots(files, specimen, all, random, done); }},
      {"journals exchanged", [&] { exchange_journals(files, all, random, done); }},
      {"pools exchanged", [&] { exchange_pools(files, all, random, done); }},
      {"old copies", [&] { put_old_copy_back(files, specimen, random, done); }},
      {"superblock forged", [&] { forge_superblock(files, specimen, random, done); }},
      {"slot header forged", [&] { forge_slot_header(files, specimen, random, done); }},
      {"run table entry forged", [&] { forge_run_entry(files, specimen, random, done); }},
      {"journal forged", [&] { forge_journal(files, random, done); }},
  };
  std::uint64_t kind = below(std::size(kinds), random);
  if (kind == 9 && specimen.earlier.pool.empty()) kind = 6;
  if ((kind == 7 || kind == 13) && files.journal[0].empty()) kind = 0;
  done.kind = kinds[kind].first;
  kinds[kind].second();
  done.what = specimen.name + ": " + done.what;
  return done;
}

}  // namespace ringside::testing
