// SPDX-License-Identifier: BSD-3-Clause
// The plug-ins of a process, in the order of the command line: loaded once, watched, and left out one by one when they
// have done harm.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/reductions/plug_ins/plug_in.hpp"
#include "common/reductions/plug_ins/plug_in_notes.hpp"
#include "common/reductions/plug_ins/plug_in_watch.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// What people see of a plug-in of a run.
struct PlugInState {
  std::string name;
  std::string spec;
  std::uint32_t deaths = 0;
  bool left_out = false;
  std::string why;  // it is left out, or ended the analyzer before this one; empty: neither
};

/// Why a plug-in is left out.
enum class PlugInHarm : int { kNone, kTooManyDeaths, kWroteOutside, kForked };

class PlugInSet {
 public:
  /// No plug-ins.
  PlugInSet() = default;
  /// Throws Error as PlugIn::load does, for two of one name, and for more than kMostPlugIns. timeout_s: of a call.
  /// notes: a path for PlugInNotes; empty: in memory.
  PlugInSet(std::span<const std::string> specs, double timeout_s, const std::string& notes = {});
  PlugInSet(const PlugInSet&) = delete;
  PlugInSet& operator=(const PlugInSet&) = delete;

  std::span<const PlugIn> plug_ins() const noexcept { return plug_ins_; }
  bool empty() const noexcept { return plug_ins_.empty(); }
  /// Of all results, in order.
  const std::vector<ResultDescription>& descriptions() const noexcept { return descriptions_; }
  /// Null if there are no plug-ins.
  PlugInWatch* watch() const noexcept { return watch_.get(); }

  /// Takes up what earlier analyzers of the run noted. Returns a line for each plug-in that ended the last one.
  std::vector<std::string> begin_run(const Id128& run_id);
  /// A line for each plug-in that takes none of these fields, and so has no results.
  std::vector<std::string> without_a_field(const Schema& schema) const;
  /// All plug-ins have returned for a step.
  void step_done() noexcept {
    if (notes_) notes_->step_done();
  }

  bool left_out(std::size_t plug_in) const noexcept { return out_[plug_in].load(std::memory_order_relaxed) != 0; }
  /// From now on. By any thread; the first reason stays.
  void leave_out(std::size_t plug_in, PlugInHarm harm) noexcept {
    int none = static_cast<int>(PlugInHarm::kNone);
    out_[plug_in].compare_exchange_strong(none, static_cast<int>(harm), std::memory_order_relaxed);
  }
  /// Leaves out those whose calls have forked a child that came back.
  void leave_out_forked() noexcept;

  std::vector<PlugInState> states() const;

 private:
  std::string why(std::size_t plug_in) const;

  std::vector<PlugIn> plug_ins_;
  std::vector<ResultDescription> descriptions_;
  std::unique_ptr<PlugInNotes> notes_;
  std::unique_ptr<PlugInWatch> watch_;
  std::atomic<int> out_[kMostPlugIns] = {};  // PlugInHarm
  std::vector<std::string> ended_;  // by plug-in: how it ended the analyzer before
};

}  // namespace ringside
