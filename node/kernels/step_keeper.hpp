// SPDX-License-Identifier: BSD-3-Clause
// The analyzer's work on a step, with the calls, order and timing of Attachment::keep (analyzer/analyzer.cpp). The ring
// is in an unnamed pool, so no file remains, however this process ends.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/handoff/run_description.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/ring/storage.hpp"
#include "common/threads/team.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

/// The default number of slots of a pool.
inline constexpr std::uint32_t kCalibrationSlots = 8;

/// The shape of the slots that keep all variables and scalars of the solver's steps, as in a run without plug-ins.
RingShape slots_for(const Solver& solver);

/// A pool in `folder`, deleted as soon as it is open. mapped: whether its pages are faulted in now, as by an analyzer
/// that need not sync. Throws Error: exit code 3 if the folder has no room.
RingPool make_nameless_pool(const std::string& folder, const RingShape& shape, bool mapped);

/// Seconds, with the meaning that they have in a run's account.
struct StepTimes {
  double transfer_s = 0;
  double commit_s = 0;   // without the wait for a disk
  double analyze_s = 0;  // including the time to store the results
};

/// Only the thread that uses the team makes and uses a StepKeeper.
class StepKeeper {
 public:
  /// pool: has the slots of slots_for(solver). pool, team: must outlive this object.
  StepKeeper(RingPool& pool, const Solver& solver, RunDescription run, Durability durability, Team& team);
  ~StepKeeper() { writer_.finish(); }
  StepKeeper(const StepKeeper&) = delete;
  StepKeeper& operator=(const StepKeeper&) = delete;

  enum class Reduce { kInSlot, kOnTheWay };
  /// Keeps a step. payload: all of its variables. The solver's further scalars are kept as 0. Returns false if the disk
  /// failed.
  bool keep(const void* payload, Reduce reduce, int passes, StepTimes& times) noexcept;

  /// Waits until the disk has everything that was kept. Returns false if the disk failed.
  bool settle() noexcept;

 private:
  bool wait_for_disk() noexcept;

  RingPool& pool_;
  const Durability durability_;
  RingWriter writer_;
  StepReducer reducer_;
  StepDescriptor step_;
};

}  // namespace ringside
