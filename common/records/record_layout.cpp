// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/record_layout.hpp"

#include <algorithm>
#include <utility>

#include "common/platform/error.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

RecordLayout::RecordLayout(Schema schema, Catalogue catalogue)
    : schema_(std::move(schema)),
      catalogue_(std::move(catalogue)),
      hash_(catalogue_hash(catalogue_.descriptions(), schema_.id())) {
  for (const Result& result : catalogue_.results()) {
    if (result.count != 1) continue;
    results_.push_back({.result = &result});
    ++(result.type == ValueType::kF64 ? counts_.f64 : result.type == ValueType::kI64 ? counts_.i64 : counts_.i128);
  }
  std::size_t next_f64 = 0;
  std::size_t next_i64 = counts_.f64;
  std::size_t next_i128 = counts_.f64 + counts_.i64;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    RecordedResult& recorded = results_[i];
    const ValueType type = recorded.result->type;
    recorded.number = (type == ValueType::kF64 ? next_f64 : type == ValueType::kI64 ? next_i64 : next_i128)++;
    recorded.word = counts_.first_word(recorded.number);
    by_name_.emplace(recorded.result->full_name, i);
  }
}

const RecordedResult* RecordLayout::find(std::string_view full_name) const noexcept {
  const auto found = by_name_.find(full_name);
  return found == by_name_.end() ? nullptr : &results_[found->second];
}

void RecordLayout::gather(std::span<const std::uint64_t> results, const StepWithScalars* step,
                          std::span<std::uint64_t> words) const noexcept {
  std::fill_n(words.begin(), counts_.absence_words(), 0);
  const auto absent = [&words](const RecordedResult& recorded) {
    words[recorded.number / 64] |= std::uint64_t{1} << (recorded.number % 64);
    std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(recorded.word), words_of(recorded.result->type), 0);
  };
  for (const RecordedResult& recorded : results_) {
    const Result& result = *recorded.result;
    if (result.source == ResultSource::kScalar) {
      if (step == nullptr) {
        absent(recorded);
      } else {
        words[recorded.word] = step->scalar(result.word);
      }
      continue;
    }
    const bool present = !results.empty() && (results[result.bit / 64] >> (result.bit % 64) & 1) != 0;
    if (!present) {
      absent(recorded);
      continue;
    }
    words[recorded.word] = results[result.word];
    if (result.type == ValueType::kI128) words[recorded.word + 1] = results[result.word + 1];
  }
}

std::vector<KnownRun> described_runs(const RingView& ring) {
  std::vector<KnownRun> runs;
  for (const RunReading& reading : ring.runs()) {
    try {
      Catalogue catalogue = Catalogue::decode(ring.geometry().schema(), reading.catalogue, "catalogue");
      runs.push_back(
          {reading.run.run_id, std::make_shared<const RecordLayout>(ring.geometry().schema(), std::move(catalogue))});
    } catch (const Error&) {  // the hash is correct, but a program that can write the file can also write the hash
    }
  }
  return runs;
}

}  // namespace ringside
