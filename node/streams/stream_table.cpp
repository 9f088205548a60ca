// SPDX-License-Identifier: BSD-3-Clause
#include "node/streams/stream_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "common/kernels/isa.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

using enum StreamSource;
using enum StreamShape;
using Loops = StreamLoops;

constexpr double kLineBytes = 64;  // the bytes that an access to a line of its own moves
constexpr double kIndexBytes = 4;
constexpr std::string_view kSum4 = "a[i] = b[i] + c[i] + d[i] + e[i]";

// Columns: name, source, figure, loop; shape, nontemporal; arrays: needed, read, written; bytes per element: read,
// written, moved; flops per element. A plain store moves 16 bytes, because its line is first read and later written.
constexpr StreamKernel kKernels[] = {
    {"read", kStream, "", "sum += a[i]", kLine, false, 1, 1, 0, 8, 0, 8, 1, &Loops::read},
    {"copy", kStream, "", "c[i] = a[i]", kLine, false, 3, 1, 1, 8, 8, 24, 0, &Loops::copy},
    {"copy_nontemporal", kStream, "", "c[i] = a[i]", kLine, true, 3, 1, 1, 8, 8, 16, 0, &Loops::copy_nontemporal},
    {"scale", kStream, "", "b[i] = s * c[i]", kLine, false, 3, 1, 1, 8, 8, 24, 1, &Loops::scale},
    {"scale_nontemporal", kStream, "", "b[i] = s * c[i]", kLine, true, 3, 1, 1, 8, 8, 16, 1, &Loops::scale_nontemporal},
    {"add", kStream, "", "c[i] = a[i] + b[i]", kLine, false, 3, 2, 1, 16, 8, 32, 1, &Loops::add},
    {"add_nontemporal", kStream, "", "c[i] = a[i] + b[i]", kLine, true, 3, 2, 1, 16, 8, 24, 1, &Loops::add_nontemporal},
    {"triad", kStream, "", "a[i] = b[i] + s * c[i]", kLine, false, 3, 2, 1, 16, 8, 32, 2, &Loops::triad},
    {"triad_nontemporal", kStream, "", "a[i] = b[i] + s * c[i]", kLine, true, 3, 2, 1, 16, 8, 24, 2,
     &Loops::triad_nontemporal},

    {"write_only", kPatil, "3a", "a[i] = s", kLine, false, 1, 0, 1, 0, 8, 16, 0, &Loops::write_only},
    {"write_read4", kPatil, "3b", kSum4, kLine, false, 5, 4, 1, 32, 8, 48, 3, &Loops::write_read4},
    // The paper does not state the number of repetitions; here each loop is done twice, and both repetitions together
    // are one element.
    {"write_read4_twice", kPatil, "4a", "a1[i] = b1[i] + c1[i] + d1[i] + e1[i]; a2[i] = b2[i] + ...", kLine, false, 10,
     8, 2, 64, 16, 96, 6, &Loops::write_read4_twice},
    // Each access is to a line of its own: four lines are read, and the line of the store is read and written.
    {"stride", kPatil, "4b", "a[16 i] = b[16 i] + c[16 i] + d[16 i] + e[16 i]", kStride, false, 5, 4, 1, 32, 8,
     6 * kLineBytes, 3, &Loops::stride},
    {"random", kPatil, "5a", "a[k[i]] = b[k[i]] + ... + e[k[i]], k at random", kRandom, false, 5, 4, 1,
     32 + kIndexBytes, 8, 6 * kLineBytes + kIndexBytes, 3, &Loops::order},
    {"past_cache", kPatil, "5b", "a[k[i]] = b[k[i]] + ... + e[k[i]], k[i + 1] - k[i] = last-level cache", kPastCache,
     false, 5, 4, 1, 32 + kIndexBytes, 8, 6 * kLineBytes + kIndexBytes, 3, &Loops::order},
    {"rows_first", kPatil, "6a", "A[i][j] = B[i][j] + C[i][j], j innermost", kMatrixRows, false, 3, 2, 1, 16, 8, 32, 1,
     &Loops::rows_first},
    // These moved bytes are the minimum, also for the next loop. They assume that a line stays in a cache until its
    // other columns are read.
    {"columns_first", kPatil, "6b", "A[i][j] = B[i][j] + C[i][j], i innermost", kMatrixColumns, false, 3, 2, 1, 16, 8,
     32, 1, &Loops::columns_first},
    {"mixed", kPatil, "7a", "A[i][j] = B[i][j] + C[j][i], j innermost", kMatrixRows, false, 3, 2, 1, 16, 8, 32, 1,
     &Loops::mixed},
    // Eight of the nine reads come from a cache.
    {"stencil9", kPatil, "7b", "A[i][j] = (sum of 3 x 3 around B[i][j]) / 9", kMatrixInside, false, 2, 1, 1, 72, 8, 24,
     9, &Loops::stencil9},
};

const StreamLoops& loops() noexcept {
  return *select(&plain::kStreamLoops, &avx2::kStreamLoops, &avx512::kStreamLoops);
}

}  // namespace

std::span<const StreamKernel> stream_kernels() noexcept {
  return kKernels;
}

const StreamKernel* find_stream_kernel(std::string_view name) noexcept {
  for (const StreamKernel& kernel : kKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

const StreamKernel& stream_kernel(std::string_view name) {
  if (const StreamKernel* kernel = find_stream_kernel(name)) return *kernel;
  std::string names;
  for (const StreamKernel& kernel : kKernels) names += fmt::format("{}{}", names.empty() ? "" : ", ", kernel.name);
  throw usage_error("found the loop '{}', expected one of {}", name, names);
}

const StreamKernel* nontemporal_variant(const StreamKernel& kernel) noexcept {
  constexpr std::string_view kEnding = "_nontemporal";
  for (const StreamKernel& other : kKernels) {
    if (other.nontemporal && other.name.substr(0, other.name.size() - kEnding.size()) == kernel.name) return &other;
  }
  return nullptr;
}

std::uint64_t matrix_side(std::uint64_t elements) noexcept {
  auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements)));
  while (side * side > elements) --side;
  while ((side + 1) * (side + 1) <= elements) ++side;
  return side;
}

std::uint64_t stream_units(const StreamKernel& kernel, std::uint64_t elements) noexcept {
  const std::uint64_t side = matrix_side(elements);
  switch (kernel.shape) {
    case kStride: return (elements + kStreamStride - 1) / kStreamStride;
    case kMatrixRows:
    case kMatrixColumns: return side;
    case kMatrixInside: return side < 2 ? 0 : side - 2;
    case kLine:
    case kRandom:
    case kPastCache: break;
  }
  return elements;
}

std::uint64_t stream_elements(const StreamKernel& kernel, std::uint64_t elements) noexcept {
  const std::uint64_t units = stream_units(kernel, elements);
  switch (kernel.shape) {
    case kMatrixRows:
    case kMatrixColumns: return units * units;
    case kMatrixInside: return units * units;
    case kLine:
    case kStride:
    case kRandom:
    case kPastCache: break;
  }
  return units;
}

double run_portion(const StreamKernel& kernel, const StreamArguments& on, std::uint64_t begin,
                   std::uint64_t end) noexcept {
  return (loops().*kernel.run)(on, begin, end);
}

void fill_random_order(std::span<std::uint32_t> order) noexcept {
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::uint64_t state = 0x9E3779B97F4A7C15;  // SplitMix64, public domain (Steele, Lea, Flood 2014)
  for (std::size_t left = order.size(); left > 1; --left) {
    std::uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    std::swap(order[left - 1], order[(z ^ (z >> 31)) % left]);
  }
}

void fill_order_apart(std::span<std::uint32_t> order, std::uint64_t apart) noexcept {
  std::uint64_t place = 0;
  for (std::uint64_t first = 0; first < apart && first < order.size(); ++first) {
    for (std::uint64_t index = first; index < order.size(); index += apart) {
      order[place++] = static_cast<std::uint32_t>(index);
    }
  }
}

}  // namespace ringside
