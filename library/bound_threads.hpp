// SPDX-License-Identifier: BSD-3-Clause
// Leaves the analyzer its cores in a process that was not started on its own: while this object lives, the process's
// threads run on the producer's cores only, and OpenMP's next teams have no more threads than these
// (docs/publish/library.md#without-a-launcher). Several may live at once, in any order: threads then run on the cores
// that all of them leave.
#pragma once

#include <vector>

namespace ringside::library {

/// The cores that the threads of this process may run on, together with those that OpenMP binds its threads to: a thread that it
/// has bound sees one of them only. Ascending; empty where the kernel numbers more CPUs than a cpu_set_t has.
std::vector<int> cores_of_process();

class BoundThreads {
 public:
  /// A thread that its program has bound to fewer cores keeps those of them that are in `cores`. No cores: nothing is done.
  explicit BoundThreads(const std::vector<int>& cores);
  /// When the last one ends, threads that are still bound as they were here get back what they had; one that was made meanwhile, what
  /// its maker had.
  ~BoundThreads();
  BoundThreads(const BoundThreads&) = delete;
  BoundThreads& operator=(const BoundThreads&) = delete;

 private:
  bool binds_ = false;
};

}  // namespace ringside::library
