// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/analysis_journal.hpp"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/pool_file.hpp"
#include "cli/pool/decoded_journal.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/platform/clock.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/analysis_results.hpp"

namespace ringside {
namespace {

/// Identifies a result: the run and the commit of its step, and the name of the result.
using ResultKey = std::tuple<std::string, std::uint64_t, std::string>;
using Recorded = std::map<ResultKey, std::uint64_t>;  // bits of the values

Recorded recorded_in(const std::vector<wire::Record>& records) {
  Recorded recorded;
  for (const wire::Record& record : records) {
    const wire::AnalysisResults& results = record.analysis_results();
    for_each_result(results, [&](const std::string& name, double value) {
      recorded[{results.run_id(), results.commit_seq(), name}] = std::bit_cast<std::uint64_t>(value);
    });
  }
  return recorded;
}

bool is_recorded(const Recorded& recorded, const wire::AnalysisResults& results) {
  for (int i = 0; i < results.name_size(); ++i) {
    const auto found = recorded.find({results.run_id(), results.commit_seq(), results.name(i)});
    if (found == recorded.end() || found->second != std::bit_cast<std::uint64_t>(results.value(i))) return false;
  }
  return true;
}

/// The size with which to open the journal: at least its present size. The journal's --journal-size is unknown. With a
/// smaller size, the journal would switch to its other log too early, and empty that log.
std::uint64_t journal_bytes(const std::string& pool, std::size_t added) {
  std::uint64_t largest = 0;
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    std::error_code none;
    const std::uintmax_t bytes = std::filesystem::file_size(journal_log_path(pool, log), none);
    if (!none) largest = std::max<std::uint64_t>(largest, bytes);
  }
  return std::max(JournalOptions().bytes, kJournalLogs * (largest + added));
}

}  // namespace

std::size_t append_to_journal(const std::string& pool, const std::vector<wire::AnalysisResults>& results) {
  if (results.empty()) return 0;
  if (journal_files_there(pool).empty()) throw usage_error("{}: the pool has no journal beside it", pool);
  const Storage storage = RingReader::open(pool).storage();
  // While this process owns the pool, no analyzer can begin to write the journal.
  const std::filesystem::path file = real_path(pool);
  const UniqueFd owned = open_pool_file(file.string(), O_RDWR);
  lock_named_or_throw(owned.get(), file, pool);
  const Recorded recorded = recorded_in(read_journal(pool).records);
  std::vector<std::string> encoded;
  std::size_t bytes = 0;
  for (const wire::AnalysisResults& one : results) {
    if (is_recorded(recorded, one)) continue;
    wire::Record record;
    *record.mutable_analysis_results() = one;
    record.set_unix_ns(realtime_ns());
    bytes += encoded.emplace_back(record.SerializeAsString()).size() + 64;
  }
  if (encoded.empty()) return 0;
  JournalOptions options;
  options.bytes = journal_bytes(pool, bytes);
  Journal journal = Journal::open(pool, options, storage, Durability::kPower);
  std::vector<EncodedRecord> records;
  for (std::string& one : encoded) {
    wire::Record number;  // encoded messages may be concatenated: this second message adds `seq`
    number.set_seq(journal.newest_seq() + 1 + records.size());
    number.AppendToString(&one);
    records.push_back({.seq = number.seq(), .bytes = one});
  }
  int error = journal.append(records);
  if (error == 0) error = journal.sync();
  if (error != 0) throw system_error("{}: its journal cannot be written: {}", pool, errno_text(error));
  return encoded.size();
}

Appending try_to_append(const std::string& pool, const std::vector<wire::AnalysisResults>& results) try {
  return {.added = append_to_journal(pool, results), .failure = {}, .code = ExitCode::kDone};
} catch (const Error& error) {
  std::error_code none;
  const bool has_none = std::filesystem::is_regular_file(pool, none) && journal_files_there(pool).empty();
  return {.added = 0, .failure = error.what(), .code = has_none ? ExitCode::kDone : error.code()};
}

}  // namespace ringside
