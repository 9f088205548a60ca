// SPDX-License-Identifier: BSD-3-Clause
// The results of a step in the ring, by name: reductions of fields, and scalars of the solver.
#include <cstring>
#include <optional>
#include <vector>

#include "common/results/result_values.hpp"
#include "library/reader.hpp"

using namespace ringside;
using library::Listed;
using library::usable_call;

namespace {

/// The catalogue of the run with this hash. Without a hash, the run's newest catalogue.
std::optional<Catalogue> catalogue_of(const RingView& ring, const Id128& run_id, std::optional<std::uint64_t> hash) {
  if (hash) return ring.catalogue(run_id, *hash);
  std::optional<Catalogue> newest;
  for (const RunReading& reading : ring.runs()) {
    if (reading.run.run_id != run_id) continue;
    newest = Catalogue::decode(ring.geometry().schema(), reading.catalogue, "catalogue");
  }
  return newest;
}

/// Fills reader.results, whose entries point into reader.values. words: empty if the reductions are not recorded yet.
void describe_results(ringside_reader& reader, const std::vector<std::uint64_t>& words, const StepWithScalars& step) {
  const Catalogue& catalogue = *reader.catalogue;
  const bool recorded = words.size() == catalogue.words();
  reader.values.resize(words.size() + catalogue.scalars().size());
  if (recorded && !words.empty()) std::memcpy(reader.values.data(), words.data(), words.size() * sizeof(std::uint64_t));
  for (std::size_t s = 0; s < catalogue.scalars().size(); ++s) {
    reader.values[words.size() + s].i64 = static_cast<std::int64_t>(step.scalar(s));
  }
  reader.results.clear();
  for (const Result& result : catalogue.results()) {
    const bool is_scalar = result.source == ResultSource::kScalar;
    const bool present = is_scalar || (recorded && ResultValues(words).present(result));
    const std::size_t first = is_scalar ? words.size() + result.word : result.word;
    ringside_result& given = reader.results.emplace_back();
    given.size = sizeof(given);
    given.type = static_cast<std::uint32_t>(result.type);
    given.name = result.full_name.c_str();
    given.unit = result.unit.c_str();
    given.count = result.count;
    given.values = present ? reader.values.data() + first : nullptr;
  }
}

/// Fills reader.results if it returns RINGSIDE_OK or RINGSIDE_PENDING.
ringside_status read_results(ringside_reader& reader, std::uint64_t commit_seq) {
  library::check_named(commit_seq);
  const RingView& ring = reader.reader.ring();
  const std::optional<KeptSlot> found = reader.reader.find(commit_seq);
  if (!found) return library::gone(reader, commit_seq);
  const KeptSlot& kept = *found;
  SlotResults recorded;
  const ResultsState state = ring.results(kept.slot, kept.header, recorded);
  const std::optional<StepWithScalars> step = verified_step(ring, kept);
  if (!ring.still_holds(kept.slot, kept.header)) return library::gone(reader, kept.header.commit_seq);
  if (state == ResultsState::kDamaged || !step) {
    throw damage_error("{}: the results of iteration {} are damaged", reader.reader.path().string(),
                       kept.header.iteration);
  }
  const bool is_recorded = state == ResultsState::kRecorded;
  std::optional<std::uint64_t> hash;
  if (is_recorded) hash = recorded.catalogue_hash;
  const bool known =
      hash && reader.catalogue && reader.catalogue_run == kept.header.run_id && reader.catalogue_hash == hash;
  if (!known) {
    reader.catalogue = catalogue_of(ring, kept.header.run_id, hash);
    reader.catalogue_run = kept.header.run_id;
    reader.catalogue_hash = hash;
  }
  if (!reader.catalogue) return RINGSIDE_ABSENT;  // the run's description is no longer in the run table
  describe_results(reader, recorded.words, *step);
  return is_recorded ? RINGSIDE_OK : RINGSIDE_PENDING;
}

}  // namespace

ringside_status ringside_reader_results(ringside_reader* reader, uint64_t commit_seq, ringside_result* out, size_t room,
                                        size_t* count) {
  return usable_call(reader, [&]() -> ringside_status {
    const ringside_status status = read_results(*reader, commit_seq);
    if (status != RINGSIDE_OK && status != RINGSIDE_PENDING) return status;
    library::give_all(reader->results, out, room, count, "ringside_result", Listed::kFirst);
    return status;
  });
}

ringside_status ringside_reader_find_result(ringside_reader* reader, uint64_t commit_seq, const char* name,
                                            ringside_result* out) {
  return usable_call(reader, [&]() -> ringside_status {
    if (name == nullptr) throw usage_error("ringside_reader_find_result: the name is NULL; expected a text");
    const ringside_status status = read_results(*reader, commit_seq);
    if (status != RINGSIDE_OK && status != RINGSIDE_PENDING) return status;
    for (const ringside_result& result : reader->results) {
      if (std::strcmp(result.name, name) != 0) continue;
      if (result.values == nullptr) return status == RINGSIDE_PENDING ? RINGSIDE_PENDING : RINGSIDE_ABSENT;
      library::give(result, out, "ringside_result");
      return RINGSIDE_OK;
    }
    return RINGSIDE_ABSENT;
  });
}
