// SPDX-License-Identifier: BSD-3-Clause
// The plug-ins of a process, in the order of the command line: loaded once, watched, and left out one by one if they do
// harm.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/reductions/plug_ins/plug_in.hpp"
#include "common/reductions/plug_ins/plug_in_notes.hpp"
#include "common/reductions/plug_ins/plug_in_watch.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// The state of a plug-in in a run, as reported to users.
struct PlugInState {
  std::string name;
  std::string spec;
  std::uint32_t deaths = 0;
  bool left_out = false;
  std::string why;  // why it is left out, or how it ended the previous analyzer; empty if neither
};

/// The reason why a plug-in is left out.
enum class PlugInHarm : int { kNone, kTooManyDeaths, kWroteOutside, kForked };

class PlugInSet {
 public:
  /// A set without plug-ins.
  PlugInSet() = default;
  /// Throws the errors of PlugIn::load, and an Error if two plug-ins have the same name or there are more than
  /// kMostPlugIns. timeout_s: the limit for one call. notes: a path for PlugInNotes; empty: the notes are in memory
  /// only.
  PlugInSet(std::span<const std::string> specs, double timeout_s, const std::string& notes = {});
  PlugInSet(const PlugInSet&) = delete;
  PlugInSet& operator=(const PlugInSet&) = delete;

  std::span<const PlugIn> plug_ins() const noexcept { return plug_ins_; }
  bool empty() const noexcept { return plug_ins_.empty(); }
  /// The descriptions of all results, in order.
  const std::vector<ResultDescription>& descriptions() const noexcept { return descriptions_; }
  /// Null if there are no plug-ins.
  PlugInWatch* watch() const noexcept { return watch_.get(); }

  /// Reads the notes of the run's earlier analyzers. Returns a line for each plug-in that ended the last of these
  /// analyzers.
  std::vector<std::string> begin_run(const Id128& run_id);
  /// A line for each plug-in that accepts none of the run's fields, and therefore has no results.
  std::vector<std::string> without_a_field(const Schema& schema) const;
  /// Call it when all plug-ins have returned for a step.
  void step_done() noexcept {
    if (notes_) notes_->step_done();
  }

  bool left_out(std::size_t plug_in) const noexcept { return out_[plug_in].load(std::memory_order_relaxed) != 0; }
  /// Leaves a plug-in out from now on. Any thread may call it; only the first reason is kept.
  void leave_out(std::size_t plug_in, PlugInHarm harm) noexcept {
    int none = static_cast<int>(PlugInHarm::kNone);
    out_[plug_in].compare_exchange_strong(none, static_cast<int>(harm), std::memory_order_relaxed);
  }
  /// Leaves out each plug-in that has forked a child process in a call, if that child has returned from the call.
  void leave_out_forked() noexcept;

  std::vector<PlugInState> states() const;

 private:
  std::string why(std::size_t plug_in) const;

  std::vector<PlugIn> plug_ins_;
  std::vector<ResultDescription> descriptions_;
  std::unique_ptr<PlugInNotes> notes_;
  std::unique_ptr<PlugInWatch> watch_;
  std::atomic<int> out_[kMostPlugIns] = {};  // each a PlugInHarm
  std::vector<std::string> ended_;  // for each plug-in: how it ended the previous analyzer
};

}  // namespace ringside
