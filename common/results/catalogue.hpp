// SPDX-License-Identifier: BSD-3-Clause
// The catalogue of a run: all results that the run records for each step, by full name, and the places of their values
// (docs/publish/variables.md, sections 3 and 4.4). A catalogue is made once per run; the code that runs for each step
// uses only the places.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// One result of a run.
struct Result {
  std::string full_name;  // for example "x.l2"
  std::string unit;
  ValueType type = ValueType::kF64;
  ResultSource source = ResultSource::kOther;
  std::uint32_t count = 1;
  std::uint32_t flags = 0;
  Id128 origin{};                 // for a plug-in's reduction: its id; otherwise 0
  std::uint32_t description = 0;  // the index of its description
  std::uint32_t variable = 0;     // for a reduction: the index of its variable
  std::uint64_t bit = 0;          // its presence bit, counted from the first word; unused by a scalar
  std::uint64_t word = 0;         // the index of its first word in the step; for a scalar: its index among the scalars
};

/// Copies share the content.
class Catalogue {
 public:
  /// The results of a run with these variables: every reduction of every field, then the scalars, then `others`. Throws
  /// Error (exit code 2), whose text begins with `where`, for an invalid name, a repeated full name, more than 64
  /// scalars, or more words than kMostResultWords.
  static Catalogue of(const Schema& schema, std::span<const ResultDescription> reductions,
                      std::span<const Scalar> scalars = {}, std::span<const ResultDescription> others = {},
                      std::string_view where = "results");

  /// Rebuilds a catalogue from its `descriptions()`, which come from a file or a peer and may be hostile. Throws Error
  /// (exit code 2), whose text begins with `where`.
  static Catalogue decode(const Schema& schema, std::span<const ResultDescription> descriptions,
                          std::string_view where);

  std::span<const ResultDescription> descriptions() const noexcept;

  /// The results, in the order of their words. The scalars, which have no words here, are last.
  std::span<const Result> results() const noexcept;
  const Result* find(std::string_view full_name) const noexcept;

  std::span<const Scalar> scalars() const noexcept;

  /// The number of words of a step, and the number of words at the beginning that are presence bits. Scalars have no
  /// words here.
  std::uint64_t words() const noexcept;
  std::uint64_t presence_words() const noexcept;

 private:
  struct Content;
  explicit Catalogue(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

}  // namespace ringside
