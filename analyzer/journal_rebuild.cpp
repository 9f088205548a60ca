#include "analyzer/journal_rebuild.hpp"

#include <set>
#include <tuple>

#include "analyzer/journal.hpp"
#include "analyzer/ring_recovery.hpp"
#include "analyzer/step_record.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

using Named = std::set<std::tuple<Id128, std::uint64_t, std::uint64_t>>;  // run, iteration, commit_seq

Named steps_in(JournalReader& journal) {
  Named named;
  wire::Record record;
  while (const auto encoded = journal.next(0)) {
    const bool parsed = record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()));
    if (!parsed || !record.has_step()) continue;
    const wire::StepRecord& step = record.step();
    if (const auto run_id = id_of(step.run_id())) named.emplace(*run_id, step.iteration(), step.commit_seq());
  }
  return named;
}

StepFigures figures_of(const RingView& ring, const KeptSlot& kept) {
  StepFigures figures;
  figures.rebuilt = true;
  figures.run_id = kept.header.run_id;
  figures.commit_seq = kept.header.commit_seq;
  figures.bytes_transferred = ring.geometry().payload_bytes();
  // The step descriptor and the chunk hashes are what the header vouches for: no payload is read.
  const StepDescriptor step = ring.step(kept.slot);
  const std::uint64_t hash = payload_hash(ring.chunk_hashes(kept.slot), ring.geometry().chunk_count(), step);
  if (hash == kept.header.payload_hash) figures.step = step;
  figures.step.step = kept.header.step;
  figures.step.iteration = kept.header.iteration;
  Reductions reductions;
  if (ring.reductions(kept.slot, kept.header, reductions) == ReductionsState::kRecorded) {
    figures.reductions = scalars_of(reductions);
  }
  return figures;
}

}  // namespace

std::vector<wire::StepRecord> missing_in_journal(const std::string& pool, const RingView& ring,
                                                 std::uint64_t committed) {
  Named named;
  if (!journal_files_there(pool).empty()) {
    JournalReader journal = JournalReader::open(pool);
    named = steps_in(journal);
  }
  std::vector<wire::StepRecord> missing;
  for (const KeptSlot& kept : recover(ring).kept) {
    const SlotHeader& header = kept.header;
    if (header.commit_seq > committed) continue;
    if (named.contains({header.run_id, header.iteration, header.commit_seq})) continue;
    const StepFigures figures = figures_of(ring, kept);
    if (ring.still_holds(kept.slot, header)) fill(missing.emplace_back(), figures);
  }
  return missing;
}

}  // namespace ringside
