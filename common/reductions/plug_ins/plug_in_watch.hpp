// SPDX-License-Identifier: BSD-3-Clause
// Watches the calls of plug-ins. If a call crashes, exits or does not return, the watch names the plug-in on standard
// error and in the notes, and the process ends by the signal (or by SIGABRT if there was none): an analyzer that a
// plug-in may have damaged must not write to the ring any more. The plug-in may also hold locks, so its thread cannot
// be abandoned. After each call, the thread's default floating-point environment is restored, and a child process that
// the call has forked is ended.
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

/// A process may have only one PlugInWatch at a time, because the signal handlers must find it.
class PlugInWatch {
 public:
  /// labels: texts such as "reduction 'l3' (./libl3.so)", at most kMostPlugIns. timeout_s: the limit for one call.
  /// `notes` must outlive this object.
  PlugInWatch(std::span<const std::string> labels, double timeout_s, PlugInNotes& notes);
  ~PlugInWatch();
  PlugInWatch(const PlugInWatch&) = delete;
  PlugInWatch& operator=(const PlugInWatch&) = delete;

  /// These functions mark the beginning and the end of a call in this thread. thread: the thread's number in the team.
  void enter(std::size_t thread, std::size_t plug_in) noexcept;
  void leave(std::size_t thread, std::size_t plug_in) noexcept;
  /// Ends the process and names the plug-in as the cause if many descriptors have been closed since the last check.
  /// (The closing of a single descriptor of the process is not noticed. If several plug-ins run at the same time, the
  /// first that is checked is named.) Makes one system call.
  void check_descriptors(std::size_t plug_in) noexcept;

 private:
  void look_for_hangs(const std::stop_token& stop);
  void name_changed_floats(std::size_t plug_in) noexcept;
  [[noreturn]] void end_child(std::size_t plug_in) noexcept;

  PlugInNotes& notes_;
  double timeout_s_;
  ForkMark mark_;
  UniqueFd sentinel_;  // stands for all descriptors of the process; no code of Ringside closes it
  std::atomic<std::uint32_t> changed_floats_{0};  // one bit for each plug-in that has been named as the cause
  static_assert(kMostPlugIns <= 32);
  std::jthread thread_;  // last, because it uses the other members
};

/// A call of a plug-in: the constructor calls `enter`, the destructor `leave`.
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
  std::size_t plug_in_;  // kept here, because in a forked child the shared cell is still the parent's
};

}  // namespace ringside
