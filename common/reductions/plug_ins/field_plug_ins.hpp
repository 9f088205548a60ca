// SPDX-License-Identifier: BSD-3-Clause
// Runs the plug-ins over one field, beside the reductions of our own: the same blocks, in the same pass, while a block is
// in the cache. Each block has a state of its own, and one thread merges the states in the order of the blocks, so the
// results do not depend on the number of threads. (Of a reduction whose merging depends on no order, each thread has
// one state.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/reductions/kernels/field_kernel.hpp"
#include "common/reductions/plug_ins/plug_in_set.hpp"
#include "common/results/catalogue.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// Between `begin` and `finish`, each entry is passed once to `reduce`, in whole blocks (except the last one), by any
/// thread, in any order. Allocates at construction only: for each plug-in its state for each block, or for each thread.
class FieldPlugIns {
 public:
  /// set: outlives this object. variable: a field of the schema. catalogue: with the results of `set`. kernel: of the
  /// field's dtype. Throws Error (exit code 2): a setting that `create` refuses, states that take more memory than a
  /// quarter of the field and 64 MiB.
  FieldPlugIns(PlugInSet& set, const Schema& schema, std::size_t variable, const Catalogue& catalogue,
               std::size_t threads, const FieldKernel& kernel);
  ~FieldPlugIns();
  FieldPlugIns(const FieldPlugIns&) = delete;
  FieldPlugIns& operator=(const FieldPlugIns&) = delete;

  bool empty() const noexcept { return instances_.empty(); }

  /// previous: the whole field of the step before, or null.
  void begin(const void* previous) noexcept;
  /// values: the entries from first_entry on, which is the first of a block.
  void reduce(std::size_t thread, const void* values, std::uint64_t first_entry, std::uint64_t entries) noexcept;
  /// Writes the results' words and presence bits. words: of the step.
  void finish(std::span<std::uint64_t> words) noexcept;

 private:
  struct Instance;
  struct Lent;
  void lend(const Instance& instance, const std::byte* entries, std::size_t count, std::byte* to) const noexcept;
  void call_block(Instance& instance, std::size_t thread, const ringside_reduction_block& block) noexcept;
  void merge_all(Instance& instance, std::size_t block_count) noexcept;

  PlugInSet& set_;
  const FieldKernel& kernel_;
  std::size_t entry_bytes_;
  std::uint64_t entries_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<Lent> lent_;  // by thread
  const std::byte* previous_ = nullptr;
};

}  // namespace ringside
