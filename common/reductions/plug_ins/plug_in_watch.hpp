// SPDX-License-Identifier: BSD-3-Clause
// Watches the calls of plug-ins. If a call crashes, exits or does not return, it names the plug-in on standard error and
// in the notes, and the process dies of the signal (of SIGABRT, if there is none): an analyzer that a plug-in may have
// damaged must not write to the ring any more. The plug-in may hold locks, too, so its thread cannot be abandoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

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
  void leave(std::size_t thread) noexcept;

 private:
  void look_for_hangs(const std::stop_token& stop);

  PlugInNotes& notes_;
  double timeout_s_;
  std::jthread thread_;  // last: it uses the others
};

/// A call of a plug-in: `enter` now, `leave` at the end of the scope.
class PlugInCall {
 public:
  PlugInCall(PlugInWatch& watch, std::size_t thread, std::size_t plug_in) noexcept : watch_(watch), thread_(thread) {
    watch_.enter(thread, plug_in);
  }
  ~PlugInCall() { watch_.leave(thread_); }
  PlugInCall(const PlugInCall&) = delete;
  PlugInCall& operator=(const PlugInCall&) = delete;

 private:
  PlugInWatch& watch_;
  std::size_t thread_;
};

}  // namespace ringside
