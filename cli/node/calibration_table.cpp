// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/calibration_table.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "cli/terminal/format.hpp"
#include "common/text/printable.hpp"
#include "node/file/node_words.hpp"

namespace ringside {
namespace {

const Series* stream_of(const Node& node, const std::string& tier, const char* kernel) {
  for (const StreamFigures& streams : node.streams) {
    if (streams.tier == tier && streams.kernel == kernel) return &streams.gb_s;
  }
  return nullptr;
}

/// "30.1 / 36.0": with the fewest threads and with the most.
std::string ends_of(const Series* series, double unit, int digits) {
  if (series == nullptr || series->points.empty()) return "n/a";
  const double first = series->points.front().figure.value * unit;
  const double last = series->points.back().figure.value * unit;
  return fmt::format("{:.{}f} / {:.{}f}", first, digits, last, digits);
}

std::string microseconds(const std::optional<Measured>& cost) {
  return cost ? fmt::format("{:.1f} us", cost->value * 1e6) : "n/a";
}

std::string tier_lines(const Node& node) {
  std::string text = fmt::format("  {:<28}{:<12}{:>16}{:>16}{:>18}\n", "GB/s with 1 / all threads", "", "read", "copy",
                                 "copy past cache");
  for (const Tier& tier : node.tiers) {
    text += fmt::format("  {:<28}{:<12}{:>16}{:>16}{:>18}\n", printable(tier.name), to_string(tier.kind),
                        ends_of(stream_of(node, tier.name, "read"), 1, 1),
                        ends_of(stream_of(node, tier.name, "copy"), 1, 1),
                        ends_of(stream_of(node, tier.name, "copy_nontemporal"), 1, 1));
  }
  return text;
}

const Series* kernel_of(const Node& node, const ProblemSize& problem, const std::string& tier, bool synced,
                        KernelKind kind) {
  for (const KernelFigures& kernel : node.kernels) {
    if (kernel.kernel == kind && kernel.tier == tier && kernel.synced == synced &&
        kernel.problem.matrix == problem.matrix) {
      return &kernel.seconds;
    }
  }
  return nullptr;
}

/// One line for each place of slots.
std::string problem_lines(const Node& node, const ProblemSize& problem) {
  std::string text =
      fmt::format("  {}: {} rows, {} entries; generate {} ms\n", printable(problem.matrix),
                  with_separators(problem.rows), with_separators(problem.nonzeros),
                  ends_of(kernel_of(node, problem, node.tiers.front().name, false, KernelKind::kGenerate), 1e3, 2));
  text +=
      fmt::format("  {:<40}{:>16}{:>16}{:>18}\n", "  ms with 1 / all threads", "transfer", "and reduced", "analyze");
  for (const Tier& tier : node.tiers) {
    for (const bool synced : {false, true}) {
      const auto of = [&](KernelKind kind) { return kernel_of(node, problem, tier.name, synced, kind); };
      if (of(KernelKind::kTransfer) == nullptr) continue;
      text += fmt::format("  {:<40}{:>16}{:>16}{:>18}\n",
                          fmt::format("  {}{}", printable(tier.name), synced ? ", synced" : ""),
                          ends_of(of(KernelKind::kTransfer), 1e3, 2), ends_of(of(KernelKind::kTransferReduced), 1e3, 2),
                          ends_of(of(KernelKind::kAnalyze), 1e3, 2));
    }
  }
  return text;
}

}  // namespace

std::string calibration_table(const Node& node) {
  std::string text = fmt::format("ringside calibrate: {}\n", node.name);
  text += tier_lines(node);
  for (const KernelFigures& kernel : node.kernels) {
    if (kernel.kernel == KernelKind::kGenerate) text += problem_lines(node, kernel.problem);
  }
  text += fmt::format("  hand-off {}, wake-up {}, loan {}, barrier {}\n", microseconds(node.costs.hand_off_s),
                      microseconds(node.costs.wake_up_s), microseconds(node.costs.loan_s),
                      microseconds(node.costs.barrier_s));
  for (const std::string& remark : node.remarks) text += fmt::format("  note: {}\n", remark);
  return text;
}

}  // namespace ringside
