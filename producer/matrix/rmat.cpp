// SPDX-License-Identifier: BSD-3-Clause
// Counter-based random numbers (splitmix64 of seed, edge and level; Steele, Lea, Flood, OOPSLA 2014), read twice.
#include "producer/matrix/rmat.hpp"

#include "common/platform/error.hpp"
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

// Gives each of these edges to a Sink (EntryCounter or EntryPlacer), from all threads. make_sink(): one for each thread.
template <class MakeSink>
void make_edges(const RmatOptions& options, Edges edges, const MakeSink& make_sink) {
  constexpr std::uint32_t kA = probability(0.57);
  constexpr std::uint32_t kAB = probability(0.57 + 0.19);
  constexpr std::uint32_t kABC = probability(0.57 + 0.19 + 0.19);
  const std::uint64_t seed = splitmix64(options.seed);
#pragma omp parallel
  {
    auto sink = make_sink();
#pragma omp for schedule(static)
    for (std::uint64_t edge = edges.first; edge < edges.last; ++edge) {
      const std::uint64_t stream = splitmix64(seed ^ splitmix64(edge));
      std::uint32_t from = 0;
      std::uint32_t to = 0;
      std::uint64_t bits = 0;
      for (std::uint32_t level = 0; level < options.scale; ++level) {
        // 32 random bits per level: one number serves two levels.
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
  }
}

/// Gives a builder of a part the entries of its rows, which count from 0 there.
template <class Sink>
class OwnRows {
 public:
  OwnRows(CsrBuilder& builder, Orientation orientation, std::uint64_t first, std::uint64_t last)
      : sink_(builder), as_written_(orientation == Orientation::kRows), first_(first), rows_(last - first) {}

  void add(std::uint32_t i, std::uint32_t j, double value) noexcept {
    const std::uint64_t row = (as_written_ ? i : j) - first_;
    if (row >= rows_) return;  // also where it is less than `first_`
    const auto own = static_cast<std::uint32_t>(row);
    as_written_ ? sink_.add(own, j, value) : sink_.add(i, own, value);
  }

 private:
  Sink sink_;
  bool as_written_;
  std::uint64_t first_;
  std::uint64_t rows_;
};

/// Counts by blocks of rows, for each thread apart.
class BlockCounter {
 public:
  BlockCounter(std::vector<std::uint64_t>& counts, Orientation orientation, std::uint64_t block_rows)
      : counts_(counts), own_(counts.size()), as_written_(orientation == Orientation::kRows), block_rows_(block_rows) {}
  ~BlockCounter() {
#pragma omp critical(ringside_rmat_blocks)
    for (std::size_t block = 0; block < own_.size(); ++block) counts_[block] += own_[block];
  }
  BlockCounter(const BlockCounter&) = delete;
  BlockCounter& operator=(const BlockCounter&) = delete;

  void add(std::uint32_t i, std::uint32_t j, double) noexcept { ++own_[(as_written_ ? i : j) / block_rows_]; }

 private:
  std::vector<std::uint64_t>& counts_;
  std::vector<std::uint64_t> own_;
  bool as_written_;
  std::uint64_t block_rows_;
};

}  // namespace

void check_rmat(const RmatOptions& options) {
  if (options.scale < 1 || options.scale > 31) {
    throw usage_error("rmat:{}: found scale {}, expected a scale from 1 to 31", options.scale, options.scale);
  }
  if (options.edge_factor < 1 || options.edge_factor > 1024) {
    throw usage_error("rmat:{}:{}: found edge factor {}, expected an edge factor from 1 to 1024", options.scale,
                      options.edge_factor, options.edge_factor);
  }
}

CsrMatrix make_rmat(const RmatOptions& options, Orientation orientation) {
  check_rmat(options);
  const std::uint64_t rows = std::uint64_t{1} << options.scale;
  // A matrix that cannot fit is refused before hours of counting. The estimate is the offsets and half of the columns,
  // as duplicates collapse.
  require_memory(rows * sizeof(std::uint64_t) + rows * options.edge_factor * sizeof(std::uint32_t) / 2);
  CsrBuilder builder(rows, rows, orientation, false);
  make_edges(options, all_edges(options), [&] { return EntryCounter(builder); });
  builder.allocate();
  make_edges(options, all_edges(options), [&] { return EntryPlacer(builder); });
  return builder.finish();
}

CsrMatrix make_rmat_part(const RmatOptions& options, Orientation orientation, std::uint64_t first, std::uint64_t last) {
  check_rmat(options);
  const std::uint64_t columns = std::uint64_t{1} << options.scale;
  const bool as_written = orientation == Orientation::kRows;
  CsrBuilder builder(as_written ? last - first : columns, as_written ? columns : last - first, orientation, false);
  make_edges(options, all_edges(options), [&] { return OwnRows<EntryCounter>(builder, orientation, first, last); });
  builder.allocate();
  make_edges(options, all_edges(options), [&] { return OwnRows<EntryPlacer>(builder, orientation, first, last); });
  CsrMatrix part = builder.finish();
  part.first_row = first;
  part.rows_elsewhere = columns - part.rows;
  return part;
}

std::vector<std::uint64_t> count_rmat_edges(const RmatOptions& options, Orientation orientation,
                                            std::uint64_t block_rows, std::uint64_t share, std::uint64_t shares) {
  check_rmat(options);
  const std::uint64_t rows = std::uint64_t{1} << options.scale;
  std::vector<std::uint64_t> counts((rows + block_rows - 1) / block_rows);
  const std::uint64_t edges = all_edges(options).last;
  make_edges(options, {piece_begin(edges, share, shares), piece_begin(edges, share + 1, shares)},
             [&] { return BlockCounter(counts, orientation, block_rows); });
  return counts;
}

}  // namespace ringside
