// SPDX-License-Identifier: BSD-3-Clause
// A directed graph in compressed rows, generated row by row from a seed, for pagerank and bfs. A row has 8 to 23 links:
// half of them lead to near vertices, the other half to any vertices, most often to the first ones. Therefore the graph
// has the locality and the hubs of a web graph. The graph is written as a stream, which is fast in slow memory, too.
#pragma once

#include <cstdint>
#include <span>

#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"

namespace ringside::bench {

struct Graph {
  std::uint32_t vertices = 0;
  std::span<std::uint64_t> begin;  // vertices + 1 values: for each row, the index in `links` at which it begins
  std::span<std::uint32_t> links;
};

constexpr std::uint64_t kLinksPerVertex = 16;  // average space for a row's links: a row has 8 + (0 .. 15) links

/// Reserves the arrays of a graph with as many vertices as fit into `bytes`. Each vertex also needs `bytes_per_vertex`
/// bytes of the caller's data.
inline Graph reserved_graph(std::uint64_t bytes, std::uint64_t bytes_per_vertex) {
  constexpr std::uint64_t kRow = kLinksPerVertex * sizeof(std::uint32_t) + sizeof(std::uint64_t);
  Graph graph;
  graph.vertices = static_cast<std::uint32_t>(bytes / (kRow + bytes_per_vertex));
  graph.begin = far_array_of<std::uint64_t>(graph.vertices + std::uint64_t{1});
  graph.links = far_array_of<std::uint32_t>(graph.vertices * kLinksPerVertex + kLinksPerVertex);
  return graph;
}

/// Writes rows and links with one thread, because a row begins where the previous one ends.
inline void make_links(Graph& graph, std::uint64_t seed) {
  constexpr std::uint64_t kNear = 1 << 14;
  std::uint64_t at = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    graph.begin[vertex] = at;
    std::uint64_t state = mix(seed ^ mix(vertex));
    // The average is 15.5, so it is unlikely that the links exceed the array. The loop's second condition ends the list
    // before the links could exceed the array.
    const std::uint64_t degree = 8 + (state & 15);
    for (std::uint64_t i = 0; i < degree && at < graph.links.size(); ++i) {
      state = mix(state);
      std::uint64_t to = 0;
      if (i % 2 == 0) {
        to = (vertex + graph.vertices - kNear % graph.vertices + below(2 * kNear, state)) % graph.vertices;
      } else {
        const double draw = unit(state);
        to = static_cast<std::uint64_t>(draw * draw * draw * static_cast<double>(graph.vertices));
      }
      graph.links[at++] = static_cast<std::uint32_t>(to);
    }
  }
  graph.begin[graph.vertices] = at;
}

}  // namespace ringside::bench
