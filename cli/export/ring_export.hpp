// SPDX-License-Identifier: BSD-3-Clause
// Writes steps of the whole run, which the rings of several nodes keep, to one output. Each step is verified in all
// rings, and then written by the format chunk by chunk. A step is accepted only if no ring overwrote it during the
// export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/export/formats/export_format.hpp"
#include "cli/export/step_choice.hpp"
#include "cli/export/step_export.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/node_rings/assembly.hpp"
#include "common/node_rings/ring_set.hpp"

namespace ringside {

struct RingExport {
  const RingSet& set;  // all rings of the set can be used
  const Assembly& assembly;
  const ExportFormat& format;
  const ExportTarget& target;
  const std::vector<std::size_t>& variables;  // indices of the run's variables, in the order of the target's variables
  StopFlag stop;
};

/// Writes one step. If the last step is overwritten while it is read, writes a newer one. Returns the iteration of the
/// written step. Throws Error.
std::uint64_t export_one(const RingExport& what, const StepOptions& options);

/// Writes several steps, one after another. Throws Error; exit code 3 if all of them were overwritten.
ExportedSeries export_series(const RingExport& what, const StepOptions& options);

}  // namespace ringside
