// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/history.hpp"

#include <algorithm>

namespace ringside::crash {

const Iterate* History::find(std::uint32_t run, std::uint64_t iteration) const noexcept {
  // Searches from the newest iterate on, because most searches are for the iterate that was published last.
  for (auto iterate = iterates_.rbegin(); iterate != iterates_.rend(); ++iterate) {
    if (iterate->run == run && iterate->iteration == iteration) return &*iterate;
  }
  return nullptr;
}

Iterate& History::of(std::uint32_t run, std::uint64_t iteration) {
  if (const Iterate* found = find(run, iteration)) return iterates_[static_cast<std::size_t>(found - iterates_.data())];
  iterates_.push_back({.run = run, .iteration = iteration});
  return iterates_.back();
}

void History::apply(const Event& event) {
  switch (event.kind) {
    case EventKind::kRunBegins: beginning_.push_back(event.run); break;
    case EventKind::kRunBegun: begun_.push_back(event.run); break;
    case EventKind::kClearing:
      clearing_ = true;
      for (Iterate& iterate : iterates_) iterate.clearing = true;
      break;
    case EventKind::kCleared:
      clearing_ = false;
      committed_since_empty_ = 0;
      for (Iterate& iterate : iterates_) iterate.forgotten = true;
      break;
    case EventKind::kGoingBack:
    case EventKind::kWentBack: go_back(event); break;
    case EventKind::kHeld:
      for (Iterate& iterate : iterates_) {
        if (iterate.commit_seq == event.value) iterate.held = true;
      }
      break;
    case EventKind::kTaking:
      for (Iterate& iterate : iterates_) {
        if (iterate.commit_seq == event.value) iterate.given_up = true;
      }
      break;
    case EventKind::kPublished:
      of(event.run, event.iteration) = {.run = event.run, .iteration = event.iteration};
      break;
    case EventKind::kCommitted: {
      Iterate& iterate = of(event.run, event.iteration);
      if (iterate.commit_seq == 0) ++committed_since_empty_;
      iterate.commit_seq = event.value;
      iterate.clearing = false;  // the owner that began to discard the iterate died
      break;
    }
    case EventKind::kReduced: of(event.run, event.iteration).recorded = true; break;
    case EventKind::kPersisted:
      for (Iterate& iterate : iterates_) {
        if (iterate.commit_seq != 0 && iterate.commit_seq <= event.value) iterate.persisted = true;
      }
      break;
    case EventKind::kFinished:
      for (Iterate& iterate : iterates_) {
        if (iterate.commit_seq != 0) iterate.persisted = true;
        iterate.recorded_persisted = iterate.recorded;
      }
      break;
    case EventKind::kFormatted: formatted_ = true; break;
    case EventKind::kKilled:
      if (clearing_) committed_since_empty_ = 0;  // some iterates may already be cleared
      clearing_ = false;
      break;
    default: break;
  }
}

void History::go_back(const Event& event) {
  clearing_ = event.kind == EventKind::kGoingBack;
  of(event.run, event.iteration).gone_back_to = true;
  committed_since_empty_ = 0;
  for (Iterate& iterate : iterates_) {
    if (iterate.run == event.run && iterate.iteration > event.iteration) {
      iterate.clearing = true;
      iterate.forgotten = !clearing_;
    } else if (iterate.commit_seq != 0 && !iterate.given_up && !iterate.forgotten) {
      ++committed_since_empty_;
    }
  }
}

void History::cut_off(std::span<const Found> found) {
  for (Iterate& iterate : iterates_) {
    const auto match = std::find_if(found.begin(), found.end(), [&](const Found& one) {
      return one.run == iterate.run && one.iteration == iterate.iteration;
    });
    const bool there = match != found.end();
    iterate.given_up = iterate.clearing = !there;
    iterate.commit_seq = there ? match->commit_seq : 0;
    iterate.recorded = there && match->recorded;
    iterate.recorded_persisted = iterate.recorded_persisted && iterate.recorded;
  }
  clearing_ = false;
  committed_since_empty_ = found.size();
}

}  // namespace ringside::crash
