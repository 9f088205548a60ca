// SPDX-License-Identifier: BSD-3-Clause
#include "node/workloads/competition.hpp"

#include <algorithm>
#include <limits>

#include "node/streams/repeats.hpp"
#include "node/streams/stream_table.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {
namespace {

struct ThreadArrays {
  TierMemory source;
  TierMemory target;
};

std::uint64_t group_bytes(const CopyGroup& group, const Tier& tier, std::uint64_t elements) {
  const std::uint64_t arrays = (group.from.name == tier.name ? 1U : 0U) + (group.to.name == tier.name ? 1U : 0U);
  return arrays * group.cpus.size() * elements * sizeof(double);
}

void require_room_for_all(const std::vector<CopyGroup>& groups, std::uint64_t elements) {
  for (const CopyGroup& group : groups) {
    for (const Tier& tier : {group.from, group.to}) {
      std::uint64_t bytes = 0;
      for (const CopyGroup& other : groups) bytes += group_bytes(other, tier, elements);
      require_room(tier, bytes);
    }
  }
}

}  // namespace

CountedRepeats counted_repeats(std::size_t repeats) noexcept {
  if (repeats < 3) return {0, repeats};
  return {std::min<std::size_t>(25, repeats / 4), repeats - repeats / 3};
}

std::vector<CountedRepeats> repeat_windows(std::size_t repeats) {
  constexpr std::size_t kWindows = 5;
  constexpr std::size_t kLongest = 20;
  const std::size_t divided = std::min(repeats, kWindows * kLongest);
  std::vector<CountedRepeats> windows = {{0, std::min<std::size_t>(repeats, 1)}};
  for (std::size_t w = 0; w < kWindows; ++w) {
    const CountedRepeats fifth = {w * divided / kWindows, (w + 1) * divided / kWindows};
    const bool first_repeat_alone = fifth.last <= 1;
    if (fifth.first < fifth.last && !first_repeat_alone) windows.push_back(fifth);
  }
  return windows;
}

double rate_in_window(const GroupTimes& times, double bytes, const CountedRepeats& window) noexcept {
  double gb_s = 0;
  for (const ThreadTimes& thread : times.threads) {
    double seconds = 0;
    for (std::size_t r = window.first; r < window.last; ++r) seconds += thread.seconds_of(r);
    if (seconds > 0) gb_s += bytes * static_cast<double>(window.last - window.first) / seconds * 1e-9;
  }
  return gb_s;
}

GroupRate rate_of_group(const GroupTimes& times, double bytes) {
  GroupRate rate;
  std::size_t repeats = times.threads.empty() ? 0 : std::numeric_limits<std::size_t>::max();
  for (const ThreadTimes& thread : times.threads) repeats = std::min(repeats, thread.repeats());
  const CountedRepeats counted = counted_repeats(repeats);
  std::vector<double> sums(counted.last - counted.first, 0);
  for (const ThreadTimes& thread : times.threads) {
    double seconds = 0;
    for (std::size_t r = counted.first; r < counted.last; ++r) {
      seconds += thread.seconds_of(r);
      sums[r - counted.first] += bytes / thread.seconds_of(r) * 1e-9;
    }
    rate.thread_gb_s.push_back(bytes * static_cast<double>(sums.size()) / seconds * 1e-9);
    rate.gb_s.value += rate.thread_gb_s.back();
  }
  if (!sums.empty()) rate.gb_s.spread = measured(sums).spread;
  rate.times = times;
  return rate;
}

std::vector<GroupRate> run_competition(const std::vector<CopyGroup>& groups, std::uint64_t elements, int repeats) {
  require_room_for_all(groups, elements);
  const StreamKernel& copy = stream_kernel("copy");
  std::vector<std::vector<ThreadArrays>> arrays;
  for (const CopyGroup& group : groups) arrays.emplace_back(group.cpus.size());
  std::vector<ThreadGroup> threads;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    ThreadGroup group;
    group.cpus = groups[g].cpus;
    group.prepare = [&own = arrays[g], &of = groups[g], elements](int thread) {
      ThreadArrays& mine = own[static_cast<std::size_t>(thread)];
      mine.source = TierMemory(of.from, elements * sizeof(double));
      mine.target = TierMemory(of.to, elements * sizeof(double));
      for (std::uint64_t i = 0; i < elements; ++i) {
        mine.source.data()[i] = static_cast<double>(i % 1021) / 1021;
        mine.target.data()[i] = 0.5;
      }
    };
    group.repeat = [&own = arrays[g], &copy, elements](int thread) {
      const ThreadArrays& mine = own[static_cast<std::size_t>(thread)];
      StreamArguments on;
      on.elements = elements;
      on.arrays[0] = mine.source.data();
      on.arrays[2] = mine.target.data();
      run_portion(copy, on, 0, elements);
    };
    threads.push_back(std::move(group));
  }
  std::vector<GroupRate> rates;
  const double bytes = static_cast<double>(elements) * copy.counted_bytes();
  for (const GroupTimes& times : run_groups(threads, {.repeats = repeats}))
    rates.push_back(rate_of_group(times, bytes));
  return rates;
}

std::vector<ThreadRates> rates_of_threads(const std::vector<GroupRate>& groups, double bytes) {
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  for (const GroupRate& group : groups) {
    for (const ThreadTimes& thread : group.times.threads) origin = std::min(origin, thread.begin_ns.front());
  }
  std::vector<ThreadRates> all;
  for (const GroupRate& group : groups) {
    for (const ThreadTimes& thread : group.times.threads) {
      ThreadRates rates;
      for (std::size_t r = 0; r < thread.repeats(); ++r) {
        rates.seconds.push_back(thread.seconds_of(r));
        rates.end_s.push_back(static_cast<double>(thread.end_ns[r] - origin) * 1e-9);
        rates.gb_s.push_back(bytes / thread.seconds_of(r) * 1e-9);
      }
      all.push_back(std::move(rates));
    }
  }
  return all;
}

std::vector<std::pair<double, double>> rate_over_time(std::span<const ThreadRates> threads, double bytes,
                                                      std::size_t windows) {
  double end_s = 0;
  for (const ThreadRates& thread : threads) end_s = std::max(end_s, thread.end_s.empty() ? 0 : thread.end_s.back());
  std::vector<std::pair<double, double>> rates(windows);
  const double width_s = end_s / static_cast<double>(windows);
  for (std::size_t w = 0; w < windows; ++w) {
    const double from_s = static_cast<double>(w) * width_s;
    double copied = 0;
    for (const ThreadRates& thread : threads) {
      for (std::size_t r = 0; r < thread.end_s.size(); ++r) {
        const double begin_s = thread.end_s[r] - thread.seconds[r];
        const double inside_s = std::min(thread.end_s[r], from_s + width_s) - std::max(begin_s, from_s);
        if (inside_s > 0) copied += bytes * inside_s / thread.seconds[r];
      }
    }
    rates[w] = {from_s + width_s / 2, width_s > 0 ? copied / width_s * 1e-9 : 0};
  }
  return rates;
}

}  // namespace ringside
