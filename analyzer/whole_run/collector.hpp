// SPDX-License-Identifier: BSD-3-Clause
// The records of the whole run, at its first node: a separate recorder, with its journal beside POOL.global and its
// sockets beside SOCKET.global. So every program that follows a run or reads a journal can also use these records.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/recorder/recorder.hpp"
#include "analyzer/whole_run/part_store.hpp"
#include "analyzer/whole_run/round_message.hpp"
#include "analyzer/whole_run/round_plan.hpp"
#include "common/ranks/node_address.hpp"
#include "common/records/record_layout.hpp"
#include "common/results/result_description.hpp"
#include "common/triggers/trigger_set.hpp"

namespace ringside {

/// The options of the whole run's recorder, made from `options`, the options of the node's recorder. With tcp, the
/// whole run's recorder listens at PORT + 2.
RecorderOptions global_options(RecorderOptions options);

/// The round's thread uses a Collector after the main thread has called begin_run and before it calls end_run.
class Collector {
 public:
  /// scalars: the run's. stop_run: the same as for Recorder; a trigger sets it, too. Throws Error as Recorder and
  /// TriggerSet do.
  Collector(const RecorderOptions& options, const TriggerOptions& triggers, const RoundPlan& plan,
            std::span<const Scalar> scalars, std::atomic<bool>& stop_run);

  /// own: the arguments of the node's recorder.
  void begin_run(const RunToRecord& own);
  void end_run(const wire::RunEnded& own);

  /// Call when a step has passed all nodes. own: the first node's part. Steps arrive in order; steps that are skipped
  /// are recorded as missing.
  void take(const RoundState& state, const PartStore::Part& own) noexcept;
  /// Call when no further step will arrive. Steps before `end_step` that have not arrived are recorded as missing.
  void finish(std::uint64_t end_step) noexcept;

  /// The text of the trigger that ends the run; empty if there is none. May be called at any time.
  std::string what_stopped() const;

 private:
  void miss(std::uint64_t end_step, std::uint64_t end_iteration) noexcept;

  const RoundPlan& plan_;
  const SharedLayout layout_;
  TriggerSet triggers_;
  std::atomic<bool>& stop_run_;
  std::vector<std::uint64_t> words_;   // the results, at the places that the catalogue gives them
  std::vector<std::uint64_t> values_;  // the results, in the order of the records
  Id128 run_id_;
  std::uint64_t next_step_ = 0;
  std::uint64_t next_commit_seq_ = 0;
  std::uint64_t last_iteration_ = 0;  // 0: unknown
  // The round's thread writes the first of the next two members, then the second one with release. The main thread
  // reads both.
  std::atomic<std::uint64_t> stopping_iteration_{0};
  std::atomic<std::uint64_t> stopping_{0};  // bits that represent the triggers that end the run
  Recorder recorder_;
};

}  // namespace ringside
