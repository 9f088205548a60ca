// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_layout_2.hpp"

#include "common/reductions/reduction_catalogue.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {

RingShape shape_2(std::uint64_t rows) {
  // Puts the results at the places that they would have in format 3.
  return {.schema = Schema::x_only(rows),
          .scalar_words = kDescriptorScalars,
          .results_bytes = sizeof(StoredReductions2),
          .catalogue_entries = 0};
}

const Catalogue& catalogue_2() {
  static const Catalogue catalogue = x_only_catalogue(1);
  return catalogue;
}

std::uint64_t slot_seed_2(const RingGeometry& geometry, std::uint32_t slot) noexcept {
  const std::uint64_t identity[] = {kRingVersion2,        slot,
                                    geometry.entries(),   geometry.slots[slot].payload_offset,
                                    geometry.chunk_bytes, geometry.pool_id.high,
                                    geometry.pool_id.low};
  return hash64(identity, sizeof(identity));
}

std::uint64_t reductions_hash(const StoredReductions2& stored) noexcept {
  return hash64(&stored, offsetof(StoredReductions2, hash));
}

std::uint64_t run_hash_2(const RunTableEntry2& entry, std::uint64_t seed) noexcept {
  RunTableEntry2 covered = entry;
  covered.hash = 0;
  return hash64(&covered, sizeof(covered), seed);
}

RunDescription run_of(const RunDescription2& run, const Id128& schema_id) {
  RunDescription today;
  today.run_id = run.run_id;
  today.problem_id = run.problem_id;
  today.entries = run.rows;
  today.nonzeros = run.nonzeros;
  today.started_realtime_ns = run.started_realtime_ns;
  assign(today.solver, text_of(run.solver));
  assign(today.matrix, text_of(run.matrix));
  assign(today.parameters, text_of(run.parameters));
  today.schema_id = schema_id;
  return today;
}

}  // namespace ringside
