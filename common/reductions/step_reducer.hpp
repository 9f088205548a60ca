// SPDX-License-Identifier: BSD-3-Clause
// Reduces all fields of a step together, while a team copies them or where they lie, and gives the results as words in
// the order of the catalogue. States are not reduced. Each thread has one scratch area for all fields
// (common/reductions/reduction_scratch.hpp), so the histogram's 256 KiB a thread do not grow with their number.
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

/// As with FieldReducer, each entry of each field is passed once between `begin` and `finish`, in chunks of whole
/// blocks (except the last one of a field), by any thread, in any order. A thread that continues with another field
/// folds what it has found first, so it should take chunks of one field one after the other. Allocates at construction
/// only.
class StepReducer {
 public:
  /// The most bytes that are copied at a time; of every dtype, whole blocks.
  static constexpr std::size_t kMostBytes = kCopyChunkBytes;

  /// With all OpenMP threads of the process.
  explicit StepReducer(const Schema& schema);
  /// team, plug_ins: outlive this object. plug_ins: null if there are none; else its begin_run comes before. Throws
  /// Error (exit code 2) if a plug-in refuses a field.
  StepReducer(const Schema& schema, Team& team, PlugInSet* plug_ins = nullptr);
  /// With all OpenMP threads of the process, too.
  StepReducer(const Schema& schema, PlugInSet* plug_ins);
  StepReducer(const StepReducer&) = delete;
  StepReducer& operator=(const StepReducer&) = delete;

  const Schema& schema() const noexcept { return schema_; }
  /// The results of `finish`: every reduction of every field. Scalars have no words, so a catalogue with scalars has
  /// the same places.
  const Catalogue& catalogue() const noexcept { return catalogue_; }
  std::size_t threads() const noexcept { return scratch_.threads(); }

  /// Whether a variable is a field: only such a one may be passed to the functions below.
  bool reduces(std::size_t variable) const noexcept { return field_of_[variable] != nullptr; }

  /// What was found of a field in the step that was finished last.
  const FieldReducer& field(std::size_t variable) const noexcept { return *field_of_[variable]; }
  /// The values of a field among the words of a step: those of our own reductions.
  std::span<const std::uint64_t> values(std::size_t variable, std::span<const std::uint64_t> words) const noexcept;

  /// previous: the payload of the step before, or null.
  void begin(const void* previous) noexcept;

  /// As FieldReducer's. first_byte: where the bytes lie in the variable.
  std::uint64_t copy_nontemporal(std::size_t thread, std::size_t variable, void* to, const void* from,
                                 std::uint64_t first_byte, std::size_t bytes) noexcept {
    if (plug_ins_of_[variable] != nullptr) return copy_staged(thread, variable, to, from, first_byte, bytes);
    return field_of_[variable]->copy_nontemporal(thread, to, from, first_byte, bytes);
  }
  StagedBytes stage(std::size_t thread, std::size_t variable, const void* from, std::uint64_t first_byte,
                    std::size_t bytes) noexcept;
  /// Reduces bytes without copying them. payload: of the whole step; any number of bytes.
  void sweep(std::size_t thread, std::size_t variable, const void* payload, std::uint64_t first_byte,
             std::uint64_t bytes) noexcept;

  /// Sweeps all fields, which are now complete in the payload, `passes - 1` times more; the change is that of the
  /// first pass. Returns Catalogue::words words, which stay valid until the next call.
  std::span<const std::uint64_t> finish(const void* payload, int passes) noexcept;

  /// The same for a step in memory. payload, previous: aligned to 8 bytes; previous may be null; passes: at least 1.
  std::span<const std::uint64_t> reduce(const void* payload, const void* previous, int passes) noexcept;

 private:
  struct Field {
    std::unique_ptr<FieldReducer> reducer;
    std::unique_ptr<FieldPlugIns> plug_ins;  // null: none reduces this field
    std::size_t variable;
    std::uint64_t offset;       // in the payload
    std::uint64_t first_block;  // of all blocks of the step
    std::uint64_t first_bit;    // of its presence bits
    std::uint64_t first_word;   // of its values
  };

  StepReducer(const Schema& schema, std::unique_ptr<Team> own_team, Team* team, PlugInSet* plug_ins);
  std::uint64_t copy_staged(std::size_t thread, std::size_t variable, void* to, const void* from,
                            std::uint64_t first_byte, std::size_t bytes) noexcept;
  void sweep_blocks(std::size_t thread, std::size_t variable, const void* field, std::uint64_t first_block,
                    std::uint64_t end_block) noexcept;
  void sweep_all(const void* payload) noexcept;

  std::unique_ptr<Team> own_team_;  // if none was given
  Team& team_;
  Schema schema_;
  PlugInSet* plug_ins_;
  Catalogue catalogue_;
  ReductionScratch scratch_;
  std::vector<Field> fields_;
  std::vector<FieldReducer*> field_of_;  // by variable; null: a state
  std::vector<FieldPlugIns*> plug_ins_of_;  // by variable; null: none reduces it
  bool plug_ins_run_ = true;                // in this pass: in the first one of a step
  std::uint64_t blocks_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace ringside
