// SPDX-License-Identifier: BSD-3-Clause
// The additional parts of a run of several nodes: this node's side of the rounds and, at the first node, the records of
// the whole run.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyzer.hpp"
#include "analyzer/recorder/recorder.hpp"
#include "analyzer/whole_run/collector.hpp"
#include "analyzer/whole_run/node_link.hpp"
#include "analyzer/whole_run/rounds.hpp"
#include "common/handoff/handoff_reader.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {

/// A kept step and its predecessor; the predecessor of the run's first step is null.
struct StepAgain {
  const KeptSlot* step;
  const KeptSlot* previous;
};

class WholeRun {
 public:
  /// Does nothing in a run of one node, or if a node has no --node-address. link: null if this node has no link.
  /// recorder: the options of the node's own recorder. recorded: the run's description for that recorder. Call this
  /// before the attachment is served; the attachment must outlive this object. Errors are logged, and the run continues
  /// without results of the whole run. After a takeover, the solver may wait during this call.
  WholeRun(NodeLink* link, const HandoffReader& handoff, Attachment& attachment, const RecorderOptions& recorder,
           const RunToRecord& recorded, const TriggerOptions& triggers, std::atomic<bool>& stop_run);

  /// Call after the last step. Waits for the rounds in progress. If the run broke off, waits for a shorter time,
  /// because other nodes may have ended, too.
  void end(ServeEnd how);
  /// Call after `end`.
  void record_end(const wire::RunEnded& ended);
  /// The text of the trigger over the whole run that ended the run; empty if no such trigger did.
  std::string what_stopped() const;

 private:
  void begin(NodeLink& link, const HandoffReader& handoff, Attachment& attachment, const RecorderOptions& recorder,
             const RunToRecord& recorded, const TriggerOptions& triggers, std::atomic<bool>& stop_run);
  std::vector<StepAgain> begin_collector(std::vector<StepAgain> again, const HandoffReader& handoff,
                                         const Attachment& attachment, const RecorderOptions& recorder,
                                         const RunToRecord& recorded, const TriggerOptions& triggers,
                                         std::atomic<bool>& stop_run);
  void add_again(const std::vector<StepAgain>& again, const RingView& ring, const HandoffReader& handoff,
                 const Attachment& attachment, Durability durability);

  std::optional<RoundPlan> plan_;
  std::optional<Collector> collector_;
  std::optional<Rounds> rounds_;
};

}  // namespace ringside
