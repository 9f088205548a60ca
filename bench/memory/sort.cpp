// SPDX-License-Identifier: BSD-3-Clause
// A merge sort of random words with a buffer of the same size (64 M words with --data 1G). The array is split
// recursively, so that at every size all work on a part ends before the next part begins: this is the cache-oblivious
// order (Frigo, Leiserson, Prokop, Ramachandran, FOCS 1999). Only the last, largest merges exceed DRAM.
#include <algorithm>
#include <cstdint>

#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"
#include "bench/memory/workload.hpp"

namespace {

using namespace ringside::bench;
using Words = std::span<std::uint64_t>;

constexpr std::size_t kInCache = 1 << 13;    // up to this many words (64 KiB) are sorted by std::sort
constexpr std::size_t kOneThread = 1 << 18;  // words that one thread sorts alone

/// Sorts `words` in place, or into `buffer` if `into_buffer`.
void merge_sort(Words words, Words buffer, bool into_buffer) {
  if (words.size() <= kInCache) {
    std::ranges::sort(words);
    if (into_buffer) std::ranges::copy(words, buffer.begin());
    return;
  }
  const std::size_t half = words.size() / 2;
#pragma omp task if (words.size() > kOneThread)
  merge_sort(words.first(half), buffer.first(half), !into_buffer);
  merge_sort(words.subspan(half), buffer.subspan(half), !into_buffer);
#pragma omp taskwait
  const Words from = into_buffer ? words : buffer;
  std::ranges::merge(from.first(half), from.subspan(half), (into_buffer ? buffer : words).begin());
}

Outcome measure(const Workload& workload) {
  const std::size_t n = workload.data_bytes / (2 * sizeof(std::uint64_t));
  const Words words = far_array_of<std::uint64_t>(n);
  const Words buffer = far_array_of<std::uint64_t>(n);
  arrays_reserved();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) words[i] = mix(workload.seed ^ mix(i));
  const double time_s = timed_s([&] {
#pragma omp parallel
#pragma omp single
    merge_sort(words, buffer, false);
  });
  std::uint64_t checksum = 0;
  std::uint64_t descents = 0;
#pragma omp parallel for schedule(static) reduction(+ : checksum, descents)
  for (std::size_t i = 0; i < n; ++i) {
    checksum += checked(i, words[i]);
    descents += i > 0 && words[i - 1] > words[i] ? 1U : 0U;
  }
  return {{{"sort_s", time_s}, {"words", n}, {"descents", descents}}, checksum};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, {"sort", "Sorts an array that may be larger than DRAM by a merge sort", {}, measure});
}
