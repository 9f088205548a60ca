// SPDX-License-Identifier: BSD-3-Clause
// Makes the edges from counter-based random numbers: splitmix64 of seed, edge and level (Steele, Lea, Flood, OOPSLA
// 2014). Each edge is made twice.
#include "producer/matrix/rmat.hpp"

#include <omp.h>

#include <algorithm>

#include "common/threads/first_failure.hpp"
#include "common/threads/team.hpp"
#include "producer/matrix/csr_builder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;

std::uint64_t splitmix64(std::uint64_t x) noexcept {
  x += kGolden;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

constexpr std::uint32_t probability(double p) {
  return static_cast<std::uint32_t>(p * 4294967296.0);
}

struct Edges {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

Edges all_edges(const RmatOptions& options) {
  return {0, std::uint64_t{options.edge_factor} << options.scale};
}

// Passes these edges to a sink (a builder's Counter or Placer), from all threads. make_sink(): called once in each
// thread.
template <class MakeSink>
void make_edges(const RmatOptions& options, Edges edges, const MakeSink& make_sink) {
  constexpr std::uint32_t kA = probability(0.57);
  constexpr std::uint32_t kAB = probability(0.57 + 0.19);
  constexpr std::uint32_t kABC = probability(0.57 + 0.19 + 0.19);
  const std::uint64_t seed = splitmix64(options.seed);
  const auto make = [&](std::uint64_t first, std::uint64_t last) {
    auto sink = make_sink();
    for (std::uint64_t edge = first; edge < last; ++edge) {
      const std::uint64_t stream = splitmix64(seed ^ splitmix64(edge));
      std::uint32_t from = 0;
      std::uint32_t to = 0;
      std::uint64_t bits = 0;
      for (std::uint32_t level = 0; level < options.scale; ++level) {
        // A level needs 32 random bits, so one number is enough for two levels.
        bits = level % 2 == 0 ? splitmix64(stream + level * kGolden) : bits >> 32;
        const auto random = static_cast<std::uint32_t>(bits);
        // Quadrants in the order a (0,0), b (0,1), c (1,0), d (1,1). The choice is random, so the code has no
        // branches.
        const std::uint32_t lower = random >= kAB ? 1 : 0;
        const std::uint32_t right = (random >= kA ? 1u : 0u) ^ lower ^ (random >= kABC ? 1u : 0u);
        from = from * 2 + lower;
        to = to * 2 + right;
      }
      sink.add(from, to, 1);
    }
  };
  const auto threads = static_cast<std::uint64_t>(omp_get_max_threads());
  const std::uint64_t each = (edges.last - edges.first + threads - 1) / threads;
  FirstFailure failure;
#pragma omp parallel for schedule(static, 1)
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    const std::uint64_t first = std::min(edges.first + thread * each, edges.last);
    failure.guard([&] { make(first, std::min(first + each, edges.last)); });
  }
  failure.rethrow();
}

}  // namespace

CsrMatrix make_rmat(const RmatOptions& options, Orientation orientation) {
  const std::uint64_t rows = std::uint64_t{1} << options.scale;
  // A matrix that cannot fit into memory is refused before hours of counting. The estimate counts the offsets and half
  // of the columns, because duplicates collapse.
  require_memory(rows * sizeof(std::uint64_t) + rows * options.edge_factor * sizeof(std::uint32_t) / 2);
  CsrBuilder builder(rows, rows, orientation, false);
  make_edges(options, all_edges(options), [&] { return EntryCounter(builder); });
  builder.allocate();
  make_edges(options, all_edges(options), [&] { return EntryPlacer(builder); });
  return builder.finish();
}

CsrMatrix make_rmat_share(const RmatOptions& options, SharedBuilder::How how) {
  const std::uint64_t rows = std::uint64_t{1} << options.scale;
  const std::uint64_t edges = all_edges(options).last;
  const Edges own = {piece_begin(edges, how.with->share(), how.with->shares()),
                     piece_begin(edges, how.with->share() + 1, how.with->shares())};
  SharedBuilder builder(rows, rows, how, false);
  make_edges(options, own, [&] { return SharedBuilder::Counter(builder); });
  builder.allocate();
  make_edges(options, own, [&] { return SharedBuilder::Placer(builder); });
  return builder.finish();
}

}  // namespace ringside
