// SPDX-License-Identifier: BSD-3-Clause
// Writes chosen steps of a pool to one output. Each step is verified and then written by the format. A step is accepted
// only if it was not overwritten during the export.
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
  const RingReader* archive;  // the pool's archive, which has the same variables; null: none
  const ExportFormat& format;
  const ExportTarget& target;
  const std::vector<std::size_t>& variables;  // indices in the pool's schema, in the order of the target's variables
  bool to_file = true;                        // the output is a new file or folder, removable until it is finished
  StopFlag stop;
};

/// Writes one step. If the last step is overwritten during the reading, writes a newer one. Returns the iteration of
/// the written step. Throws Error.
std::uint64_t export_one(const StepExport& what, const StepOptions& options);

struct ExportedSeries {
  std::vector<std::uint64_t> iterations;  // iterations of the steps that were written
  std::uint64_t overwritten = 0;          // chosen steps that were overwritten before they could be written
};

/// Writes several steps, one after another. Throws Error; exit code 3 if all of them were overwritten.
ExportedSeries export_series(const StepExport& what, const StepOptions& options);

}  // namespace ringside
