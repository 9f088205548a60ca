// SPDX-License-Identifier: BSD-3-Clause
// A ring in memory, found and checked. Wherever the bytes come from (a pool's mapping, a read-only file mapping, an
// image made by a test), every offset is bounds-checked before a view exists. Only this file decides what of it
// is valid. A RingView changes no byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ring/ring_layout.hpp"
#include "common/platform/error.hpp"

namespace ringside {

/// Exit code 2: the creation of this pool was interrupted. The file holds no iterates. A run that may overwrite may
/// replace it, unless its creation is still under way (then it is locked).
class UnfinishedPoolError : public Error {
 public:
  explicit UnfinishedPoolError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// Exit code 5: the ring in this pool can be read, but no analyzer can own it, as libpmemobj's part of it is damaged.
/// A run that may overwrite may replace it.
class UnownablePoolError : public Error {
 public:
  explicit UnownablePoolError(const std::string& message) : Error(ExitCode::kDamaged, message) {}
};

/// The error for a file of no bytes, which is the first moment of a creation.
UnfinishedPoolError empty_pool_file(std::string_view name);

enum class SlotState {
  kEmpty,         // never committed, or being overwritten
  kCommitted,     // the header verifies; the payload's hashes were not checked
  kDamagedHeader  // claims a commit that its hash does not confirm
};

struct SlotReading {
  SlotState state = SlotState::kEmpty;
  SlotHeader header;  // meaningful where kCommitted
};

enum class ReductionsState {
  kRecorded,
  kNotRecorded,  // none, or of another commit
  kDamaged       // claims to be of this commit, but was torn by a crash or damaged: compute them again
};

struct RunReading {
  RunDescription run;
  std::uint64_t record_seq = 0;
  std::uint32_t index = 0;  // in the run table
};

enum class EntryState {
  kEmpty,  // never written, or being written
  kValid,
  kDamaged  // claims a record_seq that its hash does not confirm
};

/// One of the two copies of a run table entry.
struct EntryReading {
  EntryState state = EntryState::kEmpty;
  RunTableEntry entry;  // meaningful where kValid
};

/// True for a file that begins like a libpmemobj pool, of any layout.
bool is_pmemobj_pool(std::span<const std::byte> file) noexcept;

/// True for one whose descriptor names our layout, whatever the rest of it holds.
bool names_our_layout(std::span<const std::byte> file) noexcept;

class RingView {
 public:
  /// file: the whole pool file, from offset 0. Throws Error in one line that begins with `name`: exit code 2 where
  /// there is no ring in it, its creation was interrupted (an UnfinishedPoolError), or its version is newer; 5 where it
  /// is damaged.
  static RingView parse(std::span<const std::byte> file, std::string_view name);

  const RingGeometry& geometry() const noexcept { return geometry_; }
  /// True if its hash holds and its formatted word is there.
  bool superblock_intact(int copy) const noexcept { return superblock_intact_[copy]; }

  /// True if libpmemobj's own data in the file is what it was at the pool's creation. Reads a few MB.
  bool pmdk_metadata_intact() const noexcept;

  /// Reads a slot's header consistently, also while another process writes it.
  SlotReading slot(std::uint32_t slot) const noexcept;
  /// True while the slot still holds `header`, which is a reading of it.
  bool still_holds(std::uint32_t slot, const SlotHeader& header) const noexcept;

  const double* payload(std::uint32_t slot) const noexcept;  // rows doubles
  const std::uint64_t* chunk_hashes(std::uint32_t slot) const noexcept;
  /// The step of the slot as the producer published it. It is only as good as the payload: check that
  /// (ring_recovery.hpp) before use.
  StepDescriptor step(std::uint32_t slot) const noexcept;

  /// Copies the reductions recorded for the commit `header` to `reductions`, if there are any and the slot still holds
  /// that commit; consistently, also while another process writes them.
  ReductionsState reductions(std::uint32_t slot, const SlotHeader& header, Reductions& reductions) const noexcept;

  /// Entry `index` of copy `copy` (0, 1) of the run table; consistent also while another process writes it.
  EntryReading run_entry_copy(int copy, std::uint32_t index) const noexcept;
  /// Every valid run description, by ascending record_seq: the last is the newest.
  std::vector<RunReading> runs() const;
  /// The newest description of that run.
  std::optional<RunDescription> run(const Id128& run_id) const;

 protected:
  RingView(const std::byte* base, RingGeometry geometry);

  std::uint64_t slot_seed_of(std::uint32_t slot) const noexcept { return slot_seeds_[slot]; }

 private:
  template <class T>
  const T* at(std::uint64_t offset) const noexcept {
    return static_cast<const T*>(static_cast<const void*>(base_ + offset));
  }

  SlotReading read_slot(std::uint32_t slot) const noexcept;
  bool is_formatted(int copy) const noexcept;

  const std::byte* base_;
  RingGeometry geometry_;
  bool superblock_intact_[2] = {false, false};
  std::vector<std::uint64_t> slot_seeds_;
};

/// A view whose bytes may be changed, for the writer.
class WritableRing : public RingView {
 public:
  static WritableRing parse(std::span<std::byte> file, std::string_view name);

  SlotHeader* header(std::uint32_t slot) const noexcept;
  StepDescriptor* step_descriptor(std::uint32_t slot) const noexcept;
  StoredReductions* stored_reductions(std::uint32_t slot) const noexcept;
  std::uint64_t* chunk_hash_table(std::uint32_t slot) const noexcept;
  double* writable_payload(std::uint32_t slot) const noexcept;
  /// Entry `index` of copy `copy` (0, 1) of the run table.
  RunTableEntry* run_entry(int copy, std::uint32_t index) const noexcept;

  std::uint64_t seed(std::uint32_t slot) const noexcept { return slot_seed_of(slot); }

 private:
  WritableRing(std::byte* base, RingView view) : RingView(std::move(view)), base_(base) {}

  template <class T>
  T* at(std::uint64_t offset) const noexcept {
    return static_cast<T*>(static_cast<void*>(base_ + offset));
  }

  std::byte* base_;
};

}  // namespace ringside
