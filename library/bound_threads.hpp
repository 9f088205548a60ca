// SPDX-License-Identifier: BSD-3-Clause
// Reserves the analyzer's cores in a process that no launcher bound to cores. While this object lives, the process's
// threads run only on the producer's cores, and OpenMP's next teams have at most one thread for each of these cores
// (docs/publish/library.md#without-a-launcher). Several objects may live at once, and end in any order: threads then
// run on the cores that all objects permit.
#pragma once

#include <vector>

namespace ringside::library {

/// The cores on which the threads of this process may run, and those to which OpenMP binds its threads, because a
/// thread that OpenMP has bound may be limited to one of them. Ascending; empty if the kernel numbers more CPUs than a
/// cpu_set_t has.
std::vector<int> cores_of_process();

class BoundThreads {
 public:
  /// Binds all threads to `cores`. A thread that its program has bound to fewer cores keeps those that are in `cores`.
  /// If `cores` is empty, nothing is done.
  explicit BoundThreads(const std::vector<int>& cores);
  /// When the last object ends, threads that the program has not bound meanwhile get their earlier cores back. A thread
  /// that was created meanwhile gets the earlier cores of its creator.
  ~BoundThreads();
  BoundThreads(const BoundThreads&) = delete;
  BoundThreads& operator=(const BoundThreads&) = delete;

 private:
  bool binds_ = false;
};

}  // namespace ringside::library
