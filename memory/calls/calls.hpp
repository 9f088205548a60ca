// SPDX-License-Identifier: BSD-3-Clause
// System calls on absent memory (docs/use/memory_programs.md, "System calls"): the filter traps a call that has an
// argument in the arena, the handler of SIGSYS brings in and pins what the kernel is going to touch, and the thread
// makes the call again from an instruction that passes.
#pragma once

#include <signal.h>

namespace ringside::memory {

class Calls {
 public:
  /// Before anything else: under an inherited filter the calls of the library itself must pass. 0 or -errno.
  long before_start(const char** why) noexcept;
  /// `wanted`: whether calls shall be served. 0 or -errno; `why` then says what failed. The filter stays for the rest
  /// of the process, harmless after stop.
  long start(bool wanted, const char** why) noexcept;
  void stop() noexcept;
  /// Drops the pins of threads that ended in the middle of a call (cancelled, for one).
  void drop_ended() noexcept;
  /// For a wrapped sigaction(SIGSYS): the program's handler, which is called for other traps.
  void program_handler(const struct sigaction* set, struct sigaction* before) noexcept;
  /// Whether SIGSYS is handled here.
  bool handling() const noexcept { return handling_; }

  /// In a child of vfork(2) that wants to be traced (PTRACE_TRACEME): each trap would stop it for its tracer, which
  /// sleeps until its exec. So that begins with its exec. false: its calls are not trapped, it need not wait.
  bool trace_at_exec() noexcept;

  /// In a forked child that has an arena.
  void adopt() noexcept;
  /// The process that has the arena.
  long process() const noexcept { return process_; }

  static void handle(int signal, siginfo_t* info, void* context) noexcept;

 private:
  bool is_trapped(unsigned long address) noexcept;
  void begin(void* context) noexcept;
  static void finish(void* context) noexcept;
  void pass_on(int signal, siginfo_t* info, void* context) noexcept;
  struct sigaction previous_ {};
  bool handling_ = false, inherited_ = false, traps_exec_ = false;
  volatile bool asking_ = false, trapped_ = false;
  long process_ = 0;
  unsigned long first_ = 0, end_ = 0;  // what the newest filter traps
};

extern Calls calls;

}  // namespace ringside::memory
