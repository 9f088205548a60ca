// SPDX-License-Identifier: BSD-3-Clause
// What differs for a HandoffWriter when several processes write the parts of a step: who gets the memory, and who
// publishes (common/team, docs/publish/mpi.md).
#pragma once

#include <cstdint>

#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/platform/pulse.hpp"
#include "common/platform/stop_flag.hpp"

namespace ringside {

/// Also the pulse of the writer's waits, in which it looks at the other processes.
class PartsGate : public Pulse {
 public:
  /// The memory is made, and not yet sealed against writable mappings: when this returns, every process of the team has
  /// mapped it. Throws Error if one has not.
  virtual void share(const SharedMapping& payload, const SharedMapping& control) = 0;

  /// This process's part of the step is written, and the step's descriptor. Publishes the step if it is the last part.
  virtual void arrive(const StepDescriptor& step) noexcept = 0;

  /// Set once a wait is to end: the caller's stop flag is set, or the team has failed.
  virtual StopFlag ends_wait() const noexcept = 0;
};

}  // namespace ringside
