// SPDX-License-Identifier: BSD-3-Clause
// What a run of several nodes has beside its attachment: this node's side of the rounds and, at the first node, the records
// of the whole run.
#pragma once

#include <atomic>
#include <optional>

#include "analyzer/analyzer.hpp"
#include "analyzer/recorder/recorder.hpp"
#include "analyzer/round/collector.hpp"
#include "analyzer/round/node_link.hpp"
#include "analyzer/round/round.hpp"
#include "common/handoff/handoff_reader.hpp"

namespace ringside {

class WholeRun {
 public:
  /// Does nothing in a run of one node, or if a node has no --node-address. link: null if this one has none. recorder: how
  /// the node's own recorder was made; recorded: what it is told of the run. Before the attachment is served, which this
  /// object outlives. What fails is logged: the run goes on without results of the whole.
  WholeRun(NodeLink* link, const HandoffReader& handoff, Attachment& attachment, const RecorderOptions& recorder,
           const RunToRecord& recorded, const TriggerOptions& triggers, std::atomic<bool>& stop_run);

  /// After the last step. Waits for the rounds that are under way; less long if the run broke off, because other nodes may
  /// be gone.
  void end(ServeEnd how, const wire::RunEnded& ended);

 private:
  std::optional<RoundPlan> plan_;
  std::optional<Collector> collector_;
  std::optional<Round> round_;
};

}  // namespace ringside
