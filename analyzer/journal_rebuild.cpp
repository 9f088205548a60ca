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

std::vector<StepFigures> kept_steps(const RingView& ring) {
  std::vector<StepFigures> steps;
  for (const KeptSlot& kept : recover(ring).kept) steps.push_back(figures_of(ring, kept));
  return steps;
}

std::vector<StepFigures> missing_in_journal(const std::string& pool, std::vector<StepFigures> kept) {
  if (kept.empty() || journal_files_there(pool).empty()) return kept;
  JournalReader journal = JournalReader::open(pool);
  const Named named = steps_in(journal);
  std::erase_if(kept, [&](const StepFigures& figures) {
    return named.contains({figures.run_id, figures.step.iteration, figures.commit_seq});
  });
  return kept;
}

}  // namespace ringside
