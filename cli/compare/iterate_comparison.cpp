// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/iterate_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace ringside {
namespace {

using Outcome = IterateComparison::Outcome;

/// A copy of a slot's chunk hashes; empty unless the slot's header confirms them.
std::vector<std::uint64_t> confirmed_hashes(const ComparedIterate& iterate) {
  const RingView& ring = *iterate.ring;
  const std::span<const std::uint64_t> stored = ring.chunk_hashes(iterate.kept.slot);
  std::vector<std::uint64_t> hashes(stored.begin(), stored.end());
  const StepWithScalars step = ring.step(iterate.kept.slot);
  const bool confirmed =
      payload_hash(hashes, step, ring.geometry().step_bytes()) == iterate.kept.header.payload_hash;
  return confirmed ? hashes : std::vector<std::uint64_t>();
}

bool still_holds(const ComparedIterate& iterate) {
  return iterate.ring->still_holds(iterate.kept.slot, iterate.kept.header);
}

std::vector<std::uint64_t> index_of(std::uint64_t entry, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; entry /= shape[d]) index[d] = entry % shape[d];
  return index;
}

/// Reads the bytes of two variables part by part, and finds the differences.
class Differences {
 public:
  explicit Differences(const Schema& schema) : schema_(schema) {
    for (std::size_t v = 0; v < schema.size(); ++v) found_.entries += schema.place(v).entries;
  }

  /// a, b: bytes of `variable`, from byte `begin` on: whole entries, possibly followed by the padding at the end of the
  /// variable.
  void compare(std::size_t variable, std::uint64_t begin, std::span<const std::byte> a, std::span<const std::byte> b) {
    const Variable& described = schema_.variables()[variable];
    const std::size_t each = bytes_of(described.dtype);
    const std::uint64_t first = begin / each;
    const std::uint64_t entries = std::min<std::uint64_t>(a.size() / each, schema_.place(variable).entries - first);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::byte* const left = a.data() + i * each;
      const std::byte* const right = b.data() + i * each;
      if (std::memcmp(left, right, each) == 0) continue;
      if (found_.entries_differing++ == 0) {
        found_.variable = described.name;
        found_.entry = first + i;
        found_.index = index_of(first + i, described.shape);
        found_.first = value_text(described.dtype, left);
        found_.second = value_text(described.dtype, right);
        found_.distance = distance(described.dtype, left, right);
      }
      if (found_.variables.empty() || found_.variables.back() != described.name) {
        found_.variables.push_back(described.name);
      }
    }
  }

  bool any() const noexcept { return found_.entries_differing > 0; }
  FirstDifference take() { return std::move(found_); }

 private:
  const Schema& schema_;
  FirstDifference found_;
};

/// Makes a verified copy of a chunk; false if its hash is not `expected`.
bool copy_chunk(const ComparedIterate& iterate, const PayloadParts::Part& part, std::uint64_t expected,
                std::vector<std::byte>& to) {
  to.resize(part.bytes);
  std::memcpy(to.data(), iterate.ring->payload(iterate.kept.slot) + part.offset, part.bytes);
  return hash64(to.data(), part.bytes) == expected;
}

/// The result of reading both slots. It is valid only if both slots still hold their commits.
IterateComparison judged(const ComparedIterate& first, const ComparedIterate& second, std::optional<bool> damaged_second,
                         Differences& differences) {
  IterateComparison result;
  if (!still_holds(first) || !still_holds(second)) {
    result.outcome = Outcome::kOverwritten;
  } else if (damaged_second) {
    result.outcome = Outcome::kDamaged;
    result.damaged_second = *damaged_second;
  } else if (differences.any()) {
    result.outcome = Outcome::kDiffers;
    result.difference = differences.take();
  }
  return result;
}

/// For rings with different chunk sizes: compares both payloads as a whole.
IterateComparison compare_payloads(const ComparedIterate& first, const ComparedIterate& second) {
  const Schema& schema = first.ring->geometry().schema();
  Differences differences(schema);
  std::optional<bool> damaged_second;
  std::vector<std::byte> payloads[2];
  for (const bool is_second : {false, true}) {
    const ComparedIterate& iterate = is_second ? second : first;
    payloads[is_second].resize(schema.payload_bytes());
    const ReadResult read =
        read_payload(*iterate.ring, iterate.kept.slot, iterate.kept.header, payloads[is_second].data());
    if (read.status == ReadStatus::kDamaged && !damaged_second) damaged_second = is_second;
  }
  for (std::size_t v = 0; v < schema.size() && !damaged_second; ++v) {
    const VariablePlace& place = schema.place(v);
    differences.compare(v, 0, std::span(payloads[0]).subspan(place.offset, place.bytes),
                        std::span(payloads[1]).subspan(place.offset, place.bytes));
  }
  return judged(first, second, damaged_second, differences);
}

}  // namespace

IterateComparison compare_iterates(const ComparedIterate& first, const ComparedIterate& second) {
  const RingGeometry& geometry = first.ring->geometry();
  if (geometry.chunk_bytes != second.ring->geometry().chunk_bytes) return compare_payloads(first, second);
  Differences differences(geometry.schema());
  const std::vector<std::uint64_t> hashes[2] = {confirmed_hashes(first), confirmed_hashes(second)};
  std::optional<bool> damaged_second;
  if (hashes[0].empty() || hashes[1].empty()) damaged_second = !hashes[0].empty();
  std::vector<std::byte> chunks[2];
  for (std::uint64_t c = 0; c < geometry.chunk_count() && !damaged_second; ++c) {
    if (hashes[0][c] == hashes[1][c]) continue;
    const PayloadParts::Part part = geometry.chunks[c];
    if (!copy_chunk(first, part, hashes[0][c], chunks[0])) damaged_second = false;
    if (!copy_chunk(second, part, hashes[1][c], chunks[1]) && !damaged_second) damaged_second = true;
    if (!damaged_second) differences.compare(part.variable, part.in_variable, chunks[0], chunks[1]);
  }
  return judged(first, second, damaged_second, differences);
}

std::string place_text(const FirstDifference& difference) {
  if (difference.index.empty()) return difference.variable;
  return fmt::format("{}[{}]", difference.variable, fmt::join(difference.index, ", "));
}

}  // namespace ringside
