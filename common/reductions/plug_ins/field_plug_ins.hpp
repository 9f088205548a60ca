// SPDX-License-Identifier: BSD-3-Clause
// Runs the plug-ins over one field together with our own reductions: on the same blocks, in the same pass, while a
// block is in the cache. Each block has a state of its own, and one thread merges the states in the order of the
// blocks, so that the results do not depend on the number of threads. (If a reduction can be merged in any order, each
// thread has one state for it.)
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

/// Between `begin` and `finish`, each entry must be passed exactly once to `reduce`, in whole blocks (except the last
/// one), by any thread, in any order. Memory is allocated at construction only: the states of each plug-in for all
/// blocks, or for all threads.
class FieldPlugIns {
 public:
  /// `set` must outlive this object. variable: a field of the schema. catalogue: contains the results of `set`. kernel:
  /// for the field's dtype. Throws Error (exit code 2) if `create` refuses a setting, or if the states take more memory
  /// than a quarter of the field plus 64 MiB.
  FieldPlugIns(PlugInSet& set, const Schema& schema, std::size_t variable, const Catalogue& catalogue,
               std::size_t threads, const FieldKernel& kernel);
  ~FieldPlugIns();
  FieldPlugIns(const FieldPlugIns&) = delete;
  FieldPlugIns& operator=(const FieldPlugIns&) = delete;

  bool empty() const noexcept { return instances_.empty(); }

  /// previous: the whole field in the previous step, or null.
  void begin(const void* previous) noexcept;
  /// values: the entries from first_entry on, which must be the first entry of a block.
  void reduce(std::size_t thread, const void* values, std::uint64_t first_entry, std::uint64_t entries) noexcept;
  /// Writes the words and the presence bits of the results. words: the words of the whole step.
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
  std::vector<Lent> lent_;  // one for each thread
  const std::byte* previous_ = nullptr;
};

}  // namespace ringside
