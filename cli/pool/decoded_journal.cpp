// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/decoded_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "common/journal/journal_reader.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/record_layout.hpp"

namespace ringside {
namespace {

DecodedJournal read_from(const std::string& pool, std::uint64_t from) {
  JournalReader reader = JournalReader::open(pool);
  DecodedJournal read;
  while (const std::optional<EncodedRecord> encoded = reader.next(from)) {
    from = encoded->seq + 1;
    wire::Record record;
    // A record of a kind that this version does not know can still be parsed. A record that cannot be parsed is left
    // out.
    if (record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) {
      read.records.push_back(std::move(record));
    }
  }
  read.damage = reader.damage();
  read.torn = reader.torn();
  return read;
}

/// The number of `records` that belong to the followed analyzer: the records up to `newest_known`, and later records
/// until the analyzer's run has ended or another run begins. told: how many of `records` were handed out before.
std::size_t before_the_next_run(const std::vector<wire::Record>& records, std::size_t told,
                                std::uint64_t newest_known) {
  std::string run;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const wire::Record& record = records[i];
    const bool is_known = i < told || record.seq() <= newest_known;
    if (!is_known && record.has_run_started() && !run.empty() && run_id_of(record) != run) {
      return i > told && records[i - 1].has_analyzer_started() ? i - 1 : i;
    }
    if (!run_id_of(record).empty()) run = run_id_of(record);
    if (record.has_run_ended() && record.seq() >= newest_known) return i + 1;
  }
  return records.size();
}

/// The numbers, from `next` to the newest number, that no record in `records` has: "3 to 7, 9 to 9".
std::string holes_in(const std::vector<wire::Record>& records, std::uint64_t next, std::uint64_t newest_known) {
  std::string holes;
  if (next == 0) next = records.empty() ? 1 : records.front().seq();
  const auto expect = [&](std::uint64_t seq) {
    if (next < seq) holes += fmt::format("{}{} to {}", holes.empty() ? "" : ", ", next, seq - 1);
    next = std::max(next, seq + 1);
  };
  for (const wire::Record& record : records) expect(record.seq());
  expect(newest_known + 1);
  return holes;
}

/// Adds to `records` each record of `others` whose seq it lacks. Both lists must be in ascending order.
void merge(std::vector<wire::Record>& records, std::vector<wire::Record> others) {
  const auto before = [](const wire::Record& one, const wire::Record& other) { return one.seq() < other.seq(); };
  std::vector<wire::Record> all;
  std::set_union(std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()),
                 std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()),
                 std::back_inserter(all), before);
  records = std::move(all);
}

}  // namespace

DecodedJournal read_journal(const std::string& pool) {
  return read_from(pool, 0);
}

RestOfRun read_rest(StreamEnd end) {
  const bool has_last = end.last_unix_ns != 0;
  RestOfRun rest;
  std::string why = "are no longer kept";
  if (!end.journal_pool.empty()) {
    try {
      DecodedJournal journal = read_from(end.journal_pool, has_last ? end.next_seq - 1 : end.next_seq);
      std::vector<wire::Record>& found = journal.records;
      // The journal must still contain the last record that was handed out; otherwise it may be another journal than
      // before.
      if (has_last &&
          (found.empty() || found.front().seq() != end.next_seq - 1 || found.front().unix_ns() != end.last_unix_ns)) {
        why =
            fmt::format("cannot be read: record {} is no longer in the journal of {}, or another record has its number",
                        end.next_seq - 1, end.journal_pool);
      } else {
        const std::size_t told = has_last ? 1 : 0;
        found.resize(before_the_next_run(found, told, end.newest_known));
        rest.records.assign(std::make_move_iterator(found.begin() + static_cast<std::ptrdiff_t>(told)),
                            std::make_move_iterator(found.end()));
        if (!journal.damage.empty()) why += ": " + journal.damage;
      }
    } catch (const Error& error) {
      why = fmt::format("cannot be read: {}", error.what());
    }
  }
  merge(rest.records, std::move(end.beyond));
  const std::string holes = holes_in(rest.records, end.next_seq, end.newest_known);
  if (!holes.empty()) rest.missing = fmt::format("records {} {}", holes, why);
  return rest;
}

std::vector<SharedLayout> layouts_in(const std::string& pool) {
  std::vector<SharedLayout> layouts;
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    for (const KnownRun& run : described_runs(reader.ring())) layouts.push_back(run.layout);
  } catch (const Error&) {  // if the pool cannot be read, the journal is still shown
  }
  return layouts;
}

}  // namespace ringside
