// SPDX-License-Identifier: BSD-3-Clause
// A ring in memory that was found and checked. The bytes may be a pool's mapping, a read-only file mapping or a test's
// image; every offset is bounds-checked before a view exists. Only ring_view.cpp and superblock_search.cpp decide which
// bytes are valid. A ring of format 2 appears as a ring with the schema `x f64[rows]`. A RingView changes no byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/reductions/reduction.hpp"
#include "common/ring/ring_geometry.hpp"
#include "common/ring/superblock_search.hpp"

namespace ringside {

/// The Error with exit code 5 for a pool whose ring can be read, but not owned by an analyzer, because libpmemobj's own
/// data is damaged. A run with --overwrite may replace the pool.
class UnownablePoolError : public Error {
 public:
  explicit UnownablePoolError(const std::string& message) : Error(ExitCode::kDamaged, message) {}
};

/// The Error with exit code 2 for a ring in a format that this release reads but does not write. A run with --overwrite
/// may replace the ring.
class OlderPoolError : public Error {
 public:
  explicit OlderPoolError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

enum class SlotState {
  kEmpty,         // never committed, or being overwritten
  kCommitted,     // the header verifies; the payload's hashes were not checked
  kDamagedHeader  // the header has a commit_seq, but its hash does not match
};

struct SlotReading {
  SlotState state = SlotState::kEmpty;
  SlotHeader header;  // meaningful if kCommitted
};

enum class ResultsState {
  kRecorded,
  kNotRecorded,  // there are no results, or only those of another commit
  kDamaged       // the results belong to this commit, but were torn by a crash or damaged: compute them again
};

/// The results of a slot: presence bits and values, in the order of the catalogue with that hash.
struct SlotResults {
  std::uint64_t catalogue_hash = 0;
  std::vector<std::uint64_t> words;
};

struct RunReading {
  RunDescription run;
  std::vector<ResultDescription> catalogue;  // unchecked: Catalogue::decode checks it
  std::uint64_t record_seq = 0;
  std::uint32_t index = 0;  // the entry's index in the run table
};

enum class EntryState {
  kEmpty,  // never written, or being written
  kValid,
  kDamaged  // the entry has a record_seq, but its hash does not match
};

/// One of the two copies of a run table entry.
struct EntryReading {
  EntryState state = EntryState::kEmpty;
  RunDescription run;  // meaningful if the state is kValid, like the members below
  std::vector<ResultDescription> catalogue;
  RunEntryTail tail;
};

/// The error with which a writer refuses a ring of an older format.
OlderPoolError older_pool(std::uint32_t version, std::string_view name);

class RingView {
 public:
  /// file: the whole pool file, from offset 0. Throws Error in one line that begins with `name`: exit code 2 if the
  /// file has no ring, its creation was interrupted (an UnfinishedPoolError), or this release does not read its
  /// version; 5 if the ring is damaged.
  static RingView parse(std::span<const std::byte> file, std::string_view name);

  const RingGeometry& geometry() const noexcept { return geometry_; }
  /// Whether the hash of this copy matches and its formatted word is present.
  bool superblock_intact(int copy) const noexcept { return superblock_intact_[copy]; }

  /// Whether libpmemobj's own data in the file is unchanged since the pool's creation. Reads a few MB.
  bool pmdk_metadata_intact() const noexcept;

  /// Reads a slot's header consistently, even while another process writes it.
  SlotReading slot(std::uint32_t slot) const noexcept;
  /// Whether the slot still has the header `header`, which was read earlier. If so, everything that was read from the
  /// slot since then belongs to the commit of that header (docs/publish/library.md).
  bool still_holds(std::uint32_t slot, const SlotHeader& header) const noexcept;

  const std::byte* payload(std::uint32_t slot) const noexcept;  // payload_bytes bytes: all variables
  /// The entries of the variable with index `variable`. T: the type of its dtype.
  template <class T>
  const T* values(std::uint32_t slot, std::size_t variable = 0) const noexcept {
    return at<T>(geometry_.slots[slot].payload_offset + geometry_.schema().place(variable).offset);
  }
  std::span<const std::uint64_t> chunk_hashes(std::uint32_t slot) const noexcept;
  /// The step of the slot as the producer published it, with all scalars. Unverified: check the slot first
  /// (ring_recovery.hpp).
  StepWithScalars step(std::uint32_t slot) const noexcept;

  /// Copies the results of the commit `header` to `results`, if there are any and the slot still has that commit. The
  /// copy is consistent even while another process writes. Allocates memory.
  ResultsState results(std::uint32_t slot, const SlotHeader& header, SlotResults& results) const;

  /// Like `results`, but in the form of Reductions. Requires an x-only schema. Results whose catalogue does not begin
  /// with the reductions of x_only_catalogue count as not recorded.
  ResultsState reductions(std::uint32_t slot, const SlotHeader& header, Reductions& reductions) const;

  /// The catalogue of the run that has this hash; nothing if no valid entry of the run has it.
  std::optional<Catalogue> catalogue(const Id128& run_id, std::uint64_t catalogue_hash) const;

  /// Entry `index` of copy `copy` (0, 1) of the run table; consistent even while another process writes it.
  EntryReading run_entry_copy(int copy, std::uint32_t index) const;
  /// All valid run descriptions, by ascending record_seq: the last is the newest.
  std::vector<RunReading> runs() const;
  /// The newest description of that run; nothing if there is none.
  std::optional<RunDescription> run(const Id128& run_id) const;

 protected:
  RingView(const std::byte* base, FoundRing found);

  std::uint64_t slot_seed_of(std::uint32_t slot) const noexcept { return slot_seeds_[slot]; }

 private:
  template <class T>
  const T* at(std::uint64_t offset) const noexcept {
    return static_cast<const T*>(static_cast<const void*>(base_ + offset));
  }

  SlotReading read_slot(std::uint32_t slot) const noexcept;
  EntryReading entry_copy_2(int copy, std::uint32_t index) const;
  ResultsState read_results(std::uint32_t slot, const SlotHeader& header, SlotResults& results) const;
  ResultsState read_results_2(std::uint32_t slot, const SlotHeader& header, SlotResults& results) const;

  const std::byte* base_;
  RingGeometry geometry_;
  bool superblock_intact_[2] = {false, false};
  std::vector<std::uint64_t> slot_seeds_;
};

/// A view with writable bytes, for the writer.
class WritableRing : public RingView {
 public:
  /// Throws the errors of RingView::parse, and OlderPoolError if the ring does not have the newest format.
  static WritableRing parse(std::span<std::byte> file, std::string_view name);

  SlotHeader* header(std::uint32_t slot) const noexcept;
  StepWithScalars* slot_step(std::uint32_t slot) const noexcept;  // only its first geometry().step_bytes() bytes exist
  ResultsHead* results_head(std::uint32_t slot) const noexcept;   // followed by the words
  std::uint64_t* chunk_hash_table(std::uint32_t slot) const noexcept;
  std::byte* writable_payload(std::uint32_t slot) const noexcept;
  /// Entry `index` of copy `copy` (0, 1) of the run table.
  RunEntryHead* run_entry(int copy, std::uint32_t index) const noexcept;
  ResultDescription* run_catalogue(int copy, std::uint32_t index) const noexcept;
  RunEntryTail* run_tail(int copy, std::uint32_t index) const noexcept;

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
