// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/app_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kLeastDram = std::uint64_t{4} << 20;
constexpr double kLeastPercent = 1;
constexpr double kMostPercent = 1000;

bool is_same_command(const AppCommand& a, const AppCommand& b) {
  return a.launcher == b.launcher && a.program == b.program && a.arguments == b.arguments;
}

AppJob job_of(const AppPoint& point) {
  AppJob job;
  job.bytes = point.bytes;
  job.workers = point.workers;
  job.weak = point.weak;
  return job;
}

}  // namespace

DramSize dram_size_of(const std::string& text) {
  DramSize size;
  std::string value = text;
  if (text.ends_with('%')) {
    value.pop_back();
    if (number_within(kLeastPercent, kMostPercent)(value).empty()) {
      size.percent = std::stod(value);
      return size;
    }
  } else if (size_within(kLeastDram, std::uint64_t{1} << 46, "4M to 65536G")(value).empty()) {
    size.bytes = std::stoull(value);
    return size;
  }
  throw usage_error("--dram: found '{}', expected sizes from 4M to 65536G or percentages from 1% to 1000%",
                    shortened(text));
}

std::vector<DramSize> dram_sizes_of(const std::vector<std::string>& texts) {
  std::vector<DramSize> sizes;
  for (const std::string& text : texts) sizes.push_back(dram_size_of(text));
  return sizes;
}

std::string to_string(const AppConfiguration& configuration) {
  switch (configuration.memory) {
    case AppMemory::kDram: return "all DRAM";
    case AppMemory::kFarOnly: return "far only";
    case AppMemory::kCached: break;
  }
  const DramSize& size = configuration.dram;
  if (size.bytes == 0) return fmt::format("DRAM {:g} %", size.percent);
  return fmt::format("DRAM {:g} MiB", static_cast<double>(size.bytes) / 1048576);
}

std::vector<AppConfiguration> configurations_of(const std::vector<DramSize>& sizes) {
  std::vector<AppConfiguration> all = {{AppMemory::kDram, {}}, {AppMemory::kFarOnly, {}}};
  for (const DramSize& size : sizes) all.push_back({AppMemory::kCached, size});
  return all;
}

std::uint64_t dram_limit(const DramSize& size, std::uint64_t all_dram_bytes) {
  constexpr std::uint64_t kPage = 4096;
  const auto wanted = size.bytes > 0 ? size.bytes
                                     : static_cast<std::uint64_t>(
                                           std::ceil(static_cast<double>(all_dram_bytes) * size.percent / 100));
  return std::max(kLeastDram, (wanted + kPage - 1) / kPage * kPage);
}

std::vector<AppPoint> points_of(const App& app, const std::vector<int>& workers, std::uint64_t bytes) {
  std::vector<int> counts;
  for (const int count : workers) {
    if (app.takes == nullptr || app.takes(count)) counts.push_back(count);
  }
  if (app.workers == AppWorkers::kOne) counts = {1};
  std::vector<AppPoint> points;
  for (const int count : counts) points.push_back({count, bytes, false});
  if (counts.size() < 2) return points;
  for (const int count : counts) {
    const AppPoint weak{count, bytes / static_cast<std::uint64_t>(counts.back()) * static_cast<std::uint64_t>(count),
                        true};
    const AppPoint& strong = points[static_cast<std::size_t>(
        std::find(counts.begin(), counts.end(), count) - counts.begin())];
    if (count != counts.back() || !is_same_command(app.command(job_of(weak)), app.command(job_of(strong)))) {
      points.push_back(weak);
    }
  }
  return points;
}

std::vector<std::string> words_of(const CachedRun& run) {
  std::vector<std::string> words = {run.ringside_memory, "run", fmt::format("--dram={}", run.dram_bytes),
                                    "--far=" + run.far};
  words.emplace_back("--noreserve");  // for redis, which uses jemalloc
  words.emplace_back("--json");
  words.push_back("--account=" + run.account);
  words.emplace_back("--");
  return words;
}

}  // namespace ringside
