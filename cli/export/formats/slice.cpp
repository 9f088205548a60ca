// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/formats/slice.hpp"

#include <cstring>

#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// The number in `text`; empty if the text is empty.
std::optional<std::uint64_t> number_of(const std::string& text, const std::string& dimension) {
  if (text.empty()) return std::nullopt;
  const std::optional<std::uint64_t> number = whole_number(text);
  if (!number) {
    throw usage_error(
        "--slice: found '{}', expected an index or start:stop[:step] for each dimension, with whole numbers from 0",
        shortened(dimension));
  }
  return number;
}

/// Copies the region's entries in the dimensions from `d` on. The dimensions from `inner` on are whole, so their
/// entries are contiguous.
void gather(const Region& region, std::size_t d, std::size_t inner, std::size_t stride_bytes, const std::byte* from,
            std::byte*& to) {
  if (d == inner) {
    std::memcpy(to, from, stride_bytes);
    to += stride_bytes;
    return;
  }
  const std::size_t below = stride_bytes / region.whole_shape[d];
  const IndexRange& range = region.ranges[d];
  for (std::uint64_t i = 0; i < range.count; ++i) {
    gather(region, d + 1, inner, below, from + (range.first + i * range.step) * below, to);
  }
}

bool is_whole(const Region& region, std::size_t d) {
  return region.ranges[d].count == region.whole_shape[d];
}

}  // namespace

std::vector<std::uint64_t> Region::shape() const {
  std::vector<std::uint64_t> shape;
  for (const IndexRange& range : ranges) {
    if (!range.dropped) shape.push_back(range.count);
  }
  return shape;
}

std::uint64_t Region::entries() const noexcept {
  std::uint64_t entries = 1;
  for (const IndexRange& range : ranges) entries *= range.count;
  return entries;
}

std::vector<IndexRange> indices_of(const Region& region, const ChunkPlace& place) {
  std::vector<IndexRange> indices;
  std::size_t left = 0;  // index of the dimension in the chunk
  for (const IndexRange& range : region.ranges) {
    if (range.dropped) {
      indices.push_back(range);
      continue;
    }
    const std::uint64_t first = range.first + place.first[left] * range.step;
    indices.push_back({.first = first, .count = place.count[left], .step = range.step});
    ++left;
  }
  return indices;
}

Slice::Slice(const std::string& text) {
  for (const std::string& one : parts_of(text, ',')) {
    const std::vector<std::string> numbers = parts_of(one, ':');
    Dimension dimension;
    dimension.text = one;
    dimension.is_index = numbers.size() == 1;
    dimension.start = number_of(numbers[0], one);
    if (numbers.size() > 1) dimension.stop = number_of(numbers[1], one);
    if (numbers.size() > 2) dimension.step = number_of(numbers[2], one).value_or(1);
    if (numbers.size() > 3 || dimension.step == 0 || (dimension.is_index && !dimension.start)) {
      throw usage_error(
          "--slice: found '{}', expected an index or start:stop[:step] for each dimension, with a step of at least 1",
          shortened(one));
    }
    dimensions_.push_back(std::move(dimension));
  }
}

Region Slice::of(const Variable& variable) const {
  if (dimensions_.size() > variable.shape.size()) {
    throw usage_error("--slice: found {} dimensions, '{}' has {} ({})", dimensions_.size(), variable.name,
                      variable.shape.size(), to_text(variable));
  }
  Region region{.whole_shape = variable.shape, .ranges = {}};
  for (std::size_t d = 0; d < variable.shape.size(); ++d) {
    const std::uint64_t extent = variable.shape[d];
    if (d >= dimensions_.size()) {
      region.ranges.push_back({.count = extent});
      continue;
    }
    const Dimension& wanted = dimensions_[d];
    const std::uint64_t start = wanted.start.value_or(0);
    const std::uint64_t stop = wanted.is_index ? start + 1 : wanted.stop.value_or(extent);
    if (start >= extent || stop > extent || stop <= start) {
      throw usage_error(
          "--slice: found '{}' for dimension {} of '{}', expected an index from 0 to {}, or start:stop with start < "
          "stop, up to {}",
          wanted.text, d, variable.name, extent - 1, extent);
    }
    region.ranges.push_back({.first = start,
                             .count = (stop - start - 1) / wanted.step + 1,
                             .step = wanted.step,
                             .dropped = wanted.is_index});
  }
  return region;
}

std::span<const std::byte> select(const Region& region, std::size_t entry_bytes, std::span<const std::byte> whole,
                                  std::vector<std::byte>& buffer) {
  const std::size_t dimensions = region.ranges.size();
  std::size_t inner = dimensions;  // all dimensions from `inner` on are whole
  std::size_t below = entry_bytes;
  while (inner > 0 && is_whole(region, inner - 1)) below *= region.whole_shape[--inner];
  if (inner == 0) return whole.first(below);

  // The entries are contiguous if one range has step 1 and each dimension before it has a single index.
  std::size_t offset = 0;
  std::size_t stride = below;
  bool together = region.ranges[inner - 1].step == 1 || region.ranges[inner - 1].count == 1;
  for (std::size_t d = inner; d-- > 0;) {
    offset += region.ranges[d].first * stride;
    stride *= region.whole_shape[d];
    if (d + 1 < inner) together = together && region.ranges[d].count == 1;
  }
  const std::size_t bytes = region.entries() * entry_bytes;
  if (together) return whole.subspan(offset, bytes);

  buffer.resize(bytes);
  std::byte* to = buffer.data();
  gather(region, 0, inner, stride, whole.data(), to);
  return buffer;
}

}  // namespace ringside
