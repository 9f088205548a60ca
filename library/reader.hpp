// SPDX-License-Identifier: BSD-3-Clause
// The struct of a reader's handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/journal/journal_reader.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/plain_record.hpp"
#include "common/records/result_names.hpp"
#include "common/results/catalogue.hpp"
#include "library/handle.hpp"
#include "include/ringside.h"
#include "library/run_end.hpp"

struct ringside_reader {
  ringside_reader(ringside::RingReader opened, const ringside_reader_options& options);

  ringside::ForkMark process;
  ringside::RingReader reader;
  std::vector<ringside_variable> variables;
  ringside::StopFlag stop;
  bool follows_pool;  // RINGSIDE_FOLLOW_POOL
  ringside::library::RunEnd run_end;
  struct RunTexts {
    std::string solver;
    std::string problem;
    std::string parameters;
  };
  std::vector<RunTexts> runs;  // texts to which the caller has pointers

  // The results of the last step for which the caller asked, and the catalogue of that step's run.
  std::optional<ringside::Catalogue> catalogue;
  ringside::Id128 catalogue_run;
  std::optional<std::uint64_t> catalogue_hash;  // empty: it is the newest catalogue of that run
  std::vector<ringside_value> values;
  std::vector<ringside_result> results;

  // The journal beside the pool, as it was when last read, and the last record that the caller requested.
  std::optional<ringside::JournalReader> journal;
  ringside::ResultNames names{ringside::ResultNames::kAll};
  std::uint64_t learned_seq = 0;  // the last record that `names` has taken into account
  ringside::PlainRecord record;
  std::vector<std::string> record_names;
  std::vector<ringside_value> record_values;
  std::vector<ringside_result> record_results;

  std::size_t steps = 0;  // the number of held steps
  bool freed = false;     // the caller has freed the reader, which is deleted when its last step is released
  ringside::library::LastError error;
};

namespace ringside::library {

/// Throws Error: exit code 2 in a child of the process that opened the pool, 5 if the file was truncated. A file that
/// is truncated during the call still raises SIGBUS (docs/publish/library.md).
void usable(const ringside_reader& reader);

/// Runs call() if the handle can be used. Failures become the handle's last error.
template <class Call>
ringside_status usable_call(ringside_reader* reader, const Call& call) noexcept {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->error, [&] {
    usable(*reader);
    return call();
  });
}

/// Why the ring has no step with this commit_seq: RINGSIDE_ABSENT if the commit does not exist yet, else
/// RINGSIDE_OVERWRITTEN and a line.
ringside_status gone(ringside_reader& reader, std::uint64_t commit_seq);

/// Throws Error (exit code 2) for RINGSIDE_NEWEST, because the caller could not find out which step that was.
void check_named(std::uint64_t commit_seq);

}  // namespace ringside::library
