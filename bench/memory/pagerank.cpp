// SPDX-License-Identifier: BSD-3-Clause
// PageRank by pulling, as in the GAP Benchmark Suite (Beamer, Asanović, Patterson, 2015): a row lists the vertices that
// link to it. An iteration divides each rank by its out-degree and adds up over rows. Links and rows are read as
// streams, the shares by random accesses. Each row is added up in order by one thread, so that the bits do not depend
// on the number of threads.
#include <cstdint>

#include "bench/memory/graph.hpp"
#include "bench/memory/workload.hpp"

namespace {

using namespace ringside::bench;

int iterations = 3;

Outcome measure(const Workload& workload) {
  constexpr double kDamping = 0.85;
  Graph graph = reserved_graph(workload.data_bytes, 2 * sizeof(double) + sizeof(std::uint32_t));
  const std::uint32_t n = graph.vertices;
  const auto rank = far_array_of<double>(n);
  const auto share = far_array_of<double>(n);
  const auto out_degree = far_array_of<std::uint32_t>(n);
  arrays_reserved();
  make_links(graph, workload.seed);
  for (std::uint32_t v = 0; v < n; ++v) rank[v] = 1.0 / n;
  for (std::uint64_t i = 0; i < graph.begin[n]; ++i) ++out_degree[graph.links[i]];
  std::vector<double> times_s;
  for (int iteration = 0; iteration <= iterations; ++iteration) {
    const double time_s = timed_s([&] {
#pragma omp parallel for schedule(static)
      for (std::uint32_t v = 0; v < n; ++v) share[v] = out_degree[v] == 0 ? 0 : rank[v] / out_degree[v];
#pragma omp parallel for schedule(static)
      for (std::uint32_t v = 0; v < n; ++v) {
        double sum = 0;
        for (std::uint64_t i = graph.begin[v]; i < graph.begin[v + 1]; ++i) sum += share[graph.links[i]];
        rank[v] = (1 - kDamping) / n + kDamping * sum;
      }
    });
    if (iteration > 0) times_s.push_back(time_s);
  }
  return {{{"iteration_s", median_of(times_s)},
           {"iterations_s", spread_of(times_s)},
           {"vertices", n},
           {"links", graph.begin[n]}},
          checksum_of(rank)};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"pagerank", "Computes PageRank of a graph that may be larger than DRAM",
                      count_option("--iterations", iterations, "Measured iterations"), measure});
}
