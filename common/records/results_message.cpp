// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/results_message.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "proto/ringside.pb.h"

namespace ringside {
namespace {

/// The marks of absence as bytes, the lowest bit first; empty if there is none.
void fill_absent(std::string& bytes, const ColumnCounts& counts, std::span<const std::uint64_t> words) {
  bytes.clear();
  const auto marks = words.first(counts.absence_words());
  if (std::ranges::all_of(marks, [](std::uint64_t word) { return word == 0; })) return;
  bytes.resize((counts.values() + 7) / 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(marks[i / 8] >> (8 * (i % 8)));
}

}  // namespace

void fill(wire::Results& message, const RecordLayout& layout, std::span<const std::uint64_t> words) {
  const ColumnCounts& counts = layout.counts();
  message.mutable_f64()->Resize(static_cast<int>(counts.f64), 0);
  message.mutable_i64()->Resize(static_cast<int>(counts.i64), 0);
  message.mutable_i128()->Resize(static_cast<int>(2 * counts.i128), 0);
  auto word = words.begin() + static_cast<std::ptrdiff_t>(counts.absence_words());
  for (double& value : *message.mutable_f64()) value = std::bit_cast<double>(*word++);
  for (auto& value : *message.mutable_i64()) value = static_cast<std::int64_t>(*word++);
  for (auto& value : *message.mutable_i128()) value = *word++;
  fill_absent(*message.mutable_absent(), counts, words);
  message.set_catalogue(layout.hash());
}

std::optional<ResultColumns> columns_of(const wire::Results& message) {
  std::vector<std::uint64_t> values;
  values.reserve(static_cast<std::size_t>(message.f64_size() + message.i64_size() + message.i128_size()));
  for (const double value : message.f64()) values.push_back(std::bit_cast<std::uint64_t>(value));
  for (const auto value : message.i64()) values.push_back(static_cast<std::uint64_t>(value));
  for (const auto value : message.i128()) values.push_back(value);
  return columns_of(static_cast<std::size_t>(message.f64_size()), static_cast<std::size_t>(message.i64_size()),
                    static_cast<std::size_t>(message.i128_size()), values, message.absent());
}

}  // namespace ringside
