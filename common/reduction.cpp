#include "common/reduction.hpp"

#include <omp.h>

#include <cstddef>
#include <vector>

#include "common/isa.hpp"
#include "common/reduction_kernel.hpp"

namespace ringside {

struct Reducer::Workspace {
  // 64: one cache line, the alignment the kernel's states ask for; no two threads write to the same one.
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  explicit Workspace(std::uint64_t rows_of_iterate)
      : kernel(*select(&plain::reduction_kernel, &avx2::reduction_kernel, &avx512::reduction_kernel)),
        rows(rows_of_iterate),
        blocks((rows_of_iterate + kernel.block_rows - 1) / kernel.block_rows),
        threads(static_cast<std::size_t>(omp_get_max_threads())),
        states(threads * kernel.state_bytes / sizeof(Line)),
        block_sums(blocks * kernel.sums_per_block) {}

  void* state(std::size_t thread) noexcept { return states.data() + thread * kernel.state_bytes / sizeof(Line); }

  const ReductionKernel& kernel;
  std::uint64_t rows;
  std::uint64_t blocks;
  std::size_t threads;
  std::vector<Line> states;
  std::vector<double> block_sums;
  Reductions result;
};

Reducer::Reducer(std::uint64_t rows) : workspace_(std::make_unique<Workspace>(rows)) {}
Reducer::~Reducer() = default;

const Reductions& Reducer::reduce(const double* x, const double* previous, int passes) noexcept {
  Workspace& w = *workspace_;
  for (std::size_t thread = 0; thread < w.threads; ++thread) w.kernel.clear(w.state(thread));
#pragma omp parallel num_threads(static_cast <int>(w.threads))
  {
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    SweepPart part{x, previous, w.rows, w.blocks * thread / threads, w.blocks * (thread + 1) / threads};
    w.kernel.sweep(w.state(thread), w.block_sums.data(), part);
    part.previous = nullptr;
    for (int pass = 1; pass < passes; ++pass) w.kernel.sweep(w.state(thread), w.block_sums.data(), part);
  }
  w.kernel.finish(w.states.data(), w.threads, w.block_sums.data(), w.rows, previous != nullptr, w.result);
  return w.result;
}

}  // namespace ringside
