// SPDX-License-Identifier: BSD-3-Clause
// A run with one variable x and its reductions, like a run of a built-in solver, for tests that do not depend on the
// number of variables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/reductions/reduction_words.hpp"

namespace ringside {

/// run: this function sets its schema_id. newest: the same as in RingWriter::begin_run.
inline std::optional<KeptSlot> begin_x_only(RingWriter& writer, RunDescription run, void* newest = nullptr,
                                            std::uint64_t resume_from = 0) {
  run.schema_id = Schema::x_only(run.entries).id();
  return writer.begin_run(run, x_only_catalogue(run.entries), newest, resume_from);
}

inline void store_reductions(RingWriter& writer, const Reductions& reductions) {
  std::vector<std::uint64_t> words(kXOnlyWords);
  to_words(reductions, words);
  writer.store_results(words);
}

}  // namespace ringside
