#include "cli/journal_identity.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <set>

#include "analyzer/journal.hpp"
#include "analyzer/pool_file.hpp"
#include "analyzer/ring_reader.hpp"
#include "analyzer/ring_recovery.hpp"
#include "analyzer/step_record.hpp"
#include "common/error.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

std::optional<Id128> run_of(const wire::Record& record) {
  switch (record.what_case()) {
    case wire::Record::kStep: return id_of(record.step().run_id());
    case wire::Record::kRunStarted: return id_of(record.run_started().run_id());
    case wire::Record::kRunEnded: return id_of(record.run_ended().run_id());
    case wire::Record::kRecordsMissing: return id_of(record.records_missing().run_id());
    default: return std::nullopt;
  }
}

std::set<Id128> runs_in(const RingView& ring) {
  std::set<Id128> runs;
  for (const RunReading& reading : ring.runs()) runs.insert(reading.run.run_id);
  for (const KeptSlot& kept : recover(ring).kept) runs.insert(kept.header.run_id);
  return runs;
}

/// The runs that a journal's records from number `from` on name.
struct NamedRuns {
  std::set<Id128> runs;
  std::optional<Id128> newest;
  bool is_shared = false;  // one of them is among `ours`: reading stopped there
};

NamedRuns runs_in_journal(const std::string& pool, std::uint64_t from, const std::set<Id128>& ours) {
  JournalReader journal = JournalReader::open(pool);
  NamedRuns named;
  wire::Record record;
  while (const auto encoded = journal.next(from)) {
    if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) continue;
    const std::optional<Id128> run = run_of(record);
    if (!run) continue;
    named.newest = run;
    named.runs.insert(*run);
    named.is_shared = ours.contains(*run);
    if (named.is_shared) break;
  }
  return named;
}

}  // namespace

std::string foreign_journal(const std::string& pool, const RingView& ring) {
  constexpr std::uint64_t kNewestFirst = 1000;  // a pool's own journal usually names its newest run last
  const std::set<Id128> ours = runs_in(ring);
  if (ours.empty() || journal_files_there(pool).empty()) return "";
  NamedRuns named;
  try {
    const std::uint64_t newest = JournalReader::open(pool).newest_seq();
    if (newest > kNewestFirst) named = runs_in_journal(pool, newest - kNewestFirst, ours);
    if (!named.is_shared) named = runs_in_journal(pool, 0, ours);
  } catch (const Error&) {
    return "";
  }
  if (named.is_shared || !named.newest || has_owner(pool)) return "";
  const std::vector<RunReading> runs = ring.runs();
  return fmt::format(
      "the journal beside {} is not this pool's: none of its {} runs (the newest is {}) is one of the pool's{}; "
      "expected the journal that was written with the pool: move this one away",
      pool, named.runs.size(), to_string(*named.newest),
      runs.empty() ? "" : fmt::format(" (the newest is {})", to_string(runs.back().run.run_id)));
}

std::string foreign_journal(const std::string& pool) {
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    return foreign_journal(pool, reader.ring());
  } catch (const Error&) {
    return "";
  }
}

}  // namespace ringside
