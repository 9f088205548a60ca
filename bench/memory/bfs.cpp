// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search, one level at a time (the top-down part of Beamer, Asanović, Patterson, "Direction-optimizing
// BFS", SC 2012). Rows are read in the order in which the search found the vertices. The result is each vertex's depth,
// which, unlike its parent, does not depend on the threads.
#include <atomic>
#include <cstdint>

#include "bench/memory/graph.hpp"
#include "bench/memory/workload.hpp"

namespace {

using namespace ringside::bench;

constexpr std::uint32_t kUnseen = ~std::uint32_t{0};
int searches = 1;

// Returns the number of links that were followed.
std::uint64_t search(const Graph& graph, std::uint32_t source, std::span<std::uint32_t> depth,
                     std::span<std::uint32_t> front, std::span<std::uint32_t> next) {
#pragma omp parallel for schedule(static)
  for (std::uint32_t v = 0; v < graph.vertices; ++v) depth[v] = kUnseen;
  depth[source] = 0;
  front[0] = source;
  std::uint64_t followed = 0;
  std::uint64_t found = 1;
  for (std::uint32_t level = 1; found > 0; ++level) {
    std::atomic<std::uint64_t> end = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : followed)
    for (std::uint64_t f = 0; f < found; ++f) {
      const std::uint32_t from = front[f];
      followed += graph.begin[from + 1] - graph.begin[from];
      for (std::uint64_t i = graph.begin[from]; i < graph.begin[from + 1]; ++i) {
        const std::uint32_t to = graph.links[i];
        const std::atomic_ref seen(depth[to]);
        std::uint32_t expected = kUnseen;
        if (seen.load(std::memory_order_relaxed) == kUnseen &&
            seen.compare_exchange_strong(expected, level, std::memory_order_relaxed)) {
          next[end.fetch_add(1, std::memory_order_relaxed)] = to;
        }
      }
    }
    found = end;
    std::swap(front, next);
  }
  return followed;
}

Outcome measure(const Workload& workload) {
  Graph graph = reserved_graph(workload.data_bytes, 3 * sizeof(std::uint32_t));
  const std::uint32_t n = graph.vertices;
  const auto depth = far_array_of<std::uint32_t>(n);
  const auto front = far_array_of<std::uint32_t>(n);
  const auto next = far_array_of<std::uint32_t>(n);
  arrays_reserved();
  make_links(graph, workload.seed);
  std::vector<double> times_s;
  std::uint64_t checksum = 0;
  std::uint64_t followed = 0;
  for (int number = 0; number < searches; ++number) {
    const auto source = static_cast<std::uint32_t>(below(n, mix(workload.seed + static_cast<std::uint64_t>(number))));
    times_s.push_back(timed_s([&] { followed += search(graph, source, depth, front, next); }));
    for (std::uint32_t v = 0; v < n; ++v) checksum += checked(v, std::uint64_t{depth[v]});
  }
  return {{{"search_s", median_of(times_s)}, {"searches_s", spread_of(times_s)}, {"followed_links", followed}},
          checksum};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"bfs", "Searches, breadth first, a graph that may be larger than DRAM",
                      count_option("--searches", searches, "Searches, each from a different vertex"), measure});
}
