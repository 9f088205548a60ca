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
  if (message.i128_size() % 2 != 0) return std::nullopt;
  ResultColumns columns;
  columns.counts = {.f64 = static_cast<std::size_t>(message.f64_size()),
                    .i64 = static_cast<std::size_t>(message.i64_size()),
                    .i128 = static_cast<std::size_t>(message.i128_size()) / 2};
  const std::string& absent = message.absent();
  const std::size_t values = columns.counts.values();
  if (!absent.empty() && absent.size() != (values + 7) / 8) return std::nullopt;
  columns.words.reserve(columns.counts.words());
  columns.words.resize(columns.counts.absence_words());
  for (std::size_t i = 0; i < absent.size(); ++i) {
    columns.words[i / 8] |= std::uint64_t{static_cast<unsigned char>(absent[i])} << (8 * (i % 8));
  }
  if (values % 64 != 0 && columns.words.size() > 0 && columns.words.back() >> (values % 64) != 0) return std::nullopt;
  for (const double value : message.f64()) columns.words.push_back(std::bit_cast<std::uint64_t>(value));
  for (const auto value : message.i64()) columns.words.push_back(static_cast<std::uint64_t>(value));
  for (const auto value : message.i128()) columns.words.push_back(value);
  return columns;
}

}  // namespace ringside
