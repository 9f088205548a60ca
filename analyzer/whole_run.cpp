// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run.hpp"

#include <spdlog/spdlog.h>

#include "common/platform/error.hpp"

namespace ringside {

WholeRun::WholeRun(NodeLink* link, const HandoffReader& handoff, Attachment& attachment, const RecorderOptions& recorder,
                   const RunToRecord& recorded, const TriggerOptions& triggers, std::atomic<bool>& stop_run) {
  if (link == nullptr || !attachment.ranks()) return;
  try {
    plan_ = round_plan(*attachment.ranks());
    if (!plan_) return;
    if (plan_->collects()) {
      collector_.emplace(global_options(recorder), triggers, *plan_, handoff.scalars(), stop_run);
      collector_->begin_run(recorded);
    }
    round_.emplace(*plan_, *link, collector_ ? &*collector_ : nullptr, handoff.schema(), attachment.team(),
                   handoff.steps_released(), recorder.cpus);
    attachment.join(*round_);
  } catch (const Error& error) {  // the run is attached and goes on
    spdlog::warn("event=no_whole_run text=\"{}; the results of the whole run are not recorded\"", error.what());
  }
}

void WholeRun::end(ServeEnd how, const wire::RunEnded& ended) {
  constexpr std::int64_t kPatienceNs = 5'000'000'000;
  constexpr std::int64_t kBrokenOffNs = 300'000'000;
  if (round_) round_->finish(how == ServeEnd::kDetached ? kPatienceNs : kBrokenOffNs);
  if (collector_) collector_->end_run(ended);
}

}  // namespace ringside
