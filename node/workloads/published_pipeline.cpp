// SPDX-License-Identifier: BSD-3-Clause
#include "node/workloads/published_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <semaphore>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/threads/team.hpp"
#include "node/streams/thread_groups.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {
namespace {

/// A thread's value on a cache line of its own.
struct alignas(64) OwnLine {
  double value = 0;
};

double sum_of(const double* x, std::uint64_t begin, std::uint64_t end) noexcept {
  double sum = 0;
  for (std::uint64_t i = begin; i < end; ++i) sum += x[i];
  return sum;
}

/// Data shared by all threads of a run.
struct PublishedRun {
  PublishedRun(const PublishedMatrix& of, const PipelineSetting& wanted)
      : matrix(of),
        setting(wanted),
        generators(wanted.generation_cpus.size()),
        analyzers(wanted.analysis_cpus.size()),
        vectors(make_arrays(dram_tier(), 2, of.rows)),
        generation_barrier(static_cast<int>(generators)),
        analysis_barrier(static_cast<int>(std::max<std::uint64_t>(analyzers, 1))),
        sums_of_threads(std::max(generators, analyzers)),
        changes_of_threads(generators) {
    if (analyzers > 0) copy = TierMemory(wanted.tier, of.rows * sizeof(double));
    result.sums.reserve(static_cast<std::size_t>(wanted.iterations));
  }

  const PublishedMatrix& matrix;
  const PipelineSetting& setting;
  const std::uint64_t generators;
  const std::uint64_t analyzers;
  std::vector<TierMemory> vectors;  // x of an even iteration is vectors[1], of an odd one vectors[0]
  TierMemory copy;
  SpinBarrier generation_barrier;
  SpinBarrier analysis_barrier;
  std::binary_semaphore lock_a{1};  // open if generation may swap the vectors
  std::binary_semaphore lock_b{0};  // open if an iterate is ready
  std::binary_semaphore ended{0};   // the last analysis is done
  std::vector<OwnLine> sums_of_threads;
  std::vector<OwnLine> changes_of_threads;
  std::int64_t begin_ns = 0;  // the start of both groups; generation's first thread sets it
  std::int64_t end_ns = 0;
  PipelineResult result;

  double* previous(int iteration) const noexcept { return vectors[static_cast<std::size_t>(iteration % 2)].data(); }
  double* next(int iteration) const noexcept { return vectors[static_cast<std::size_t>(1 - iteration % 2)].data(); }

  void generate(int iteration, std::uint64_t thread) noexcept {
    const double c = (1 - kPublishedDamping) / static_cast<double>(matrix.rows);
    changes_of_threads[thread].value =
        generate_rows(matrix, previous(iteration), next(iteration), c, piece_begin(matrix.rows, thread, generators),
                      piece_begin(matrix.rows, thread + 1, generators));
  }

  /// The sum of the partial sums, in the order of the threads.
  double sum_of_threads(std::uint64_t threads) const noexcept {
    double sum = 0;
    for (std::uint64_t t = 0; t < threads; ++t) sum += sums_of_threads[t].value;
    return sum;
  }
};

/// The generating group (7.3): the first thread waits for lock A, swaps the vectors, and opens lock B.
void generate_beside(PublishedRun& run, std::uint64_t thread) noexcept {
  PipelineTimes& times = run.result.times;
  std::int64_t last_ns = run.begin_ns;
  for (int k = 0; k < run.setting.iterations; ++k) {
    run.generate(k, thread);
    run.generation_barrier.wait();
    if (thread == 0) {
      const std::int64_t computed_ns = now_ns();
      run.lock_a.acquire();
      const std::int64_t open_ns = now_ns();
      run.lock_b.release();  // the swap: from now on, the new vector is the previous one
      times.generation_ns += computed_ns - last_ns;
      times.generation_idle_ns += open_ns - computed_ns;
      run.result.generation_s.push_back(seconds(computed_ns - last_ns));
      last_ns = open_ns;
    }
    run.generation_barrier.wait();
  }
  if (thread != 0) return;
  run.ended.acquire();
  times.generation_idle_ns += run.end_ns - last_ns;
  times.total_ns = run.end_ns - run.begin_ns;
}

/// The other group: copies the newest vector, opens lock A, and sums up the copy.
void analyze_beside(PublishedRun& run, std::uint64_t thread) noexcept {
  PipelineTimes& times = run.result.times;
  const std::uint64_t rows = run.matrix.rows;
  const std::uint64_t begin = piece_begin(rows, thread, run.analyzers);
  const std::uint64_t end = piece_begin(rows, thread + 1, run.analyzers);
  std::int64_t last_ns = run.begin_ns;
  for (int k = 0; k < run.setting.iterations; ++k) {
    std::int64_t ready_ns = 0;
    if (thread == 0) {
      run.lock_b.acquire();
      ready_ns = now_ns();
    }
    run.analysis_barrier.wait();
    const double* newest = run.next(k);
    double* to = run.copy.data();
    for (std::uint64_t i = begin; i < end; ++i) to[i] = newest[i];
    run.analysis_barrier.wait();
    std::int64_t copied_ns = 0;
    if (thread == 0) {
      copied_ns = now_ns();
      run.lock_a.release();
    }
    for (int pass = 0; pass < kPublishedPasses; ++pass) {
      run.sums_of_threads[thread].value = sum_of(to, begin, end);
      run.analysis_barrier.wait();
    }
    if (thread != 0) continue;
    run.result.sums.push_back(run.sum_of_threads(run.analyzers));
    const std::int64_t analyzed_ns = now_ns();
    times.analysis_idle_ns += ready_ns - last_ns;
    times.transfer_ns += copied_ns - ready_ns;
    times.analysis_ns += analyzed_ns - copied_ns;
    run.result.analysis_s.push_back(seconds(analyzed_ns - ready_ns));
    last_ns = analyzed_ns;
  }
  if (thread != 0) return;
  run.end_ns = last_ns;
  run.ended.release();
}

/// All threads do both kinds of work, one after the other (7.2). Only analysis is timed; generation is the rest.
void run_in_one_group(PublishedRun& run, std::uint64_t thread) noexcept {
  PipelineTimes& times = run.result.times;
  const std::uint64_t begin = piece_begin(run.matrix.rows, thread, run.generators);
  const std::uint64_t end = piece_begin(run.matrix.rows, thread + 1, run.generators);
  std::int64_t last_ns = run.begin_ns;
  for (int k = 0; k < run.setting.iterations; ++k) {
    run.generate(k, thread);
    run.generation_barrier.wait();
    const std::int64_t computed_ns = now_ns();
    for (int pass = 0; pass < kPublishedPasses; ++pass) {
      run.sums_of_threads[thread].value = sum_of(run.next(k), begin, end);
      run.generation_barrier.wait();
    }
    if (thread == 0) {
      run.result.sums.push_back(run.sum_of_threads(run.generators));
      const std::int64_t analyzed_ns = now_ns();
      times.generation_ns += computed_ns - last_ns;
      times.analysis_ns += analyzed_ns - computed_ns;
      run.result.generation_s.push_back(seconds(computed_ns - last_ns));
      run.result.analysis_s.push_back(seconds(analyzed_ns - computed_ns));
      last_ns = analyzed_ns;
    }
    run.generation_barrier.wait();
  }
  if (thread == 0) times.total_ns = last_ns - run.begin_ns;
}

}  // namespace

PublishedMatrix grid_of_eight(std::uint64_t side) {
  PublishedMatrix matrix;
  matrix.rows = side * side;
  matrix.begin.reserve(matrix.rows + 1);
  matrix.column.reserve(matrix.rows * 8);
  matrix.begin.push_back(0);
  for (std::uint64_t i = 0; i < side; ++i) {
    for (std::uint64_t j = 0; j < side; ++j) {
      for (std::uint64_t r = i == 0 ? 0 : i - 1; r <= std::min(i + 1, side - 1); ++r) {
        for (std::uint64_t c = j == 0 ? 0 : j - 1; c <= std::min(j + 1, side - 1); ++c) {
          if (r != i || c != j) matrix.column.push_back(static_cast<std::uint32_t>(r * side + c));
        }
      }
      matrix.begin.push_back(matrix.column.size());
    }
  }
  matrix.value.reserve(matrix.column.size());
  for (const std::uint32_t column :
       matrix.column) {  // the matrix is symmetric: a column has as many entries as its row
    matrix.value.push_back(1.0 / static_cast<double>(matrix.begin[column + 1] - matrix.begin[column]));
  }
  return matrix;
}

Difference largest_difference(std::span<const double> a, std::span<const double> b) noexcept {
  Difference largest;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double relative = std::abs(a[i] - b[i]) / std::abs(b[i]);
    if (relative <= largest.relative) continue;
    if (a[i] == b[i]) continue;  // both 0, or both infinite
    largest = {.relative = std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative, .row = i};
  }
  return largest;
}

double generate_rows(const PublishedMatrix& matrix, const double* previous, double* x, double c, std::uint64_t begin,
                     std::uint64_t end) noexcept {
  const std::uint64_t* first = matrix.begin.data();
  const std::uint32_t* column = matrix.column.data();
  const double* value = matrix.value.data();
  double change = -std::numeric_limits<double>::infinity();
  for (std::uint64_t i = begin; i < end; ++i) {
    double sum = 0;
    for (std::uint64_t e = first[i]; e < first[i + 1]; ++e) sum += value[e] * previous[column[e]];
    x[i] = kPublishedDamping * sum + c;
    change = std::max(change, x[i] - previous[i]);
  }
  return change;
}

PipelineResult run_published_pipeline(const PublishedMatrix& matrix, const PipelineSetting& setting, bool with_last) {
  PublishedRun run(matrix, setting);
  const std::uint64_t all = run.generators + run.analyzers;
  SpinBarrier start(static_cast<int>(all));
  const auto begin = [&](bool is_first) {
    start.wait();
    if (is_first) run.begin_ns = now_ns();
    start.wait();
  };
  std::vector<ThreadGroup> groups(1);
  groups[0].cpus = setting.generation_cpus;
  groups[0].prepare = [&](int thread) {
    const auto t = static_cast<std::uint64_t>(thread);
    const std::uint64_t first = piece_begin(matrix.rows, t, run.generators);
    const std::uint64_t last = piece_begin(matrix.rows, t + 1, run.generators);
    std::fill(run.previous(0) + first, run.previous(0) + last, 1.0 / static_cast<double>(matrix.rows));
    std::fill(run.next(0) + first, run.next(0) + last, 0.0);
  };
  groups[0].repeat = [&](int thread) {
    begin(thread == 0);
    const auto t = static_cast<std::uint64_t>(thread);
    run.analyzers > 0 ? generate_beside(run, t) : run_in_one_group(run, t);
  };
  if (run.analyzers > 0) {
    groups.resize(2);
    groups[1].cpus = setting.analysis_cpus;
    groups[1].prepare = [&](int thread) {
      const auto t = static_cast<std::uint64_t>(thread);
      std::fill(run.copy.data() + piece_begin(matrix.rows, t, run.analyzers),
                run.copy.data() + piece_begin(matrix.rows, t + 1, run.analyzers), 0.0);
    };
    groups[1].repeat = [&](int thread) {
      begin(false);
      analyze_beside(run, static_cast<std::uint64_t>(thread));
    };
  }
  (void)run_groups(groups, {.repeats = 1});
  if (with_last) {
    const double* last = run.analyzers > 0 ? run.copy.data() : run.next(setting.iterations - 1);
    run.result.last.assign(last, last + matrix.rows);
  }
  return std::move(run.result);
}

}  // namespace ringside
