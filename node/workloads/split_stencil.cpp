// SPDX-License-Identifier: BSD-3-Clause
#include "node/workloads/split_stencil.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/kernels/isa.hpp"
#include "common/platform/clock.hpp"
#include "common/threads/team.hpp"
#include "node/streams/thread_groups.hpp"
#include "node/streams/tier_memory.hpp"
#include "node/workloads/stencil_row.hpp"

namespace ringside {
namespace {

/// The rows [first, first + count) of both arrays, with a ghost row above and below.
class StencilSide {
 public:
  StencilSide(const Tier& tier, std::uint64_t first, std::uint64_t count, std::uint64_t columns)
      : memory_(make_arrays(tier, 2, (count + 2) * columns)), first_(first), columns_(columns) {}

  /// Row `row` of the whole matrix, or an adjacent ghost row. array: 0 or 1.
  double* row(std::size_t array, std::uint64_t row) const noexcept {
    return memory_[array].data() + (row + 1 - first_) * columns_;
  }

 private:
  std::vector<TierMemory> memory_;
  std::uint64_t first_;
  std::uint64_t columns_;
};

struct Stencil {
  explicit Stencil(const StencilSetting& wanted)
      : setting(wanted),
        border(wanted.rows - wanted.lower_rows),
        upper(dram_tier(), 0, border, wanted.columns),
        lower(wanted.lower_tier, border, wanted.lower_rows, wanted.columns) {}

  const StencilSetting& setting;
  const std::uint64_t border;  // the first lower row
  StencilSide upper;
  StencilSide lower;

  const StencilSide& side_of(std::uint64_t row) const noexcept { return row < border ? upper : lower; }

  /// Row `row` as a thread of the side `reader` reads it.
  const double* read_row(const StencilSide& reader, std::size_t array, std::uint64_t row) const noexcept {
    const bool ghosts = setting.version == StencilVersion::kGhostRows;
    return (ghosts ? reader : side_of(row)).row(array, row);
  }

  /// The inner rows of a side.
  std::uint64_t first_row(bool is_upper) const noexcept { return is_upper ? 1 : std::max<std::uint64_t>(border, 1); }
  std::uint64_t end_row(bool is_upper) const noexcept {
    return is_upper ? std::min(border, setting.rows - 1) : setting.rows - 1;
  }

  void fill(std::uint64_t row) const noexcept {
    for (std::size_t array = 0; array < 2; ++array) {
      double* to = side_of(row).row(array, row);
      for (std::uint64_t j = 0; j < setting.columns; ++j) to[j] = stencil_start(row, j);
    }
  }

  /// Copies the columns [begin, end) of both ghost rows from the rows that they mirror.
  void exchange(std::size_t array, std::uint64_t begin, std::uint64_t end) const noexcept {
    const std::size_t bytes = (end - begin) * sizeof(double);
    std::memcpy(upper.row(array, border) + begin, lower.row(array, border) + begin, bytes);
    std::memcpy(lower.row(array, border - 1) + begin, upper.row(array, border - 1) + begin, bytes);
  }
};

struct Portion {
  bool is_upper;
  std::uint64_t begin;  // the inner rows [begin, end)
  std::uint64_t end;
  std::uint64_t place;  // the thread's number among all threads
};

void sweep(const Stencil& stencil, const Portion& portion, std::size_t from, StencilRow* row_function) noexcept {
  const StencilSide& own = portion.is_upper ? stencil.upper : stencil.lower;
  for (std::uint64_t i = portion.begin; i < portion.end; ++i) {
    row_function(stencil.read_row(own, from, i - 1), own.row(from, i), stencil.read_row(own, from, i + 1),
                 own.row(1 - from, i), 1, stencil.setting.columns - 1);
  }
}

}  // namespace

double stencil_start(std::uint64_t i, std::uint64_t j) noexcept {
  return static_cast<double>((i * 31 + j * 17) % 1009) / 1009;
}

StencilResult run_stencil(const StencilSetting& setting, bool with_values) {
  const Stencil stencil(setting);
  StencilRow* const row_function = select(&plain::stencil_row, &avx2::stencil_row, &avx512::stencil_row);
  const std::uint64_t uppers = setting.upper_cpus.size();
  const std::uint64_t all = uppers + setting.lower_cpus.size();
  const auto sweeps = static_cast<std::size_t>(setting.sweeps);
  StencilResult result;
  result.sweeps.resize(sweeps);
  result.thread_s.assign(all, std::vector<double>(sweeps));
  SpinBarrier barrier(static_cast<int>(all));

  const auto portion_of = [&](bool is_upper, int thread) {
    const std::uint64_t threads = is_upper ? uppers : all - uppers;
    const std::uint64_t first = stencil.first_row(is_upper);
    const std::uint64_t rows = stencil.end_row(is_upper) > first ? stencil.end_row(is_upper) - first : 0;
    const auto t = static_cast<std::uint64_t>(thread);
    return Portion{is_upper, first + piece_begin(rows, t, threads), first + piece_begin(rows, t + 1, threads),
                   is_upper ? t : uppers + t};
  };
  const auto prepare = [&](bool is_upper, int thread) {
    const Portion portion = portion_of(is_upper, thread);
    for (std::uint64_t row = portion.begin; row < portion.end; ++row) stencil.fill(row);
    if (portion.place != 0) return;
    stencil.fill(0);
    stencil.fill(setting.rows - 1);
  };
  const auto all_sweeps = [&](bool is_upper, int thread) {
    const Portion portion = portion_of(is_upper, thread);
    const std::uint64_t columns_begin = piece_begin(setting.columns, portion.place, all);
    const std::uint64_t columns_end = piece_begin(setting.columns, portion.place + 1, all);
    const bool ghosts = setting.version == StencilVersion::kGhostRows;
    if (ghosts) {  // the ghost rows get the start values
      stencil.exchange(0, columns_begin, columns_end);
      stencil.exchange(1, columns_begin, columns_end);
    }
    for (std::size_t s = 0; s < sweeps; ++s) {
      const std::size_t from = s % 2;
      barrier.wait();
      const std::int64_t begin_ns = now_ns();
      sweep(stencil, portion, from, row_function);
      result.thread_s[portion.place][s] = seconds(now_ns() - begin_ns);
      barrier.wait();
      if (ghosts) {
        stencil.exchange(1 - from, columns_begin, columns_end);
        barrier.wait();
      }
      if (portion.place == 0) result.sweeps[s].total_s = seconds(now_ns() - begin_ns);
    }
  };
  const std::array<ThreadGroup, 2> groups = {
      ThreadGroup{setting.upper_cpus, [&](int thread) { prepare(true, thread); },
                  [&](int thread) { all_sweeps(true, thread); }},
      ThreadGroup{setting.lower_cpus, [&](int thread) { prepare(false, thread); },
                  [&](int thread) { all_sweeps(false, thread); }}};
  (void)run_groups(groups, {.repeats = 1});
  for (std::size_t t = 0; t < all; ++t) {
    for (std::size_t s = 0; s < sweeps; ++s) {
      double& slowest = t < uppers ? result.sweeps[s].upper_s : result.sweeps[s].lower_s;
      slowest = std::max(slowest, result.thread_s[t][s]);
    }
  }
  if (with_values) {
    for (std::uint64_t row = 0; row < setting.rows; ++row) {
      const double* values = stencil.side_of(row).row(sweeps % 2, row);
      result.values.insert(result.values.end(), values, values + setting.columns);
    }
  }
  return result;
}

}  // namespace ringside
