// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rank_options.hpp"

#include <algorithm>

#include "common/platform/error.hpp"
#include "common/schema/schema.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside::mpi {

void check_variables(std::vector<Variable> variables) {
  for (Variable& variable : variables) std::ranges::fill(variable.shape, 1);
  (void)Schema::of(std::move(variables));
}

void check_policies(const HandoffOptions& options) {
  if (options.coordination != CoordinationKind::kLocks) {
    throw usage_error("--coordination: found messages, expected locks: ranks of a node share counters");
  }
  if (options.on_analyzer_loss == OnAnalyzerLoss::kContinue) {
    throw usage_error("--on-analyzer-loss: found continue, expected wait or stop: no node may skip a step that others keep");
  }
  if (options.elastic) {
    throw usage_error(
        "lent_cores: found cores, expected none and RINGSIDE_ELASTIC=off (--elastic off): ranks do not lend "
        "them, because while one rank waits, others may compute on the same cores");
  }
}

std::string common_text(const RankOptions& options) {
  std::string text;
  for (const Variable& variable : options.variables) {
    text += formatted("{}{}", text.empty() ? "" : ", ", to_text(variable));
  }
  for (const Scalar& scalar : options.scalars) {
    text += formatted("; scalar {} {} {}", scalar.name, to_string(scalar.type), scalar.unit);
  }
  const RunDescription& run = options.run;
  text += formatted("; solver {}, problem {} ({}), parameters {}", text_of(run.solver), text_of(run.matrix),
                    to_string(run.problem_id), text_of(run.parameters));
  const HandoffOptions& handoff = options.handoff;
  return text + formatted("; work {}, {} buffers, pool_use {}, on_analyzer_loss {}, peer_timeout_s {}", run.nonzeros,
                          handoff.buffers, static_cast<int>(handoff.pool_use) + 1,
                          static_cast<int>(handoff.on_analyzer_loss) + 1, handoff.peer_timeout_s);
}

std::pair<std::string, std::string> differing(const std::string& own, const std::string& other) {
  constexpr std::size_t kShown = 160;
  constexpr std::size_t kBefore = 40;
  const auto ends = std::mismatch(own.begin(), own.end(), other.begin(), other.end());
  const auto at = static_cast<std::size_t>(ends.first - own.begin());
  const std::size_t from = at > kBefore ? own.rfind(' ', at - kBefore / 2) + 1 : 0;
  return {own.substr(std::min(from, own.size()), kShown), other.substr(std::min(from, other.size()), kShown)};
}

}  // namespace ringside::mpi
