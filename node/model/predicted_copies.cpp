// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/predicted_copies.hpp"

#include "node/model/channels.hpp"
#include "node/model/derived_kernels.hpp"

namespace ringside {
namespace {

constexpr double kBytesCounted = 16;  // of a copied element
constexpr double kBytesMoved = 24;
constexpr double kElements = 1e6;

double exponent_in_dram(const Node& node) {
  std::vector<Series> streams;
  for (const StreamFigures& stream : node.streams) {
    if (stream.tier == node.tiers.front().name) streams.push_back(stream.gb_s);
  }
  return fit_exponent(streams);
}

double copied_gb_s(double seconds) {
  return kBytesCounted * kElements / seconds * 1e-9;
}

}  // namespace

PredictedCopies::PredictedCopies(const Node& node, const std::string& tier)
    : capacity_bytes_s_(channels_of(node).capacity_bytes_s.front()),
      q_(exponent_in_dram(node)),
      access_s_(access_seconds(node, channels_of(node), tier, q_).value()),
      dram_core_s_(core_seconds(kBytesCounted / (node.streams.front().gb_s.points.front().figure.value * 1e9),
                                kBytesMoved, capacity_bytes_s_, q_)) {}

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
  const double access_s = access_s_.points.at(static_cast<std::size_t>(threads - 1)).figure.value;
  return {.threads = threads,
          .alone_s = soft_sum((dram_core_s_ + accesses * access_s) * kElements / threads,
                              kBytesMoved * kElements / capacity_bytes_s_, q_),
          .bytes = {kBytesMoved * kElements}};
}

}  // namespace ringside
