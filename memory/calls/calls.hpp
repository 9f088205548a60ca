// SPDX-License-Identifier: BSD-3-Clause
// System calls on absent memory (docs/use/memory_programs.md, "System calls"). The filter traps a call with an argument
// in the arena. The handler of SIGSYS brings in and pins the memory that the kernel will access. The thread then
// repeats the call from an instruction that the filter permits.
#pragma once

#include <signal.h>

namespace ringside::memory {

class Calls {
 public:
  /// Call this first: if the process inherited a filter, it makes sure that the library's own calls pass. Returns 0 or
  /// -errno.
  long before_start(const char** why) noexcept;
  /// `wanted`: whether to serve calls. Returns 0, or -errno; `why` then says what failed. The filter stays for the rest
  /// of the process, but does no harm after stop.
  long start(bool wanted, const char** why) noexcept;
  void stop() noexcept;
  /// Drops the pins of threads that ended during a call (for example by cancellation).
  void drop_ended() noexcept;
  /// Used by a wrapper of sigaction(SIGSYS): sets the program's handler, which is called for other traps, and returns
  /// the previous one.
  void program_handler(const struct sigaction* set, struct sigaction* before) noexcept;
  /// Whether the library handles SIGSYS.
  bool handling() const noexcept { return handling_; }

  /// Called in a child of vfork(2) that requests tracing (PTRACE_TRACEME). Each trap would stop the child for its
  /// tracer, but the tracer sleeps until the exec. So tracing begins only with the exec. Returns false if the child's
  /// calls are not trapped; then the tracing can begin at once.
  bool trace_at_exec() noexcept;

  /// Called in a forked child that has an arena: from now on, the child is the process that has the arena.
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
  unsigned long first_ = 0, end_ = 0;  // the newest filter traps these addresses
};

extern Calls calls;

}  // namespace ringside::memory
