// SPDX-License-Identifier: BSD-3-Clause
// The memory that each thread needs to reduce: the state of the kernels, which includes 256 KiB of pairs for the
// histogram, and a staging area for a chunk. All fields of a step share this memory. A thread works for one field at a
// time. When the thread changes to another field, the previous field first folds the state into a compact form
// (FieldReducer::leave).
#pragma once

#include <cstddef>
#include <vector>

#include "common/kernels/copy.hpp"
#include "common/reductions/kernels/exact_reductions.hpp"

namespace ringside {

class FieldReducer;
struct ReductionKernel;

class ReductionScratch {
 public:
  explicit ReductionScratch(std::size_t threads);

  std::size_t threads() const noexcept { return threads_.size(); }
  const ReductionKernel& kernel() const noexcept { return kernel_; }

  /// The state of a thread. States of consecutive threads are consecutive in memory.
  void* state(std::size_t thread) noexcept { return lines_of(states_, thread); }
  ExactReductions& exact(std::size_t thread) noexcept { return threads_[thread].exact; }
  /// The staging of a thread: kCopyChunkBytes bytes, 64-byte aligned.
  void* staging(std::size_t thread) noexcept { return lines_of(staging_, thread); }

  /// The field for which the thread works. Null: its state belongs to no field and has not been cleared.
  FieldReducer*& field(std::size_t thread) noexcept { return threads_[thread].field; }

 private:
  // alignas(64): one cache line. The kernel's states require this alignment, and no two threads write to the same line.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Thread {
    ExactReductions exact;
    alignas(64) FieldReducer* field = nullptr;
  };

  void* lines_of(std::vector<Line>& lines, std::size_t thread) noexcept {
    return lines.data() + thread * (lines.size() / threads_.size());
  }

  const ReductionKernel& kernel_;
  std::vector<Thread> threads_;
  std::vector<Line> states_;
  std::vector<Line> staging_;
};

}  // namespace ringside
