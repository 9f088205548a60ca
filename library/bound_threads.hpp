// SPDX-License-Identifier: BSD-3-Clause
// Reserves the analyzer's cores in a process that no launcher bound to cores. While this object exists, the process's
// threads run only on the producer's cores, and OpenMP's next teams have at most one thread for each of these cores
// (docs/publish/library.md#without-a-launcher). Several objects may exist at once, and may be destroyed in any order;
// threads then run on the cores that all objects permit.
#pragma once

#include <vector>

namespace ringside::library {

/// The cores on which the threads of this process may run, in ascending order. They include the cores to which OpenMP
/// binds its threads, because the calling thread may be limited to one of those. Empty if the kernel numbers more CPUs
/// than a cpu_set_t has.
std::vector<int> cores_of_process();

class BoundThreads {
 public:
  /// Binds all threads to `cores`. A thread that the program has bound to fewer cores keeps those of its cores that are
  /// in `cores`. If `cores` is empty, nothing is done.
  explicit BoundThreads(const std::vector<int>& cores);
  /// When the last object is destroyed, threads that the program has not bound since then get their earlier cores back.
  /// A thread that was created since then gets the earlier cores of its creator.
  ~BoundThreads();
  BoundThreads(const BoundThreads&) = delete;
  BoundThreads& operator=(const BoundThreads&) = delete;

 private:
  bool binds_ = false;
};

}  // namespace ringside::library
