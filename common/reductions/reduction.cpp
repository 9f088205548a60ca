// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "common/kernels/isa.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/threads/team.hpp"

namespace ringside {
namespace {

// The blocks in a piece for an elastic team: 1 MiB, swept in some 40 us.
constexpr std::uint64_t kBlocksInPiece = 128;

}  // namespace

struct Reducer::Workspace {
  // 64: one cache line, the alignment that the kernel's states require; no two threads write to the same one.
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  Workspace(std::uint64_t rows_of_iterate, Team& its_team)
      : team(its_team),
        kernel(*select(&plain::reduction_kernel, &avx2::reduction_kernel, &avx512::reduction_kernel)),
        rows(rows_of_iterate),
        blocks((rows_of_iterate + kernel.block_rows - 1) / kernel.block_rows),
        threads(static_cast<std::size_t>(team.threads())),
        states(threads * kernel.state_bytes / sizeof(Line)),
        staging(threads * kCopyChunkBytes / sizeof(Line)),
        block_sums(blocks * kernel.sums_per_block) {}

  void* state(std::size_t thread) noexcept { return states.data() + thread * kernel.state_bytes / sizeof(Line); }

  double* staged(std::size_t thread) noexcept {
    return reinterpret_cast<double*>(staging.data() + thread * kCopyChunkBytes / sizeof(Line));
  }

  void sweep_all(const double* x, const double* before) noexcept {
    const std::uint64_t pieces = team.pieces(blocks, kBlocksInPiece);
    team.share(pieces, [&](std::uint64_t piece, int thread) noexcept {
      const SweepPart part{x, before, rows, piece_begin(blocks, piece, pieces), piece_begin(blocks, piece + 1, pieces)};
      kernel.sweep(state(static_cast<std::size_t>(thread)), block_sums.data(), part);
    });
  }

  Team& team;
  const ReductionKernel& kernel;
  std::uint64_t rows;
  std::uint64_t blocks;
  std::size_t threads;
  std::vector<Line> states;
  std::vector<Line> staging;
  std::vector<double> block_sums;
  const double* previous = nullptr;  // the change is computed against it
  Reductions result;
};

Reducer::Reducer(std::uint64_t rows)
    : own_team_(std::make_unique<OpenMpTeam>()), workspace_(std::make_unique<Workspace>(rows, *own_team_)) {}
Reducer::Reducer(std::uint64_t rows, Team& team) : workspace_(std::make_unique<Workspace>(rows, team)) {}
Reducer::~Reducer() = default;

std::size_t Reducer::threads() const noexcept {
  return workspace_->threads;
}

void Reducer::begin(const double* previous) noexcept {
  Workspace& w = *workspace_;
  w.previous = previous;
  for (std::size_t thread = 0; thread < w.threads; ++thread) w.kernel.clear(w.state(thread));
}

std::uint64_t Reducer::copy_nontemporal(std::size_t thread, double* to, const double* from, std::uint64_t first_row,
                                        std::size_t rows) noexcept {
  Workspace& w = *workspace_;
  const double* previous = w.previous != nullptr ? w.previous + first_row : nullptr;
  return w.kernel.copy(w.state(thread), w.block_sums.data(), {from, to, previous, w.staged(thread), first_row, rows});
}

StagedRows Reducer::stage(std::size_t thread, const double* from, std::uint64_t first_row, std::size_t rows) noexcept {
  return {workspace_->staged(thread), copy_nontemporal(thread, nullptr, from, first_row, rows)};
}

void Reducer::sweep(std::size_t thread, const double* x, std::uint64_t first_row, std::uint64_t rows) noexcept {
  Workspace& w = *workspace_;
  const std::uint64_t end_block = (first_row + rows + w.kernel.block_rows - 1) / w.kernel.block_rows;
  w.kernel.sweep(w.state(thread), w.block_sums.data(),
                 {x, w.previous, w.rows, first_row / w.kernel.block_rows, end_block});
}

const Reductions& Reducer::finish(const double* x, int passes) noexcept {
  Workspace& w = *workspace_;
  for (int pass = 1; pass < passes; ++pass) {
    for (std::size_t thread = 0; thread < w.threads; ++thread) w.kernel.clear_but_change(w.state(thread));
    w.sweep_all(x, nullptr);
  }
  w.kernel.finish(w.states.data(), w.threads, w.block_sums.data(), w.rows, w.previous != nullptr, w.result);
  return w.result;
}

const Reductions& Reducer::reduce(const double* x, const double* previous, int passes) noexcept {
  begin(previous);
  workspace_->sweep_all(x, previous);
  return finish(x, passes);
}

}  // namespace ringside
