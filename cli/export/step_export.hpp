// SPDX-License-Identifier: BSD-3-Clause
// Writes chosen steps of a pool to one output: opens each one verified, lets the format write it, and accepts it only
// if it was not overwritten meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/export/formats/export_format.hpp"
#include "cli/export/step_choice.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

struct StepExport {
  const RingReader& reader;
  const RingReader* archive;  // of the pool, with the same variables; null: there is none
  const ExportFormat& format;
  const ExportTarget& target;
  const std::vector<std::size_t>& variables;  // of the pool's schema, in the order of the target's
  bool to_file = true;                        // what was written can be taken back, until the output is finished
  StopFlag stop;
};

/// One step. The last one may be overwritten while it is read; then it is another one. Returns its iteration. Throws
/// Error.
std::uint64_t export_one(const StepExport& what, const StepOptions& options);

struct ExportedSeries {
  std::vector<std::uint64_t> iterations;  // that were written
  std::uint64_t overwritten = 0;          // steps that were chosen, and overwritten before they could be written
};

/// Several steps, one after the other. Throws Error; exit code 3 if all of them were overwritten.
ExportedSeries export_series(const StepExport& what, const StepOptions& options);

}  // namespace ringside
