// SPDX-License-Identifier: BSD-3-Clause
#include "node/experiments/kernel_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "common/platform/error.hpp"
#include "common/threads/team.hpp"
#include "node/streams/repeats.hpp"
#include "node/streams/thread_groups.hpp"

namespace ringside {
namespace {

double first_value(int array) noexcept {
  return array == 0 ? 1.0 : array == 1 ? 2.0 : 0.0;
}

/// The first element whose value differs from the expected value; empty: no value differs. The expected values come
/// from the same rounds on one element of each array.
std::string first_difference(std::span<const StreamKernel* const> kernels, const StreamArguments& on, int rounds) {
  std::array<double, 3> one{first_value(0), first_value(1), first_value(2)};
  StreamArguments single;
  single.elements = 1;
  for (std::size_t a = 0; a < one.size(); ++a) single.arrays[a] = &one[a];
  for (int round = 0; round < rounds; ++round) {
    for (const StreamKernel* kernel : kernels) run_portion(*kernel, single, 0, 1);
  }
  for (std::size_t a = 0; a < one.size(); ++a) {
    if (on.arrays[a] == nullptr) continue;
    for (std::uint64_t i = 0; i < on.elements; ++i) {
      if (!(on.arrays[a][i] == one[a])) {
        return fmt::format("element {} of array {} is {}, expected {}", i, a, on.arrays[a][i], one[a]);
      }
    }
  }
  return {};
}

}  // namespace

RoundsResult run_rounds(std::span<const StreamKernel* const> kernels, const RoundsSetting& setting) {
  int arrays = 0;
  bool all_of_stream = true;
  bool random = false;
  bool past_cache = false;
  for (const StreamKernel* kernel : kernels) {
    arrays = std::max(arrays, kernel->arrays);
    all_of_stream = all_of_stream && kernel->source == StreamSource::kStream;
    random = random || kernel->shape == StreamShape::kRandom;
    past_cache = past_cache || kernel->shape == StreamShape::kPastCache;
  }
  constexpr std::uint64_t kMostIndexed = std::numeric_limits<std::uint32_t>::max();
  if ((random || past_cache) && setting.elements > kMostIndexed) {
    throw usage_error("--bytes: found {}, expected at most {}, as indices are 32-bit numbers",
                      setting.elements * sizeof(double), kMostIndexed * sizeof(double));
  }
  const std::vector<TierMemory> memory = make_arrays(setting.tier, arrays, setting.elements, setting.pages);
  // The loop reads the two index tables (orders) sequentially; they are in the same tier as the arrays.
  const std::uint64_t order_elements = (setting.elements + 1) / 2;
  const std::vector<TierMemory> orders =
      make_arrays(setting.tier, (random ? 1 : 0) + (past_cache ? 1 : 0), order_elements, setting.pages);
  StreamArguments on;
  on.elements = setting.elements;
  on.side = matrix_side(setting.elements);
  for (std::size_t a = 0; a < memory.size(); ++a) on.arrays[a] = memory[a].data();
  StreamArguments on_past_cache = on;
  const auto order_in = [&](const TierMemory& of) {
    return std::span(reinterpret_cast<std::uint32_t*>(of.data()), setting.elements);
  };
  if (random) {
    fill_random_order(order_in(orders.front()));
    on.order = order_in(orders.front()).data();
  }
  if (past_cache) {
    fill_order_apart(order_in(orders.back()), setting.apart);
    on_past_cache.order = order_in(orders.back()).data();
  }

  const auto threads = static_cast<std::uint64_t>(setting.cpus.size());
  std::vector<std::size_t> turn(threads, 0);
  std::vector<double> sums(threads * 8, 0);  // 8 doubles per thread: each sum has its own cache line
  ThreadGroup group;
  group.cpus = setting.cpus;
  group.prepare = [&](int thread) {
    const auto t = static_cast<std::uint64_t>(thread);
    const std::uint64_t begin = piece_begin(setting.elements, t, threads);
    const std::uint64_t end = piece_begin(setting.elements, t + 1, threads);
    for (int a = 0; a < arrays; ++a) std::fill(on.arrays[a] + begin, on.arrays[a] + end, first_value(a));
  };
  group.repeat = [&](int thread) {
    const auto t = static_cast<std::uint64_t>(thread);
    const StreamKernel& kernel = *kernels[turn[t]++ % kernels.size()];
    const std::uint64_t units = stream_units(kernel, setting.elements);
    sums[t * 8] += run_portion(kernel, kernel.shape == StreamShape::kPastCache ? on_past_cache : on,
                               piece_begin(units, t, threads), piece_begin(units, t + 1, threads));
  };
  Counters counters;
  const GroupTimes times = run_group(group, {.pace = Repetitions::Pace::kTogether,
                                             .repeats = setting.rounds * static_cast<int>(kernels.size()),
                                             .begun = [&] { counters.start(); }});
  RoundsResult result;
  result.counters = counters.stop();
  const std::vector<double> seconds = times.seconds();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    KernelTimes of_kernel;
    of_kernel.kernel = kernels[k];
    for (std::size_t r = k; r < seconds.size(); r += kernels.size()) of_kernel.seconds.push_back(seconds[r]);
    for (std::size_t t = 0; t < times.threads.size(); ++t) {
      ThreadSeries series{"", static_cast<int>(t), times.threads[t].cpu, {}};
      for (std::size_t r = k; r < seconds.size(); r += kernels.size()) {
        series.seconds.push_back(times.threads[t].seconds_of(r));
      }
      of_kernel.per_thread.push_back(std::move(series));
    }
    result.kernels.push_back(std::move(of_kernel));
  }
  if (all_of_stream) result.wrong = first_difference(kernels, on, setting.rounds);
  return result;
}

ResultTable empty_counters_table() {
  return {"counters",
          "Counters over all loops of a setting, including the waits between the loops",
          {{"memory", "memory", "", 0},
           {"threads", "threads", "", 0},
           {"counter", "counter", "", 0},
           {"unit", "unit", "", 0},
           {"value", "value", "", 0}},
          {}};
}

void add_counters(ResultTable& table, const std::string& memory, int threads, const RoundsResult& rounds) {
  for (const CounterValue& counter : rounds.counters) {
    table.rows.push_back({memory, threads, counter.name, counter.unit,
                          counter.value ? Cell(*counter.value) : Cell(NotAvailable{counter.reason})});
  }
}

Rates rates_of(const KernelTimes& times, std::uint64_t elements) {
  const StreamKernel& kernel = *times.kernel;
  const auto count = static_cast<double>(stream_elements(kernel, elements));
  std::vector<double> counted(times.seconds.begin() + (times.seconds.size() > 1 ? 1 : 0), times.seconds.end());
  Rates rates;
  rates.seconds = measured(counted);
  rates.best_gb_s = count * kernel.counted_bytes() / *std::min_element(counted.begin(), counted.end()) * 1e-9;
  std::vector<double> gb_s;
  for (const double seconds : counted) gb_s.push_back(count * kernel.counted_bytes() / seconds * 1e-9);
  rates.median_gb_s = measured(gb_s);
  rates.moved_gb_s = {rates.median_gb_s.value / kernel.counted_bytes() * kernel.moved_bytes, rates.median_gb_s.spread};
  return rates;
}

}  // namespace ringside
