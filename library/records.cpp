// SPDX-License-Identifier: BSD-3-Clause
// The journal's records for readers. They are decoded one at a time, and have their results by name.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/journal/journal_files.hpp"
#include "common/records/record_layout.hpp"
#include "library/reader.hpp"

using namespace ringside;
using library::Listed;
using library::usable_call;

static_assert(RINGSIDE_RECORD_STEP == static_cast<int>(RecordKind::kStep));
static_assert(RINGSIDE_RECORD_RUN_DESCRIBED == static_cast<int>(RecordKind::kRunDescribed));
static_assert(RINGSIDE_RECORD_MARK == static_cast<int>(RecordKind::kMark));
static_assert(RINGSIDE_RECORD_ANALYSIS_RESULTS == static_cast<int>(RecordKind::kAnalysisResults));

namespace {

/// Reads the journal's new records. Returns false if there are none. In the journal, the description of a run may
/// follow the run's first steps; the ring also contains it. Records that `names` has already taken into account are not
/// decoded again.
bool read_journal(ringside_reader& reader) {
  if (!reader.journal) {
    reader.journal.emplace(JournalReader::open(reader.reader.path().string()));
  } else if (!reader.journal->refresh()) {
    return false;
  }
  for (const KnownRun& run : described_runs(reader.reader.ring())) reader.names.learn(run.layout);
  if (reader.learned_seq > reader.journal->newest_seq()) reader.learned_seq = 0;  // it is another journal
  while (const std::optional<EncodedRecord> encoded = reader.journal->next(reader.learned_seq + 1)) {
    reader.learned_seq = encoded->seq;
    if (const auto record = decode_record(encoded->bytes)) reader.names.learn(record->layout);
  }
  return true;
}

/// Sets reader.record to the first record from `from` on that can be decoded. Returns false if there is none.
bool find(ringside_reader& reader, std::uint64_t from) {
  reader.journal->rewind();
  while (const std::optional<EncodedRecord> encoded = reader.journal->next(from)) {
    auto record = decode_record(encoded->bytes);
    if (!record || record->kind == RecordKind::kNone) continue;
    record->seq = encoded->seq;
    reader.record = std::move(*record);
    return true;
  }
  return false;
}

/// The solver's outcome, from the outcome's name in the journal; 0 if the solver did not end its run itself.
std::uint32_t outcome_of(const PlainRecord& record) {
  if (record.how != "detached") return 0;
  if (record.outcome == "finished") return RINGSIDE_OUTCOME_FINISHED;
  if (record.outcome == "interrupted") return RINGSIDE_OUTCOME_STOPPED;
  if (record.outcome == "diverged") return RINGSIDE_OUTCOME_DIVERGED;
  return record.outcome == "failed" ? RINGSIDE_OUTCOME_FAILED : 0;
}

ringside_record given(const PlainRecord& record) {
  ringside_record made{};
  made.kind = static_cast<std::uint32_t>(record.kind);
  made.seq = record.seq;
  made.unix_ns = record.unix_ns;
  if (record.run_id.size() == sizeof(made.run_id)) std::memcpy(made.run_id, record.run_id.data(), sizeof(made.run_id));
  const PlainStep& step = record.step;
  made.step = step.step;
  made.iteration = step.iteration;
  made.commit_seq = step.commit_seq;
  made.published_at_ns = step.published_at_ns;
  made.generate_ns = step.generate_ns;
  made.producer_idle_ns = step.producer_idle_ns;
  made.analyzer_idle_ns = step.analyzer_idle_ns;
  made.hand_off_ns = step.hand_off_ns;
  made.transfer_ns = step.transfer_ns;
  made.commit_ns = step.commit_ns;
  made.analyze_ns = step.analyze_ns;
  made.record_ns = step.record_ns;
  made.bytes_transferred = step.bytes_transferred;
  made.skipped_before = step.skipped_before;
  made.rebuilt = step.rebuilt ? 1 : 0;
  made.broke_lease = step.broke_lease ? 1 : 0;
  made.exit_code = record.exit_code;
  made.outcome = outcome_of(record);
  made.solver = record.solver.c_str();
  made.problem = record.problem.c_str();
  made.parameters = record.parameters.c_str();
  made.how = record.how.c_str();
  made.text = record.text.c_str();
  made.cause = record.cause.c_str();
  made.name = record.name.c_str();
  made.actions = record.actions.c_str();
  return made;
}

/// Lists the names in reader.record_results, each with room for two words. The caller of this function adds types and
/// values.
void begin_results(ringside_reader& reader, std::vector<std::string> names) {
  reader.record_names = std::move(names);
  reader.record_values.assign(2 * reader.record_names.size(), {});
  reader.record_results.clear();
  for (std::size_t i = 0; i < reader.record_names.size(); ++i) {
    reader.record_results.push_back({.size = sizeof(ringside_result),
                                     .type = RINGSIDE_VALUE_F64,
                                     .name = reader.record_names[i].c_str(),
                                     .unit = "",
                                     .count = 1,
                                     .values = &reader.record_values[2 * i]});
  }
}

void describe_results(ringside_reader& reader, const StepResults& results) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < results.size(); ++i) names.push_back(results.name(i));
  begin_results(reader, std::move(names));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const StepValue value = results.value(i);
    std::memcpy(static_cast<void*>(&reader.record_values[2 * i]), value.words, sizeof(value.words));
    ringside_result& made = reader.record_results[i];
    made.type = static_cast<std::uint32_t>(value.type);
    if (results.layout()) made.unit = results.layout()->results()[i].result->unit.c_str();
    if (!value.present) made.values = nullptr;
  }
}

void describe_analysis(ringside_reader& reader, const PlainRecord& record) {
  begin_results(reader, record.names);
  for (std::size_t i = 0; i < record.values.size(); ++i)
    reader.record_values[2 * i].i64 = static_cast<std::int64_t>(record.values[i]);
}

}  // namespace

ringside_status ringside_reader_next_record(ringside_reader* reader, uint64_t from, ringside_record* out) {
  return usable_call(reader, [&]() -> ringside_status {
    if (out == nullptr) throw usage_error("ringside_record: found NULL, expected a pointer to a ringside_record");
    library::check_size(out->size, library::kFirstSize<ringside_record>, "ringside_record");
    if (!reader->journal || !find(*reader, from)) {  // the journal may have grown since it was read
      if (journal_files_there(reader->reader.path().string()).empty()) return RINGSIDE_ABSENT;
      if (!read_journal(*reader) || !find(*reader, from)) return RINGSIDE_END;
    }
    library::give(given(reader->record), out, "ringside_record");
    return RINGSIDE_OK;
  });
}

ringside_status ringside_reader_record_results(ringside_reader* reader, ringside_result* out, size_t room,
                                               size_t* count) {
  return usable_call(reader, [&] {
    if (reader->record.kind == RecordKind::kAnalysisResults) {
      describe_analysis(*reader, reader->record);
    } else {
      const PlainStep& step = reader->record.step;
      const bool is_step = reader->record.kind == RecordKind::kStep;
      describe_results(*reader, is_step ? reader->names.named(step.results, step.catalogue) : StepResults());
    }
    library::give_all(reader->record_results, out, room, count, "ringside_result", Listed::kFirst);
  });
}
