// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/node_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/platform/error.hpp"
#include "node/model/channels.hpp"
#include "node/model/coupling.hpp"
#include "node/model/derived_kernels.hpp"

namespace ringside {
namespace {

// A copy without its own figures writes through the caches: 8 bytes per row for reading, 16 for writing.
constexpr double kPlainCopyDramBytes = 8;
constexpr double kPlainCopyTierBytes = 16;
constexpr double kSweepBytes = 8;
// The bytes of compressed rows with values: two doubles per row, and one and a half per entry (a value and its column).
// With 16 bytes per row for the vectors, these are the bytes of the published simulation (docs/inside/model.md,
// "Sources").
constexpr double kMatrixRowBytes = 16;
constexpr double kMatrixEntryBytes = 12;
// The error of scaling from another problem. This is an assumption, which the plan states.
constexpr double kScaledSpread = 0.10;
// The spread of figures that were written by hand without a spread. This is an assumption, which the plan states.
constexpr double kUnknownSpread = 0.05;

double generate_bytes(const ProblemSize& size) {
  return (size.vector_bytes_per_row + kMatrixRowBytes) * static_cast<double>(size.rows) +
         kMatrixEntryBytes * static_cast<double>(size.nonzeros);
}

/// Bytes that a measured kernel moves per row of a problem whose steps have that many vectors.
struct RowBytes {
  double dram = 0;
  double tier = 0;
  double all() const noexcept { return dram + tier; }
};

/// 8 for each read, and 8 for each store, which bypasses the caches. Copies have all vectors of a step, reductions only
/// x; transfer_reduced and analyze also read the previous x.
RowBytes bytes_per_row(KernelKind kernel, int vectors) {
  switch (kernel) {
    case KernelKind::kTransfer: return {.dram = 8.0 * vectors, .tier = 8.0 * vectors};
    case KernelKind::kTransferReduced: return {.dram = 8.0 * vectors, .tier = 8.0 * vectors + 8};
    case KernelKind::kAnalyze: return {.tier = 16};
    case KernelKind::kSweep: return {.tier = kSweepBytes};
    default: return {};
  }
}

double bytes_of(KernelKind kernel, const ProblemSize& size) {
  return bytes_per_row(kernel, size.vectors).all() * static_cast<double>(size.rows);
}

bool same_problem(const ProblemSize& a, const ProblemSize& b) {
  return a.rows == b.rows && a.nonzeros == b.nonzeros && a.solver == b.solver && same_matrix(a, b) &&
         (a.format == b.format || a.format.empty() || b.format.empty());
}

double entries_per_row(const ProblemSize& size) {
  return static_cast<double>(size.nonzeros) / static_cast<double>(size.rows);
}

/// How much two problems differ: first by the shape of the rows, then by the size. For copies and reductions: by the
/// size and the number of vectors. there: a problem with figures; here: the problem that needs figures.
double distance(const ProblemSize& there, const ProblemSize& here, KernelKind kernel) {
  const double size = std::abs(std::log(static_cast<double>(there.rows) / static_cast<double>(here.rows)));
  if (kernel != KernelKind::kGenerate) {
    return size + std::abs(std::log(static_cast<double>(there.vectors) / here.vectors));
  }
  return size / 10 + std::abs(std::log((1 + entries_per_row(there)) / (1 + entries_per_row(here))));
}

/// The figures to use for a kernel: those of this problem, else those of the most similar problem.
const KernelFigures* nearest(const Node& node, KernelKind kernel, const ModelRequest& request,
                             const std::string& tier) {
  const KernelFigures* best = nullptr;
  double least = 0;
  for (const KernelFigures& figures : node.kernels) {
    if (figures.kernel != kernel || figures.tier != tier || figures.synced != request.synced) continue;
    if (kernel == KernelKind::kGenerate && figures.problem.solver != request.problem.solver) continue;
    const double far =
        same_problem(figures.problem, request.problem) ? -1 : distance(figures.problem, request.problem, kernel);
    if (best != nullptr && far >= least) continue;
    best = &figures;
    least = far;
  }
  return best;
}

double largest_spread(const Series& series) {
  double largest = 0;
  for (const Series::Point& point : series.points) largest = std::max(largest, point.figure.spread);
  return largest;
}

/// Builds a NodeModel part by part.
class Builder {
 public:
  Builder(const Node& node, const ModelRequest& request)
      : node_(node), request_(request), channels_(channels_of(node)), rows_(static_cast<double>(request.problem.rows)) {
    const auto found =
        std::find_if(node.tiers.begin(), node.tiers.end(), [&](const Tier& tier) { return tier.name == request.tier; });
    if (found == node.tiers.end()) {
      throw usage_error("{}: found no figures for the memory '{}'", node.name, request.tier);
    }
    require_rate(channels_, node, node.tiers.front().name);
    require_rate(channels_, node, request.tier);
    tier_ = &*found;
    slots_ = channels_.group_of_tier[static_cast<std::size_t>(found - node.tiers.begin())];
  }

  NodeModel build() {
    model_.cores = node_.cores;
    model_.capacity_bytes_s = channels_.capacity_bytes_s;
    model_.capacity_spread = std::max(channels_.spread.front(), channels_.spread[slots_]);
    model_.exponent = exponent_in_dram(node_);
    model_.costs = node_.costs;
    add_generate();
    add_transfer();
    const bool analyze_measured = add_measured(KernelKind::kAnalyze);
    add_sweep(analyze_measured);
    if (!analyze_measured) reuse_sweep_for_analyze();
    add_measured(KernelKind::kTransferReduced);
    add_measured(KernelKind::kCommit);
    add_disk();
    fit_pairs();
    return std::move(model_);
  }

 private:
  void add_generate() {
    // An iteration is measured in DRAM, independently of the way in which the slots are written.
    ModelRequest in_dram = request_;
    in_dram.synced = false;
    const KernelFigures* const figures = nearest(node_, KernelKind::kGenerate, in_dram, node_.tiers.front().name);
    if (figures == nullptr) {
      throw usage_error(
          "{}: found no seconds of the kernel 'generate' with the solver {}; expected them in 'kernels': `ringside "
          "calibrate --solver {} --matrix FILE` measures them",
          node_.name, request_.problem.solver, request_.problem.solver);
    }
    KernelModel& kernel =
        add(KernelKind::kGenerate, *figures, generate_bytes(request_.problem) / generate_bytes(figures->problem));
    const double declared = figures->moved_bytes.value_or(generate_bytes(figures->problem)) * scale_;
    kernel.bytes[0] = declared;
  }

  /// Adds a kernel that was measured in the tier. Returns false if there are no figures.
  bool add_measured(KernelKind kind) {
    const KernelFigures* figures = nearest(node_, kind, request_, tier_->name);
    if (figures == nullptr && request_.synced) figures = without_syncs(kind);
    if (figures == nullptr) return false;
    const double bytes = bytes_of(kind, request_.problem);
    KernelModel& kernel = add(kind, *figures, bytes > 0 ? bytes / bytes_of(kind, figures->problem) : 1);
    const RowBytes row = bytes_per_row(kind, request_.problem.vectors);
    kernel.bytes[0] += row.dram * rows_;
    kernel.bytes[slots_] += row.tier * rows_;
    if (figures->moved_bytes && bytes > 0) {
      for (double& moved : kernel.bytes) moved *= *figures->moved_bytes * scale_ / bytes;
    }
    return true;
  }

  /// If the kernel was not measured with syncs, uses its figures without syncs and adds a remark.
  const KernelFigures* without_syncs(KernelKind kind) {
    ModelRequest mapped = request_;
    mapped.synced = false;
    const KernelFigures* const figures = nearest(node_, kind, mapped, tier_->name);
    if (figures != nullptr && !syncs_missed_) {
      model_.remarks.push_back(fmt::format(
          "{} was not measured with --durability power: its times without syncs are used, which are shorter",
          tier_->name));
      syncs_missed_ = true;
    }
    return figures;
  }

  void add_transfer() {
    if (add_measured(KernelKind::kTransfer)) return;
    const auto vectors = static_cast<std::uint64_t>(request_.problem.vectors);
    const std::uint64_t elements = request_.problem.rows * vectors;
    std::vector<double> bytes(channels_.groups(), 0);
    bytes[0] += kPlainCopyDramBytes * static_cast<double>(elements);
    bytes[slots_] += kPlainCopyTierBytes * static_cast<double>(elements);
    derive(KernelKind::kTransfer, derived_transfer(node_, channels_, tier_->name, elements, bytes, model_.exponent),
           bytes);
  }

  void add_sweep(bool analyze_measured) {
    if (add_measured(KernelKind::kSweep)) return;
    ModelRequest in_dram = request_;
    in_dram.synced = false;
    const KernelFigures* const figures = nearest(node_, KernelKind::kSweep, in_dram, node_.tiers.front().name);
    if (figures == nullptr && analyze_measured) {
      halve_analyze_for_sweep();
      return;
    }
    if (figures == nullptr) {
      throw usage_error("{}: found no seconds of the kernel 'sweep' in '{}' or in DRAM; expected them in 'kernels'",
                        node_.name, tier_->name);
    }
    std::vector<double> bytes(channels_.groups(), 0);
    bytes[slots_] = kSweepBytes * rows_;
    derive(KernelKind::kSweep,
           derived_sweep(node_, channels_, tier_->name, *figures, request_.problem.rows, bytes, model_.exponent),
           bytes);
  }

  /// A sweep reads half as much as analyze. A calibration measures a sweep as a difference of two times, so the time of
  /// a short sweep can be lost in noise.
  void halve_analyze_for_sweep() {
    KernelModel sweep = *model_.find(KernelKind::kAnalyze);
    for (Series::Point& point : sweep.seconds.points) point.figure.value /= 2;
    for (double& bytes : sweep.bytes) bytes /= 2;
    sweep.spread = std::max(sweep.spread, kScaledSpread);
    model_.kernels[static_cast<std::size_t>(KernelKind::kSweep)] = std::move(sweep);
    model_.remarks.push_back(fmt::format("sweep was not measured in {}: half of analyze's time is used", tier_->name));
  }

  void reuse_sweep_for_analyze() {
    model_.remarks.push_back(
        fmt::format("analyze was not measured in {}: a sweep's time is used, which is shorter", tier_->name));
    model_.kernels[static_cast<std::size_t>(KernelKind::kAnalyze)] =
        model_.kernels[static_cast<std::size_t>(KernelKind::kSweep)];
  }

  double spread_of(const Series& series) {
    const double known = largest_spread(series);
    if (known > 0) return known;
    if (!spread_assumed_) {
      model_.remarks.push_back(
          fmt::format("figures without a spread: a spread of {:.0f} % is assumed", 100 * kUnknownSpread));
    }
    spread_assumed_ = true;
    return kUnknownSpread;
  }

  KernelModel& add(KernelKind kind, const KernelFigures& figures, double scale) {
    KernelModel kernel{.seconds = figures.seconds, .bytes = std::vector<double>(channels_.groups(), 0)};
    kernel.spread = spread_of(figures.seconds);
    scale_ = scale;
    if (!same_problem(figures.problem, request_.problem) && kind != KernelKind::kCommit) {
      for (Series::Point& point : kernel.seconds.points) point.figure.value *= scale;
      kernel.spread = std::max(kernel.spread, kScaledSpread);
      if (kind == KernelKind::kGenerate) {
        generate_scaled_ = true;
        model_.remarks.push_back(fmt::format(
            "no figures for this problem: the figures of {} ({} rows, {} nonzeros) are used, multiplied by {:.4g}",
            figures.problem.matrix.empty() ? "the measured problem" : figures.problem.matrix, figures.problem.rows,
            figures.problem.nonzeros, scale));
      } else if (!generate_scaled_ && !copies_scaled_) {
        model_.remarks.push_back(fmt::format(
            "no figures for copies and reductions of this problem: those of {} rows are used, multiplied by {:.4g}",
            figures.problem.rows, scale));
        copies_scaled_ = true;
      }
    }
    return model_.kernels[static_cast<std::size_t>(kind)].emplace(std::move(kernel));
  }

  void derive(KernelKind kind, std::optional<Series> seconds, std::vector<double> bytes) {
    if (!seconds) {
      throw usage_error(
          "{}: found neither seconds of the kernels in '{}' nor the rates of STREAM's copy in that memory and in DRAM",
          node_.name, tier_->name);
    }
    KernelModel kernel{.seconds = std::move(*seconds), .bytes = std::move(bytes)};
    kernel.spread = spread_of(kernel.seconds);
    model_.kernels[static_cast<std::size_t>(kind)] = std::move(kernel);
    if (kind == KernelKind::kTransfer) {
      model_.remarks.push_back(fmt::format("copies and sweeps in {} are derived from STREAM's copy", tier_->name));
    }
  }

  void add_disk() {
    if (!request_.synced) return;
    if (!tier_->sync_s || !tier_->sync_gb_s) {
      model_.remarks.push_back(
          fmt::format("how fast {} persists is unknown: no wait for the disk is assumed", tier_->name));
      return;
    }
    model_.sync_s = tier_->sync_s;
    model_.sync_gb_s = tier_->sync_gb_s;
  }

  /// Limits the bytes of each kernel to what the channels can move in the kernel's shortest measured time.
  void bound_bytes() {
    for (auto& kernel : model_.kernels) {
      if (!kernel) continue;
      const double least = least_seconds(kernel->seconds);
      for (std::size_t g = 0; g < kernel->bytes.size(); ++g) {
        kernel->bytes[g] = std::min(kernel->bytes[g], model_.capacity_bytes_s[g] * least);
      }
    }
  }

  void fit_pairs() {
    bound_bytes();
    for (const PairFigures& pair : node_.pairs) {
      if (pair.tier == tier_->name && pair.synced == request_.synced && same_problem(pair.problem, request_.problem) &&
          model_.find(pair.first) != nullptr && model_.find(pair.second) != nullptr) {
        model_.pairs.push_back(pair);
      }
    }
    fit_coupling(model_);
  }

  const Node& node_;
  const ModelRequest& request_;
  const Channels channels_;
  const double rows_;
  const Tier* tier_ = nullptr;
  std::size_t slots_ = 0;  // the index of the tier's group of channels
  double scale_ = 1;       // the factor by which the last kernel was scaled
  bool spread_assumed_ = false;
  bool syncs_missed_ = false;
  bool generate_scaled_ = false;
  bool copies_scaled_ = false;
  NodeModel model_;
};

}  // namespace

bool same_matrix(const ProblemSize& a, const ProblemSize& b) {
  if (a.file && b.file) return *a.file == *b.file;
  return a.matrix == b.matrix || a.matrix.empty() || b.matrix.empty();
}

NodeModel model_of(const Node& node, const ModelRequest& request) {
  return Builder(node, request).build();
}

KernelTime kernel_time(const NodeModel& model, KernelKind kernel, int threads) {
  const KernelModel& found = *model.find(kernel);
  return {.threads = threads, .alone_s = seconds_at(found.seconds, threads), .bytes = found.bytes};
}

Together together(const NodeModel& model, KernelKind first, int first_threads, KernelKind second, int second_threads) {
  for (const PairFigures& pair : model.pairs) {
    if (pair.first == first && pair.second == second && pair.first_threads == first_threads &&
        pair.second_threads == second_threads) {
      return {.first_s = pair.first_s.value, .second_s = pair.second_s.value};
    }
  }
  return together(kernel_time(model, first, first_threads), kernel_time(model, second, second_threads),
                  model.capacity_bytes_s, model.exponent, model.sharing);
}

}  // namespace ringside
