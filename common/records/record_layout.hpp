// SPDX-License-Identifier: BSD-3-Clause
// The results of a run that its records contain, and the places of their values. A record contains the results that are
// numbers (count 1), including the solver's scalars: first all f64, then all i64, then all i128, each in the order of
// the catalogue. The words of a step in the recorder's queue have this order, and so have the columns of wire::Results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/handoff/step_descriptor.hpp"
#include "common/kernels/hash.hpp"
#include "common/results/catalogue.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

class RingView;

/// The number of a step's values of each type.
struct ColumnCounts {
  std::size_t f64 = 0;
  std::size_t i64 = 0;
  std::size_t i128 = 0;

  constexpr std::size_t values() const noexcept { return f64 + i64 + i128; }
  /// The number of words that mark absent values, with one bit for each value. These words come before all other words.
  constexpr std::size_t absence_words() const noexcept { return (values() + 63) / 64; }
  constexpr std::size_t words() const noexcept { return absence_words() + f64 + i64 + 2 * i128; }

  /// The type and the first word of the value with this number, if the columns are stored one after the other.
  constexpr ValueType type(std::size_t number) const noexcept {
    return number < f64 ? ValueType::kF64 : number < f64 + i64 ? ValueType::kI64 : ValueType::kI128;
  }
  constexpr std::size_t first_word(std::size_t number) const noexcept {
    const std::size_t wide = number > f64 + i64 ? number - f64 - i64 : 0;  // earlier values that take two words
    return absence_words() + number + wide;
  }
  bool operator==(const ColumnCounts&) const = default;
};

/// A result that records contain.
struct RecordedResult {
  const Result* result = nullptr;  // an element of the layout's catalogue
  std::size_t number = 0;
  std::size_t word = 0;  // the index of its first word among the words of the step
};

/// A RecordLayout is made once per run. The layout never changes, and all steps of the run share it.
class RecordLayout {
 public:
  RecordLayout(Schema schema, Catalogue catalogue);

  const Schema& schema() const noexcept { return schema_; }
  const Catalogue& catalogue() const noexcept { return catalogue_; }
  /// Identifies this layout in records: the hash of schema and catalogue, as in the ring.
  std::uint64_t hash() const noexcept { return hash_; }
  const ColumnCounts& counts() const noexcept { return counts_; }
  /// The number of words of a step.
  std::size_t words() const noexcept { return counts_.words(); }

  /// The results, in the order of the catalogue: the reductions of each field, then other results, then the scalars.
  std::span<const RecordedResult> results() const noexcept { return results_; }
  /// Null if records do not contain this result.
  const RecordedResult* find(std::string_view full_name) const noexcept;

  /// Copies a step's values to `words`, which has words() words. results: the words of the step in the catalogue's
  /// layout; if empty, all results are absent. step: contains the scalars; if null, they are absent. Does not allocate.
  void gather(std::span<const std::uint64_t> results, const StepWithScalars* step,
              std::span<std::uint64_t> words) const noexcept;

 private:
  Schema schema_;
  Catalogue catalogue_;  // owns the elements to which `results_` points
  std::uint64_t hash_;
  ColumnCounts counts_;
  std::vector<RecordedResult> results_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

using SharedLayout = std::shared_ptr<const RecordLayout>;

/// The description of a run's results that the ring's run table contains.
struct KnownRun {
  Id128 run_id;
  SharedLayout layout;
};

/// All runs that the ring's run table describes, by ascending record_seq.
std::vector<KnownRun> described_runs(const RingView& ring);

}  // namespace ringside
