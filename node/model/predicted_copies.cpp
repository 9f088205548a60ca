// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/predicted_copies.hpp"

#include <optional>
#include <utility>

#include "common/platform/error.hpp"
#include "node/model/channels.hpp"
#include "node/model/derived_kernels.hpp"

namespace ringside {
namespace {

constexpr double kBytesCounted = 16;  // of a copied element
constexpr double kBytesMoved = 24;
constexpr double kElements = 1e6;

double copied_gb_s(double seconds) {
  return kBytesCounted * kElements / seconds * 1e-9;
}

template <class Figures>
Figures demanded(std::optional<Figures> figures, const Node& node, const std::string& tier) {
  if (figures) return *std::move(figures);
  throw usage_error("{}: found no rates of STREAM's copy in DRAM and in '{}'; expected both in 'streams'", node.name,
                    tier);
}

}  // namespace

PredictedCopies::PredictedCopies(const Node& node, const std::string& tier)
    : capacity_bytes_s_(channels_of(node).capacity_bytes_s.front()),
      q_(exponent_in_dram(node)),
      access_s_(demanded(access_seconds(node, channels_of(node), tier, q_), node, tier)),
      dram_core_s_(demanded(dram_copy_seconds(node, channels_of(node), q_), node, tier)) {}

std::vector<double> PredictedCopies::errors(const Competition& competition, int accesses) const {
  const std::vector<double> capacity = {capacity_bytes_s_};
  std::vector<double> found;
  for (const CompetitionRow& row : competition.rows) {
    const Together both = together(copy(row.first_threads, 0), copy(row.second_threads, accesses), capacity, q_);
    found.push_back(copied_gb_s(both.first_s) / row.first_gb_s.value - 1);
    found.push_back(copied_gb_s(both.second_s) / row.second_gb_s.value - 1);
  }
  return found;
}

KernelTime PredictedCopies::copy(int threads, int accesses) const {
  Series seconds = access_s_;
  for (Series::Point& point : seconds.points) {
    point.figure.value = soft_sum((dram_core_s_ + accesses * point.figure.value) * kElements / point.threads,
                                  kBytesMoved * kElements / capacity_bytes_s_, q_);
  }
  return {.threads = threads, .alone_s = seconds_at(seconds, threads), .bytes = {kBytesMoved * kElements}};
}

}  // namespace ringside
