// SPDX-License-Identifier: BSD-3-Clause
#include "node/benches/stream_bench.hpp"

#include <algorithm>
#include <utility>

#include "common/threads/team.hpp"
#include "node/streams/stream_table.hpp"
#include "node/streams/thread_groups.hpp"

namespace ringside {
namespace {

constexpr int kStreamArrays = 3;
constexpr int kStreamRepeats = 3;           // the repeats per call, after one repeat that warms up
constexpr std::uint64_t kRowOfPages = 512;  // doubles in a page
constexpr std::uint64_t kCacheBytesIfUnknown = std::uint64_t{32} << 20;

}  // namespace

StreamBench::StreamBench(const Tier& tier, std::vector<int> cpus, std::uint64_t elements)
    : cpus_(std::move(cpus)), elements_(elements), arrays_(make_arrays(tier, kStreamArrays, elements)) {
  // First each thread touches its part of the arrays, so that the pages come from the node on which most threads run.
  const auto touch = [this](int thread) {
    const auto part = static_cast<std::uint64_t>(thread);
    const std::uint64_t begin = piece_begin(elements_, part, cpus_.size());
    const std::uint64_t end = piece_begin(elements_, part + 1, cpus_.size());
    for (const TierMemory& array : arrays_) std::fill(array.data() + begin, array.data() + end, 1.0);
  };
  (void)run_group({.cpus = cpus_, .prepare = touch, .repeat = [](int) {}},
                  {.pace = Repetitions::Pace::kTogether, .repeats = 1});
}

void StreamBench::measure(const std::string& kernel, int threads, std::vector<double>& samples) const {
  const StreamKernel& loop = stream_kernel(kernel);
  StreamArguments on;
  for (int array = 0; array < kStreamArrays; ++array)
    on.arrays[array] = arrays_[static_cast<std::size_t>(array)].data();
  on.elements = elements_;
  const std::uint64_t units = stream_units(loop, elements_);
  const auto count = static_cast<std::uint64_t>(threads);
  const auto repeat = [&](int thread) {
    const auto part = static_cast<std::uint64_t>(thread);
    run_portion(loop, on, piece_begin(units, part, count), piece_begin(units, part + 1, count));
  };
  const GroupTimes times =
      run_group({.cpus = {cpus_.begin(), cpus_.begin() + threads}, .prepare = {}, .repeat = repeat},
                {.pace = Repetitions::Pace::kTogether, .repeats = 1 + kStreamRepeats});
  const std::vector<double> took_s = times.seconds();
  const double counted_gb = loop.counted_bytes() * static_cast<double>(stream_elements(loop, elements_)) * 1e-9;
  for (std::size_t n = 1; n < took_s.size(); ++n) samples.push_back(counted_gb / std::max(took_s[n], 1e-9));
}

std::uint64_t stream_elements_for(const Tier& tier, std::uint64_t cache_bytes) {
  const std::uint64_t cache_elements = (cache_bytes == 0 ? kCacheBytesIfUnknown : cache_bytes) / sizeof(double);
  const std::uint64_t share = tier.kind == TierKind::kDram ? 2 : 8;  // less for other tiers: only DRAM must be measured
  const std::uint64_t most = available_bytes(tier) / share / kStreamArrays / sizeof(double);
  const std::uint64_t elements = std::min(4 * cache_elements, most) / kRowOfPages * kRowOfPages;
  if (tier.kind == TierKind::kDram) return std::max(elements, kRowOfPages);
  return elements < cache_elements ? 0 : elements;
}

}  // namespace ringside
