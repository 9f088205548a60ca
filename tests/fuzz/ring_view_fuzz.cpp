// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a pool, as a hostile writer may have written them: an intact ring with words that the fuzzer changed.
// The ring has format 3 with one variable or several, or format 2. The hashes of these words may be corrected, because
// most changes would otherwise be rejected. In every case, the result must be one Error, or a view whose parts are all
// within the file and can be read.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "common/pool_reader/ring_reader.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"
#include "tests/crash/images/pool_bytes.hpp"
#include "tests/fuzz/fuzzing.hpp"
#include "tests/unit/analyzer/ring/ring_2_in_memory.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"

namespace {

using namespace ringside;

constexpr std::uint64_t kRows = 5000;  // two whole chunks and a part of a third one

// An image that is changed and then restored. A page without access rights follows it directly in memory.
class Image {
 public:
  Image(const RingGeometry& geometry, std::span<const std::byte> ring)
      : geometry_(geometry), bytes_(round_up(geometry.file_bytes, kPageBytes) + kPageBytes) {
    mprotect(bytes_.file().last(kPageBytes).data(), kPageBytes, PROT_NONE);
    std::memcpy(bytes_.file().data(), ring.data(), geometry_.file_bytes);
  }

  const RingGeometry& geometry() const { return geometry_; }
  std::span<const std::byte> file() const { return bytes_.file().first(geometry_.file_bytes); }
  std::uint64_t word(std::uint64_t offset) const { return *bytes_.word(offset); }
  void set_word(std::uint64_t offset, std::uint64_t value) { bytes_.store(offset, value); }
  void restore() { bytes_.rollback(0); }

 private:
  RingGeometry geometry_;
  crash::PoolBytes bytes_;
};

Image x_only_image() {
  RingInMemory memory(kRows);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(kRows));
  for (std::uint64_t k = 1; k <= 4; ++k) {
    commit_iterate(writer, k, kRows);
    store_reductions(writer, Reductions{});
  }
  return {memory.geometry(), memory.bytes()};
}

Image several_variables_image() {
  const Schema schema = several_variables();
  const Catalogue catalogue = catalogue_of(schema, five_scalars());
  RingInMemory memory(RingShape::of(schema, catalogue), kMinSlots);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  writer.begin_run(run_with(schema), catalogue);
  const std::vector<std::uint64_t> words(catalogue.words());
  for (std::uint64_t k = 1; k <= 4; ++k) {
    writer.begin();
    writer.copy(payload_of(schema, k).data(), scalars_of(k));
    writer.commit();
    writer.store_results(words);
  }
  return {memory.geometry(), memory.bytes()};
}

Image format_2_image() {
  Ring2InMemory memory(kRows);
  memory.write_run(0, 1);
  for (std::uint32_t slot = 0; slot < kMinSlots; ++slot) {
    memory.commit(slot, slot + 1, slot + 1);
    memory.store(slot, Reductions{});
  }
  return {memory.geometry(), memory.bytes()};
}

// Changes one word of any part, to a value near the old one or to an arbitrary value.
void change_a_word(Image& image, FuzzedDataProvider& choice) {
  const RingGeometry& shape = image.geometry();
  const auto copy = choice.ConsumeIntegralInRange<std::size_t>(0, 1);
  const SlotPlace& slot = shape.slots[choice.ConsumeIntegralInRange<std::size_t>(0, shape.slots.size() - 1)];
  const auto within = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset + 8 * choice.ConsumeIntegralInRange<std::uint64_t>(0, bytes / 8 - 1);
  };
  std::uint64_t offset = 0;
  switch (choice.ConsumeIntegralInRange<int>(0, 5)) {
    case 0: offset = within(shape.superblock_offset[copy], shape.superblock_bytes()); break;
    case 1: offset = shape.superblock_offset[copy] + shape.formatted_word_offset(); break;
    case 2: offset = within(slot.meta_offset, sizeof(SlotHeader)); break;
    case 3: offset = within(slot.meta_offset + shape.results_offset(), shape.shape.results_bytes); break;
    case 4:
      offset = within(slot.meta_offset + shape.chunk_hashes_offset(), 8 * shape.chunk_count() + shape.payload_bytes());
      break;
    default: offset = within(shape.run_table_offset[copy], shape.run_table_bytes()); break;
  }
  const auto value = choice.ConsumeIntegral<std::uint64_t>();
  image.set_word(offset, choice.ConsumeBool() ? value : image.word(offset) ^ (value & 0xffff) << (value >> 58));
}

void mend_schema_id(Image& image, std::uint64_t superblock) {
  const RingGeometry& shape = image.geometry();
  const std::uint64_t entries = superblock + sizeof(Superblock) + shape.slots.size() * sizeof(SlotPlace);
  std::vector<VariableDescription> descriptions(shape.schema().size());
  for (std::size_t v = 0; v < descriptions.size(); ++v) {
    std::memcpy(&descriptions[v], image.file().data() + entries + v * sizeof(VariableEntry), sizeof(descriptions[v]));
  }
  const Id128 id = hash128(descriptions.data(), descriptions.size() * sizeof(VariableDescription));
  image.set_word(superblock + offsetof(Superblock, schema_id), id.high);
  image.set_word(superblock + offsetof(Superblock, schema_id) + sizeof(id.high), id.low);
}

void mend_superblocks(Image& image) {
  for (const std::uint64_t offset : image.geometry().superblock_offset) {
    if (image.geometry().version == kRingVersion) mend_schema_id(image, offset);
    const std::uint64_t bytes = image.word(offset + 8) >> 32;
    if (bytes < 24 || bytes > 1 << 20 || bytes % 8 != 0) continue;
    image.set_word(offset + offsetof(SuperblockHead, hash), superblock_hash(image.file().data() + offset, bytes));
  }
}

void mend_headers(Image& image) {
  for (std::uint32_t slot = 0; slot < image.geometry().slot_count(); ++slot) {
    const std::uint64_t offset = image.geometry().slots[slot].meta_offset;
    SlotHeader header;
    std::memcpy(static_cast<void*>(&header), image.file().data() + offset, sizeof(header));
    image.set_word(offset + offsetof(SlotHeader, header_hash), header_hash(header, slot_seed(image.geometry(), slot)));
  }
}

void read_everything(std::span<const std::byte> file) {
  const RingView ring = RingView::parse(file, "fuzz.pool");
  const RingGeometry& shape = ring.geometry();
  fuzzing::demand(shape.file_bytes <= file.size(), "the ring is not larger than its file");
  fuzzing::demand(shape.slot_count() >= kMinSlots && shape.slot_count() <= kMaxSlots,
                  "the number of slots is possible");
  for (const SlotPlace& place : shape.slots) {
    fuzzing::demand(place.meta_offset < place.payload_offset && place.payload_offset <= file.size() &&
                        shape.payload_bytes() <= file.size() - place.payload_offset,
                    "every slot lies in the file");
  }
  for (const RunReading& run : ring.runs()) fuzzing::demand(ring.run(run.run.run_id).has_value(), "a run is found");
  const Recovery recovery = recover(ring);
  fuzzing::demand(recovery.kept.size() + recovery.damaged.size() <= shape.slot_count(), "no slot counts twice");
  fuzzing::demand(recovery.contiguous <= recovery.kept.size(), "only kept slots are contiguous");
  std::vector<std::byte> out(shape.payload_bytes());
  for (const KeptSlot& kept : recovery.kept) {
    SlotResults results;
    if (ring.results(kept.slot, kept.header, results) == ResultsState::kRecorded) {
      ring.catalogue(kept.header.run_id, results.catalogue_hash);
    }
    Reductions reductions;
    if (shape.schema().is_x_only()) ring.reductions(kept.slot, kept.header, reductions);
    const bool intact = check_payload(ring, kept.slot, kept.header).intact();
    const ReadResult read = read_payload(ring, kept.slot, kept.header, out.data());
    fuzzing::demand(intact == (read.status == ReadStatus::kOk), "what verifies is returned, and nothing else");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static Image images[] = {x_only_image(), several_variables_image(), format_2_image()};
  FuzzedDataProvider choice(data, bytes);
  Image& image = images[choice.ConsumeIntegralInRange<std::size_t>(0, std::size(images) - 1)];
  const bool mends_superblocks = choice.ConsumeBool();
  const bool mends_headers = choice.ConsumeBool();
  const bool truncates = choice.ConsumeBool();
  while (choice.remaining_bytes() > 0) change_a_word(image, choice);
  if (mends_superblocks) mend_superblocks(image);
  if (mends_headers) mend_headers(image);
  // If the file is cut off in the middle, some correct offsets are beyond its end.
  const std::span<const std::byte> file = image.file();
  fuzzing::run([&] { read_everything(truncates ? file.first(file.size() / 2) : file); });
  image.restore();
  return 0;
}
