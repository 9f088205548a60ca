// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/pagerank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/threads/openmp_team.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/kernels/pagerank_kernel.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/kernels/streaming.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/matrix/matrix_part.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/solver/compensated_sum.hpp"

namespace ringside {
namespace {

class Pagerank final : public Solver {
 public:
  Pagerank(CsrMatrix matrix, double damping, Isa isa, MatrixFormat format, Neighbours& neighbours)
      : neighbours_(neighbours),
        matrix_(std::move(matrix)),
        nonzeros_(matrix_.nonzeros()),
        damping_(damping),
        kernels_(*select(&plain::kPagerankKernels, &avx2::kPagerankKernels, &avx512::kPagerankKernels, isa)),
        parts_(BlockParts::by_entries(matrix_.row_begin.span(), openmp_)),
        scale_(matrix_.rows),
        sums_(block_count(matrix_.rows)) {
    Array<double> leaving = find_leaving();
    find_scales(leaving);
    const Array<std::uint64_t> ghosts = number_ghosts(matrix_);
    choose_layout(format, leaving);
    leaving = {};  // frees its memory before the contributions take theirs
    sets_ = find_block_sets(matrix_);
    share_among(openmp_);
    if (!layout_.scales) make_contributions();
    stream_ = exceed_cache(matrix_.rows, layout_.scales ? 2 : 4);  // the old and the new iterate, and contributions
    neighbours_.expect(matrix_, ghosts.span(), layout_.place.span());
    if (!layout_.reads_matrix()) release_entries(matrix_);
  }

  std::uint64_t rows() const noexcept override { return matrix_.all_rows(); }
  std::uint64_t nonzeros() const noexcept override { return nonzeros_; }
  std::string_view format() const noexcept override { return to_string(layout_.format); }
  std::optional<double> moved_bytes() const noexcept override {
    if (!layout_.is_all_bands() || !stream_ || !layout_.scales || has_dangling_) return std::nullopt;
    return 16.0 * static_cast<double>(matrix_.rows);  // x_{k-1} and x_k; the bands contain the scales
  }
  std::string parameters() const override { return fmt::format("damping={}", damping_); }
  /// With contributions, row i of the old vector is read only to make row i of the new vector. A product that has the
  /// scales reads the old vector itself.
  bool may_overwrite_previous() const noexcept override { return !layout_.scales; }
  /// Every iteration shrinks the L1 change by the factor d.
  double growth_limit() const noexcept override { return 1.0; }

  void share_among(Team& team) override {
    parts_ = BlockParts::by_work(layout_.work_before, team);
    product_parts_.emplace(sets_, layout_.work_before, team);
  }

  void start(void* payload) const noexcept override {
    auto* const x = static_cast<double*>(payload);
    const double rank = 1.0 / static_cast<double>(matrix_.all_rows());
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      std::fill(x + first * kBlockRows, x + std::min(last * kBlockRows, matrix_.rows), rank);
    });
  }

  void prepare(const void* payload, std::span<const std::uint64_t>) noexcept override {
    PagerankPass pass = next_pass();
    pass.previous = static_cast<const double*>(payload);
    parts_.for_each(
        [&](std::uint64_t first, std::uint64_t last) { kernels_.prepare(pass, first, last, sums_.data()); });
    finish_pass();
  }

  Change iterate(const void* previous, void* next) noexcept override {
    PagerankPass pass = next_pass();
    pass.previous = static_cast<const double*>(previous);
    pass.next = static_cast<double*>(next);
    const bool stream = stream_ && begins_line(next);
    const auto make = [&](std::uint64_t first, std::uint64_t last) {
      kernels_.iterate(pass, stream, first, last, sums_.data());
    };
    product_parts_->interior.for_each(make);
    if (!layout_.scales) neighbours_.receive();
    if (!product_parts_->at_border.empty()) product_parts_->at_border.for_each(make);
    return finish_pass();
  }

 private:
  /// For each row i, the sum of the weights of the links that leave i; without weights, the number of these links. The
  /// additions have the same order as for the whole matrix.
  Array<double> find_leaving() {
    Array<double> leaving(matrix_.rows);
    const ColumnEntries others = neighbours_.entries_in_own_columns(matrix_);
    for (const ColumnEntry& entry : others.before) leaving[entry.row] += entry.value;
    add_leaving(matrix_.value.span(), leaving);
    for (const ColumnEntry& entry : others.after) leaving[entry.row] += entry.value;
    return leaving;
  }

  /// Adds the weights of this process's links. Links are stored at their targets. So every thread reads all links, and
  /// adds up only the links that leave its own rows. No two threads write the same sum.
  void add_leaving(std::span<const double> weight, Array<double>& sum) {
    const auto threads = static_cast<std::uint64_t>(openmp_.threads());
    openmp_.share(threads, [&](std::uint64_t part, int) noexcept {
      const std::uint64_t begin = piece_begin(matrix_.rows, part, threads);
      const std::uint64_t end = piece_begin(matrix_.rows, part + 1, threads);
      for (std::uint64_t e = 0; e < matrix_.nonzeros(); ++e) {
        const std::uint64_t source = matrix_.column[e] - matrix_.first_row;
        if (source - begin < end - begin) sum[source] += weight.empty() ? 1.0 : weight[e];
      }
    });
  }

  /// An element is read once for every link that leaves it, whatever the link's weight. For a part of the matrix, only
  /// the part's own links count. Only a whole pattern may have the scales in its product: with weights, the
  /// product would be rounded differently, and a part lacks the scales of its ghosts.
  void choose_layout(MatrixFormat format, const Array<double>& leaving) {
    if (matrix_.value.empty() && matrix_.rows_elsewhere == 0) {
      layout_ = make_row_layout(matrix_, format, leaving.span(), scale_.span());
      return;
    }
    Array<double> links(matrix_.columns);
    if (matrix_.rows_elsewhere == 0) {
      add_leaving({}, links);
    } else {
      for (const std::uint32_t column : matrix_.column) links[column] += 1;
    }
    layout_ = make_row_layout(matrix_, format, links.span());
  }

  /// Touches the memory from the threads that will use it.
  void make_contributions() {
    for (Array<double>& contribution : contribution_) contribution = Array<double>(matrix_.columns);
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t begin = first * kBlockRows;
      const std::uint64_t end = std::min(last * kBlockRows, matrix_.rows);
      for (Array<double>& contribution : contribution_) {
        std::fill(contribution.data() + begin, contribution.data() + end, 0.0);
      }
    });
  }

  /// scale_[i] = d / leaving[i], or 0 for a row that no link leaves. The scale must be a normal number.
  void find_scales(const Array<double>& leaving) {
    constexpr double kSmallestSum = 1e-300;
    constexpr double kLargestSum = 1e300;
    const double largest = std::min(kLargestSum, damping_ / std::numeric_limits<double>::min());
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t begin = first * kBlockRows;
      const std::uint64_t end = std::min(last * kBlockRows, matrix_.rows);
      for (std::uint64_t i = begin; i < end; ++i) {
        const double sum = leaving[i];
        const double scale = damping_ / sum;
        const bool accepted = sum >= kSmallestSum && sum <= largest && std::isnormal(scale);
        scale_[i] = sum == 0 ? 0.0 : accepted ? scale : -sum;  // negative: refused below
      }
    });
    group_scale_ = group_values(scale_.span());
    has_dangling_ = std::ranges::find(scale_, 0.0) != scale_.end();
    neighbours_.together([&] {
      for (std::uint64_t i = 0; i < matrix_.rows; ++i) {
        if (!(scale_[i] < 0)) continue;
        throw RefusedEntry(
            MatrixPlace::of_links(matrix_, i), fmt::format("weights that add up to {}", -scale_[i]),
            fmt::format("PageRank accepts sums from {} to {} over the links that leave a node", kSmallestSum, largest));
      }
    });
  }

  /// The inputs and outputs of a pass from x_{k-1} to x_k, and from the contributions of x_{k-1} to those of x_k.
  PagerankPass next_pass() noexcept {
    const auto n = static_cast<double>(matrix_.all_rows());
    return {.product = layout_.product(matrix_),
            .place = layout_.place.empty() ? nullptr : layout_.place.data(),
            .scale = layout_.scales && !has_dangling_ ? nullptr : scale_.data(),
            .group_scale = group_scale_.data(),
            .contribution = layout_.scales ? nullptr : contribution_[current_].data(),
            .next_contribution = layout_.scales ? nullptr : contribution_[1 - current_].data(),
            .previous = nullptr,
            .next = nullptr,
            .base = ((1.0 - damping_) + damping_ * dangling_) / n};
  }

  /// Call this when the contributions of x_k are complete. They are then sent while the block sums are added and x_k is
  /// published.
  Change finish_pass() noexcept {
    current_ = 1 - current_;
    // A product that has the scales has all rows, so no process waits for contributions.
    if (!layout_.scales) neighbours_.send(contribution_[current_].data(), contribution_[current_].data());
    Totals totals;
    neighbours_.in_order(totals, [this](Totals& all) noexcept {
      for (const PagerankBlockSums& sums : sums_) {
        all.l1.add(sums.change_l1);
        all.dangling.add(sums.dangling);
        all.linf = std::max(all.linf, sums.change_linf);
      }
    });
    dangling_ = totals.dangling.value();
    const double l1 = totals.l1.value();
    return {.l1 = l1, .linf = largest_change(totals.linf, l1), .criterion = l1};
  }

  struct Totals {
    CompensatedSum l1;
    CompensatedSum dangling;
    double linf = 0;
  };

  Neighbours& neighbours_;
  CsrMatrix matrix_;  // has no entries if the layout has them; the ghosts' columns follow those of own rows
  std::uint64_t nonzeros_;
  double damping_;
  const PagerankKernels& kernels_;
  bool stream_ = false;
  OpenMpTeam openmp_;  // makes the iterates until another team is given
  BlockParts parts_;
  BlockSets sets_;
  std::optional<ProductParts> product_parts_;  // exist once the layout exists
  RowLayout layout_;
  Array<double> scale_;
  Array<double> group_scale_;
  bool has_dangling_ = false;
  std::vector<PagerankBlockSums> sums_;
  Array<double> contribution_[2];  // empty if the product has the scales
  int current_ = 0;                // contribution_[current_] belongs to the last iterate
  double dangling_ = 0;            // the last iterate's mass on dangling nodes
};

}  // namespace

std::unique_ptr<Solver> make_pagerank(CsrMatrix matrix, double damping, Isa isa, MatrixFormat format,
                                      Neighbours& neighbours) {
  if (matrix.orientation != Orientation::kInLinks) {
    throw std::logic_error("make_pagerank needs a matrix of orientation kInLinks");
  }
  neighbours.together([&] {
    if (!(damping > 0 && damping < 1)) {
      throw usage_error("--damping {}: must be greater than 0 and less than 1", damping);
    }
    if (matrix.all_rows() != matrix.columns) {
      throw usage_error("the matrix has {} rows and {} columns; PageRank needs as many rows as columns",
                        matrix.all_rows(), matrix.columns);
    }
    if (matrix.columns == 0) throw usage_error("the graph has no nodes; PageRank needs at least one");
    check_weights_for_pagerank(matrix);
  });
  return std::make_unique<Pagerank>(std::move(matrix), damping, isa, format, neighbours);
}

const SolverEntry kPagerankSolver = {
    .choice = {.name = "pagerank", .help = "ranks of a graph's nodes", .damping = true, .ranked = true},
    .orientation = Orientation::kInLinks,
    .make =
        [](CsrMatrix matrix, RightSide, const SolveOptions& options, Neighbours& neighbours) {
          return make_pagerank(std::move(matrix), options.damping, selected_isa(), format_named(options.matrix_format),
                               neighbours);
        },
};

}  // namespace ringside
