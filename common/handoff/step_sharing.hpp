// SPDX-License-Identifier: BSD-3-Clause
// The operations of a HandoffWriter that differ when several processes write the parts of a step: sharing the memory,
// and publishing (common/cohort, docs/publish/mpi.md).
#pragma once

#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/platform/pulse.hpp"
#include "common/platform/stop_flag.hpp"

namespace ringside {

/// This object is also the Pulse of the writer's waits; each beat checks the other processes.
class StepSharing : public Pulse {
 public:
  /// Called when the memory is made but not yet sealed against writable mappings. On return, every process of the
  /// cohort has mapped it. Throws Error if a process has not mapped it.
  virtual void share(const SharedMapping& payload, const SharedMapping& control) = 0;

  /// Called when this process has written its part of the step. Publishes the step if this part is the last.
  virtual void arrive(const StepDescriptor& step) noexcept = 0;

  /// The flag that ends waits: it is set when the caller's stop flag is set or the cohort has failed.
  virtual StopFlag ends_wait() const noexcept = 0;
};

}  // namespace ringside
