// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/bit_flips.hpp"

#include <fmt/format.h>

#include "tests/crash/invariants.hpp"

namespace ringside::crash {

Exploration explore_bit_flips(const TracedScenario& traced) {
  const RingGeometry& geometry = traced.geometry;
  PoolBytes pool(geometry.file_bytes);
  Published published(traced.setting);
  History history;
  for (const Event& event : traced.trace) {
    history.apply(event);
    if (is_store(event.kind)) pool.store(event.offset, event.value);
  }
  pool.keep();

  Promise promise;  // any one iterate may be lost
  promise.numbers_hold = true;
  Exploration result;
  const std::size_t whole = check_image(pool, history, promise, published).intact.size();
  const auto flip_each_bit = [&](std::uint64_t begin, std::uint64_t bytes, std::size_t least) {
    for (std::uint64_t bit = 8 * begin; bit < 8 * (begin + bytes) && !result.violation; ++bit) {
      const std::uint64_t word = bit / 64 * 8;
      const std::size_t mark = pool.mark();
      pool.store(word, *pool.word(word) ^ std::uint64_t{1} << bit % 64);
      const Verdict verdict = check_image(pool, history, promise, published);
      ++result.images;
      if (!verdict.violation.empty()) {
        result.violation = Violation{0, bit, "bit flips", verdict.violation};
      } else if (verdict.intact.size() < least) {
        result.violation = Violation{
            0, bit, "bit flips",
            fmt::format("3: one bit was flipped, {} of {} iterates are intact", verdict.intact.size(), whole)};
      }
      pool.rollback(mark);
    }
  };
  for (const SlotPlace& place : geometry.slots) {
    flip_each_bit(place.meta_offset, geometry.meta_bytes(), whole - 1);
    for (std::size_t v = 0; v < geometry.schema().size(); ++v) {
      const VariablePlace& variable = geometry.schema().place(v);
      flip_each_bit(place.payload_offset + variable.offset, variable.stored_bytes, whole - 1);
    }
  }
  for (const int copy : {0, 1}) {
    flip_each_bit(geometry.run_table_offset[copy], geometry.run_table_bytes(), whole);
    flip_each_bit(geometry.superblock_offset[copy], geometry.superblock_bytes(), whole);
  }
  return result;
}

}  // namespace ringside::crash
