// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/kernel_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ringside {
namespace {

// The exponent if no series is long enough. It is in the range of the exponents of the published node's four STREAM
// tables in DRAM (2.9 to 3.1; docs/inside/model.md, "Constants").
constexpr double kUsualExponent = 3;
constexpr std::size_t kPointsToFit = 4;

/// The mean relative error of the formula with exponent q for a series.
double misfit(const Series& rates, double q) {
  const double one = rates.points.front().figure.value / rates.points.front().threads;
  double highest = 0;
  for (const Series::Point& point : rates.points) highest = std::max(highest, point.figure.value);
  double error = 0;
  for (const Series::Point& point : rates.points) {
    const double rate = point.threads / soft_sum(1 / one, point.threads / highest, q);
    error += std::abs(rate / point.figure.value - 1);
  }
  return error / static_cast<double>(rates.points.size());
}

}  // namespace

double soft_sum(double a, double b, double q) noexcept {
  const double larger = std::max(a, b);
  if (larger <= 0) return 0;
  return larger * std::pow(std::pow(a / larger, q) + std::pow(b / larger, q), 1 / q);
}

double seconds_at(const Series& seconds, int threads) {
  const auto& points = seconds.points;
  if (threads <= points.front().threads) return points.front().figure.value * points.front().threads / threads;
  if (threads >= points.back().threads) return points.back().figure.value;
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const Series::Point& point) { return point.threads >= threads; });
  const auto below = above - 1;
  const double part = std::log(static_cast<double>(threads) / below->threads) /
                      std::log(static_cast<double>(above->threads) / below->threads);
  return below->figure.value * std::pow(above->figure.value / below->figure.value, part);
}

double least_seconds(const Series& seconds) noexcept {
  double least = seconds.points.front().figure.value;
  for (const Series::Point& point : seconds.points) least = std::min(least, point.figure.value);
  return least;
}

double shared_seconds(const KernelTime& kernel, std::span<const double> share_bytes_s,
                      std::span<const double> capacity_bytes_s, double q) noexcept {
  // The sum is in units of the kernel's time alone, so that every power is in the range of a double.
  double sum = 1;
  for (std::size_t g = 0; g < kernel.bytes.size(); ++g) {
    if (kernel.bytes[g] <= 0) continue;
    const double shared = kernel.bytes[g] / (kernel.threads * share_bytes_s[g]) / kernel.alone_s;
    const double alone = kernel.bytes[g] / capacity_bytes_s[g] / kernel.alone_s;
    sum += std::pow(std::max(shared, alone), q) - std::pow(alone, q);
  }
  return kernel.alone_s * std::pow(sum, 1 / q);
}

Together together(const KernelTime& first, const KernelTime& second, std::span<const double> capacity_bytes_s, double q,
                  Sharing sharing) {
  std::vector<double> first_share(capacity_bytes_s.begin(), capacity_bytes_s.end());
  std::vector<double> second_share = first_share;
  for (std::size_t g = 0; g < capacity_bytes_s.size(); ++g) {
    const auto demand = [g](const KernelTime& kernel) {
      return Demand{.threads = kernel.bytes[g] > 0 ? kernel.threads : 0,
                    .bytes_s = kernel.bytes[g] / kernel.alone_s / kernel.threads};
    };
    const std::array groups = {demand(first), demand(second)};
    const std::vector<double> share = shares(capacity_bytes_s[g], groups, sharing);
    first_share[g] = share[0];
    second_share[g] = share[1];
  }
  return {.first_s = shared_seconds(first, first_share, capacity_bytes_s, q),
          .second_s = shared_seconds(second, second_share, capacity_bytes_s, q)};
}

double fit_exponent(std::span<const Series> streams) {
  double best = kUsualExponent;
  double least = 0;
  bool any = false;
  for (int tenths = 10; tenths <= 120; ++tenths) {
    double error = 0;
    int fitted = 0;
    for (const Series& rates : streams) {
      if (rates.points.size() < kPointsToFit) continue;
      error += misfit(rates, tenths / 10.0);
      ++fitted;
    }
    if (fitted == 0) return kUsualExponent;
    if (any && error >= least) continue;
    any = true;
    least = error;
    best = tenths / 10.0;
  }
  return best;
}

double exponent_in_dram(const Node& node) {
  std::vector<Series> streams;
  for (const StreamFigures& stream : node.streams) {
    if (stream.tier == node.tiers.front().name) streams.push_back(stream.gb_s);
  }
  return fit_exponent(streams);
}

}  // namespace ringside
