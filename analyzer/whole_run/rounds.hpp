// SPDX-License-Identifier: BSD-3-Clause
// Makes the results of the whole run. The state of each step passes all nodes, from the first to the last and back.
// Each node adds the state of its own part, in the order of the entries, so that the bits equal those of one process.
// No node waits for a round: the solver continues. If the round of a step fails, the records of the whole run lack this
// step (docs/publish/mpi.md, "Results of the whole run").
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/whole_run/collector.hpp"
#include "analyzer/whole_run/node_link.hpp"
#include "analyzer/whole_run/part_store.hpp"
#include "analyzer/whole_run/round_message.hpp"
#include "analyzer/whole_run/round_plan.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/reductions/whole/step_parts.hpp"

namespace ringside {

/// One node's side, for one attachment.
class Rounds {
 public:
  /// link: must outlive this object. team: the analyzer's team. cpus: the cores of the thread; empty: the caller's
  /// cores. Throws Error.
  Rounds(RoundPlan plan, NodeLink& link, const Schema& schema, Team& team, const std::vector<int>& cpus);
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  /// The number of steps for which there is room, in addition to the newest one.
  std::size_t capacity() const noexcept { return store_.capacity(); }
  /// Main thread: call once, before the first step. first_step: the number of that step. collector: the collector of
  /// the first node, which must outlive this object; null at other nodes, and if nothing can be recorded.
  void begin(std::uint64_t first_step, Collector* collector);

  /// Main thread: call after each step's reduction. results: those of `reducer`, which has just reduced the payload.
  /// previous: the same as in that reduction.
  void prepare(const StepWithScalars& step, const StepReducer& reducer, std::span<const std::uint64_t> results,
               const void* payload, const void* previous) noexcept;
  /// Main thread: adds the figures of the prepared step; its round may then pass this node.
  void add(const StepFigures& figures) noexcept;
  /// Main thread: call if the next step was not kept and therefore has no results.
  void pass_over() noexcept;

  /// Main thread, after the last step: waits until no step is in progress, or no state has moved for `patience_ns`.
  void finish(std::int64_t patience_ns);
  /// Main thread: ends without the wait that `finish` makes, because another analyzer continues the run and adds the
  /// newest steps again.
  void leave();

 private:
  void run();
  void take_messages();
  void begin_rounds();
  void begin_round(std::uint64_t step, bool again);
  void take_turns();
  void take_turn(RoundState& state);
  bool add_own_part(RoundState& state);
  void collect_in_order();
  void send_again();
  void send(const RoundState& state) noexcept;
  bool is_over() const noexcept;
  void tell_end();

  const RoundPlan plan_;
  NodeLink& link_;
  Collector* collector_ = nullptr;
  const std::vector<int> cpus_;
  StepParts parts_;
  PartStore store_;
  PartStore::Part* prepared_ = nullptr;  // main thread's
  std::uint64_t passed_over_ = 0;        // main thread's
  std::optional<Channel> next_;

  // The next members belong to the round's thread.
  std::map<std::uint64_t, RoundState> waiting_;  // states that wait for this node's part, by step
  struct Sent {
    std::int64_t begun_ns = 0;
    std::int64_t sent_ns = 0;  // the time of the last sending
  };
  std::map<std::uint64_t, Sent> sent_;            // at the first node: the rounds that it has begun, by step
  std::map<std::uint64_t, RoundState> returned_;  // at the first node: states that have returned, by step
  std::int64_t returned_sent_ns_ = 0;             // the latest of the times at which the returned states were sent
  std::uint64_t begun_ = 0;                       // at the first node: the rounds of all earlier steps have begun
  std::uint64_t collected_ = 0;                   // the rounds of all earlier steps are finished
  bool was_told_end_ = false;
  std::int64_t told_stall_ns_ = 0;
  bool told_iterations_ = false;
  std::vector<std::string> frames_;
  wire::RoundStep message_;
  std::string bytes_;

  std::atomic<bool> was_finished_{false};  // whether the run has ended; if false, only this object ends
  std::atomic<bool> ends_{false};
  std::atomic<std::int64_t> patience_ns_{0};
  std::atomic<std::int64_t> moved_ns_{0};  // the time at which a state was last received or collected
  std::thread thread_;                     // last member, because it uses all members above
};

}  // namespace ringside
