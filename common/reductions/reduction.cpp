// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction.hpp"

#include <cstddef>
#include <memory>

#include "common/reductions/field_reducer.hpp"
#include "common/reductions/reduction_scratch.hpp"
#include "common/reductions/reduction_words.hpp"
#include "common/threads/openmp_team.hpp"
#include "common/threads/team.hpp"

namespace ringside {

struct Reducer::Workspace {
  Workspace(std::uint64_t rows, Team& its_team)
      : team(its_team), scratch(static_cast<std::size_t>(team.threads())), field(DType::kF64, rows, scratch) {}

  void sweep_all(const double* x) noexcept {
    const std::uint64_t pieces = team.pieces(field.blocks(), kReductionBlocksInPiece);
    team.share(pieces, [&](std::uint64_t piece, int thread) noexcept {
      field.sweep(static_cast<std::size_t>(thread), x, piece_begin(field.blocks(), piece, pieces),
                  piece_begin(field.blocks(), piece + 1, pieces));
    });
  }

  Team& team;
  ReductionScratch scratch;
  FieldReducer field;
  std::uint64_t words[1 + kRealFieldWords] = {};
  Reductions result;
};

Reducer::Reducer(std::uint64_t rows)
    : own_team_(std::make_unique<OpenMpTeam>()), workspace_(std::make_unique<Workspace>(rows, *own_team_)) {}
Reducer::Reducer(std::uint64_t rows, Team& team) : workspace_(std::make_unique<Workspace>(rows, team)) {}
Reducer::~Reducer() = default;

const Reductions& Reducer::reduce(const double* x, const double* previous, int passes) noexcept {
  workspace_->field.begin(previous);
  workspace_->sweep_all(x);
  for (int pass = 1; pass < passes; ++pass) {
    workspace_->field.begin_again();
    workspace_->sweep_all(x);
  }
  workspace_->words[0] = workspace_->field.finish(&workspace_->words[1]);
  workspace_->result = to_reductions(workspace_->words, workspace_->field.entries());
  return workspace_->result;
}

}  // namespace ringside
