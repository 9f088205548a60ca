// SPDX-License-Identifier: BSD-3-Clause
// Reduces all fields of a step together, in place or while a team copies them, and returns the results as words in the
// order of the catalogue. Variables with the role `state` are not reduced. Each thread has one scratch area for all
// fields (common/reductions/reduction_scratch.hpp), so that the histogram needs 256 KiB for each thread, no matter how
// many fields there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/reductions/field_reducer.hpp"
#include "common/reductions/plug_ins/field_plug_ins.hpp"
#include "common/reductions/reduction_scratch.hpp"
#include "common/results/catalogue.hpp"
#include "common/schema/schema.hpp"
#include "common/threads/team.hpp"

namespace ringside {

/// As with FieldReducer, each entry of each field must be passed exactly once between `begin` and `finish`. Any thread
/// may pass entries, in any order, in chunks of whole blocks (except the last chunk of a field). When a thread changes
/// to another field, its results must first be folded. Therefore a thread should process the chunks of one field one
/// after the other. Allocates at construction only.
class StepReducer {
 public:
  /// The largest number of bytes that are copied at a time; for every dtype these are whole blocks.
  static constexpr std::size_t kMostBytes = kCopyChunkBytes;

  /// Uses all OpenMP threads of the process.
  explicit StepReducer(const Schema& schema);
  /// `team` and `plug_ins` must outlive this object. plug_ins: null if there are none; otherwise its begin_run must
  /// have been called. Throws Error (exit code 2) if a plug-in refuses a field.
  StepReducer(const Schema& schema, Team& team, PlugInSet* plug_ins = nullptr);
  /// Also uses all OpenMP threads of the process.
  StepReducer(const Schema& schema, PlugInSet* plug_ins);
  StepReducer(const StepReducer&) = delete;
  StepReducer& operator=(const StepReducer&) = delete;

  const Schema& schema() const noexcept { return schema_; }
  /// The catalogue of the results that `finish` returns: every reduction of every field. Scalars have no words, so the
  /// places are the same in a catalogue that has scalars.
  const Catalogue& catalogue() const noexcept { return catalogue_; }
  std::size_t threads() const noexcept { return scratch_.threads(); }

  /// Whether a variable is a field: only fields may be passed to the functions below.
  bool reduces(std::size_t variable) const noexcept { return field_of_[variable] != nullptr; }

  /// The reducer of a field, with its results in the step that was finished last.
  const FieldReducer& field(std::size_t variable) const noexcept { return *field_of_[variable]; }
  /// The values of our own reductions of a field, among the words of a step.
  std::span<const std::uint64_t> values(std::size_t variable, std::span<const std::uint64_t> words) const noexcept;

  /// previous: the payload of the previous step, or null.
  void begin(const void* previous) noexcept;

  /// Like FieldReducer's functions. first_byte: the offset of the bytes in the variable.
  std::uint64_t copy_nontemporal(std::size_t thread, std::size_t variable, void* to, const void* from,
                                 std::uint64_t first_byte, std::size_t bytes) noexcept {
    if (plug_ins_of_[variable] != nullptr) return copy_staged(thread, variable, to, from, first_byte, bytes);
    return field_of_[variable]->copy_nontemporal(thread, to, from, first_byte, bytes);
  }
  StagedBytes stage(std::size_t thread, std::size_t variable, const void* from, std::uint64_t first_byte,
                    std::size_t bytes) noexcept;
  /// Reduces any number of bytes without copying them. payload: the payload of the whole step.
  void sweep(std::size_t thread, std::size_t variable, const void* payload, std::uint64_t first_byte,
             std::uint64_t bytes) noexcept;

  /// Sweeps all fields, which are now complete in the payload, another `passes - 1` times; only the first pass computes
  /// the change. Returns Catalogue::words words, which stay valid until the next call.
  std::span<const std::uint64_t> finish(const void* payload, int passes) noexcept;

  /// Reduces a step in memory from beginning to end. payload, previous: aligned to 8 bytes; previous may be null;
  /// passes: at least 1.
  std::span<const std::uint64_t> reduce(const void* payload, const void* previous, int passes) noexcept;

 private:
  struct Field {
    std::unique_ptr<FieldReducer> reducer;
    std::unique_ptr<FieldPlugIns> plug_ins;  // null if no plug-in reduces this field
    std::size_t variable;
    std::uint64_t offset;       // the place of the variable in the payload
    std::uint64_t first_block;  // the number of its first block, counted over all fields
    std::uint64_t first_bit;    // the index of its first presence bit
    std::uint64_t first_word;   // the index of its first value word
  };

  StepReducer(const Schema& schema, std::unique_ptr<Team> own_team, Team* team, PlugInSet* plug_ins);
  std::uint64_t copy_staged(std::size_t thread, std::size_t variable, void* to, const void* from,
                            std::uint64_t first_byte, std::size_t bytes) noexcept;
  void sweep_blocks(std::size_t thread, std::size_t variable, const void* field, std::uint64_t first_block,
                    std::uint64_t end_block) noexcept;
  void sweep_all(const void* payload) noexcept;

  std::unique_ptr<Team> own_team_;  // used if no team was given
  Team& team_;
  Schema schema_;
  PlugInSet* plug_ins_;
  Catalogue catalogue_;
  ReductionScratch scratch_;
  std::vector<Field> fields_;
  std::vector<FieldReducer*> field_of_;  // by variable; null for a state
  std::vector<FieldPlugIns*> plug_ins_of_;  // by variable; null if no plug-in reduces it
  bool plug_ins_run_ = true;                // whether plug-ins run in this pass: only in the first one of a step
  std::uint64_t blocks_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace ringside
