// SPDX-License-Identifier: BSD-3-Clause
// Matrices that are small enough to check by hand, and generated matrices with a known structure. The matrices are
// built in the simplest way: the entries are sorted, and then written row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside::reference {

/// Entry (row, column) of the matrix, in the orientation of the input: for a graph, a link from `row` to `column`.
struct Entry {
  std::uint64_t row;
  std::uint64_t column;
  double value = 1;
};

/// n x n. If entries are duplicates, the last one counts. kInLinks stores the transpose. with_values: the matrix keeps
/// the values; otherwise it is a pattern.
inline CsrMatrix build_matrix(std::uint64_t n, const std::vector<Entry>& entries, Orientation orientation,
                              bool with_values) {
  std::vector<Entry> sorted = entries;
  if (orientation == Orientation::kInLinks) {
    for (Entry& e : sorted) std::swap(e.row, e.column);
  }
  const auto is_before = [](const Entry& a, const Entry& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(), is_before);
  // If several entries have the same place, the last one is kept: in the reversed list, this is the first one, which
  // unique keeps.
  std::reverse(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const Entry& a, const Entry& b) { return a.row == b.row && a.column == b.column; }),
               sorted.end());
  std::reverse(sorted.begin(), sorted.end());
  CsrMatrix matrix;
  matrix.rows = n;
  matrix.columns = n;
  matrix.orientation = orientation;
  matrix.row_begin = Array<std::uint64_t>(n + 1);
  matrix.column = Array<std::uint32_t>(sorted.size());
  if (with_values) matrix.value = Array<double>(sorted.size());
  std::uint64_t e = 0;
  for (const auto& [row, column, value] : sorted) {
    ++matrix.row_begin[row + 1];
    matrix.column[e] = static_cast<std::uint32_t>(column);
    if (with_values) matrix.value[e] = value;
    ++e;
  }
  for (std::uint64_t row = 0; row < n; ++row) matrix.row_begin[row + 1] += matrix.row_begin[row];
  return matrix;
}

inline CsrMatrix build_rows(std::uint64_t n, const std::vector<Entry>& entries) {
  return build_matrix(n, entries, Orientation::kRows, true);
}

inline CsrMatrix build_graph(std::uint64_t nodes, const std::vector<Entry>& links) {
  return build_matrix(nodes, links, Orientation::kInLinks, false);
}

inline CsrMatrix build_weighted_graph(std::uint64_t nodes, const std::vector<Entry>& links) {
  return build_matrix(nodes, links, Orientation::kInLinks, true);
}

/// The grid graph of side x side nodes, each linked with its up to eight neighbours.
inline std::vector<Entry> grid_links(std::uint64_t side) {
  std::vector<Entry> links;
  const auto n = static_cast<std::int64_t>(side);
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column < n; ++column) {
      for (std::int64_t r = std::max<std::int64_t>(row - 1, 0); r <= std::min(row + 1, n - 1); ++r) {
        for (std::int64_t c = std::max<std::int64_t>(column - 1, 0); c <= std::min(column + 1, n - 1); ++c) {
          if (r == row && c == column) continue;
          links.push_back({static_cast<std::uint64_t>(row * n + column), static_cast<std::uint64_t>(r * n + c)});
        }
      }
    }
  }
  return links;
}

/// `links`, from which each link is dropped with the probability `drop`.
inline std::vector<Entry> thinned(const std::vector<Entry>& links, double drop, unsigned seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution dropped(drop);
  std::vector<Entry> kept;
  for (const Entry& link : links) {
    if (!dropped(random)) kept.push_back(link);
  }
  return kept;
}

/// `count` links between random nodes. Nodes with low numbers are linked to more often; some have no outgoing links.
inline std::vector<Entry> random_links(std::uint64_t nodes, std::uint64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  std::vector<Entry> links;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double u = part(random);
    const auto source = static_cast<std::uint64_t>(part(random) * static_cast<double>(nodes));
    const auto target = static_cast<std::uint64_t>(u * u * u * static_cast<double>(nodes));
    if (source % 7 != 3) links.push_back({source, target, 0.25 + part(random)});
  }
  return links;
}

/// Every node is linked to the nodes at the given distances, if these nodes exist.
inline std::vector<Entry> band_links(std::uint64_t nodes, const std::vector<std::int64_t>& distances) {
  std::vector<Entry> links;
  for (std::uint64_t i = 0; i < nodes; ++i) {
    for (const std::int64_t distance : distances) {
      const std::int64_t j = static_cast<std::int64_t>(i) + distance;
      if (j >= 0 && j < static_cast<std::int64_t>(nodes)) links.push_back({i, static_cast<std::uint64_t>(j)});
    }
  }
  return links;
}

/// Links like those of a web site. A few hubs have links from nearly all pages; some pages have links from stretches
/// of neighbouring pages, and some of these share one template; the others have any number of links. Some pages link to
/// distant pages, or have no links.
inline std::vector<Entry> site_links(std::uint64_t nodes, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Entry> links;
  const auto stretch = [&](std::uint64_t target, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < std::min(first + count, nodes); ++i) {
      if (i % 11 != 5) links.push_back({i, target});
    }
  };
  for (std::uint64_t target = 0; target < nodes; ++target) {
    const std::uint64_t kind = random() % 64;
    if (kind == 0) {
      stretch(target, random() % 50, nodes);  // a hub
    } else if (kind < 8) {
      for (int i = 0; i < 5; ++i) stretch(target, random() % nodes, random() % 60);
    } else if (kind < 24) {
      stretch(target, target / 40 * 40, 40);  // links from its whole stretch, the same as for its neighbours
    } else {
      for (std::uint64_t i = random() % 40; i > 0; --i) links.push_back({random() % nodes, target});
    }
  }
  return links;
}

/// `links`, and a link from `hub` to every node. The columns of the rows then increase by one from row to row, except
/// the column of the hub.
inline std::vector<Entry> with_hub(std::vector<Entry> links, std::uint64_t nodes, std::uint64_t hub) {
  for (std::uint64_t i = 0; i < nodes; ++i) links.push_back({hub, i});
  return links;
}

}  // namespace ringside::reference
