// SPDX-License-Identifier: BSD-3-Clause
// Watches the calls of plug-ins. If a call crashes, exits or does not return, it names the plug-in on standard error and
// in the notes, and the process dies of the signal (of SIGABRT, if there is none): an analyzer that a plug-in may have
// damaged must not write to the ring any more. The plug-in may hold locks, too, so its thread cannot be abandoned.
// After each call the thread has the default floating-point environment again, and a child that the call has left behind ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

#include "common/platform/process.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/reductions/plug_ins/plug_in_notes.hpp"

namespace ringside {

/// One for each process at a time: its handlers of signals find it.
class PlugInWatch {
 public:
  /// labels: "reduction 'l3' (./libl3.so)", at most kMostPlugIns. timeout_s: how long a call may take. notes: outlives
  /// this object.
  PlugInWatch(std::span<const std::string> labels, double timeout_s, PlugInNotes& notes);
  ~PlugInWatch();
  PlugInWatch(const PlugInWatch&) = delete;
  PlugInWatch& operator=(const PlugInWatch&) = delete;

  /// A call begins and ends in this thread. thread: its number in the team.
  void enter(std::size_t thread, std::size_t plug_in) noexcept;
  void leave(std::size_t thread, std::size_t plug_in) noexcept;
  /// Ends the process in the name of the plug-in if descriptors have been closed at large since the last check. (A single one of
  /// the process's is not noticed; of several plug-ins that run at the same time, the one that is checked first is named.)
  /// One system call.
  void check_descriptors(std::size_t plug_in) noexcept;

 private:
  void look_for_hangs(const std::stop_token& stop);
  void name_changed_floats(std::size_t plug_in) noexcept;
  [[noreturn]] void end_child(std::size_t plug_in) noexcept;

  PlugInNotes& notes_;
  double timeout_s_;
  ForkMark mark_;
  UniqueFd sentinel_;  // as good as any other descriptor of the process, and closed by none of its threads
  std::atomic<std::uint32_t> changed_floats_{0};  // a bit for each plug-in that has been named for it
  static_assert(kMostPlugIns <= 32);
  std::jthread thread_;  // last: it uses the others
};

/// A call of a plug-in: `enter` now, `leave` at the end of the scope.
class PlugInCall {
 public:
  PlugInCall(PlugInWatch& watch, std::size_t thread, std::size_t plug_in) noexcept
      : watch_(watch), thread_(thread), plug_in_(plug_in) {
    watch_.enter(thread, plug_in);
  }
  ~PlugInCall() { watch_.leave(thread_, plug_in_); }
  PlugInCall(const PlugInCall&) = delete;
  PlugInCall& operator=(const PlugInCall&) = delete;

 private:
  PlugInWatch& watch_;
  std::size_t thread_;
  std::size_t plug_in_;  // the cell is shared with children, in which it is the parent's
};

}  // namespace ringside
