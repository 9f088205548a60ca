// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "common/platform/error.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside::crash {
namespace {

std::string name_of(const Iterate& iterate) {
  return fmt::format("iteration {} of run {}", iterate.iteration, iterate.run);
}

template <class T>
bool same_bytes(const T& a, const T& b) noexcept {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// The iterate that a header names; null if it was never published.
const Iterate* find_published(const History& history, const SlotHeader& header) {
  for (const std::uint32_t run : history.begun_or_beginning()) {
    if (header.run_id == run_id_of(run)) return history.find(run, header.iteration);
  }
  return nullptr;
}

std::string check_kept(const RingView& ring, const KeptSlot& kept, const History& history, const Promise& promise,
                       Published& published, std::vector<Found>& intact) {
  const SlotHeader& header = kept.header;
  const Iterate* iterate = find_published(history, header);
  if (iterate == nullptr || header.step != step_of(iterate->run, iterate->iteration).step) {
    return fmt::format("1: slot {} holds iteration {}, step {}, which was never published", kept.slot, header.iteration,
                       header.step);
  }
  if (iterate->forgotten && (promise.committed_is_kept || promise.persisted_is_kept)) {
    return fmt::format("1: {} is found though it was discarded", name_of(*iterate));
  }
  if (promise.numbers_hold && iterate->commit_seq != 0 && header.commit_seq != iterate->commit_seq) {
    return fmt::format("3: {} was commit {}, it is returned as commit {}", name_of(*iterate), iterate->commit_seq,
                       header.commit_seq);
  }
  // Without hashes, every slot with a header counts as intact.
  if (promise.hashes_hold && !check_payload(ring, kept.slot, header).intact()) {
    return promise.leaves_no_damage ? fmt::format("2: {} is torn, but not marked as overwritten", name_of(*iterate))
                                    : "";
  }
  const StepWithScalars step = slot_step_of(iterate->run, iterate->iteration);
  const StepWithScalars found = ring.step(kept.slot);
  if (!published.is_payload(ring.payload(kept.slot), iterate->run, iterate->iteration) ||
      std::memcmp(&found, &step, ring.geometry().step_bytes()) != 0) {
    return fmt::format("3: {} is returned, but is not bit-equal to what was published", name_of(*iterate));
  }

  SlotResults results;
  const ResultsState state = ring.results(kept.slot, header, results);
  if (promise.hashes_hold) {
    if (state == ResultsState::kDamaged && promise.leaves_no_damage) {
      return fmt::format("3: the results of {} are reported as damaged", name_of(*iterate));
    }
    if (state == ResultsState::kRecorded &&
        (results.words != published.results(iterate->run, iterate->iteration) ||
         results.catalogue_hash !=
             catalogue_hash(published.catalogue(iterate->run).descriptions(), ring.geometry().schema().id()))) {
      return fmt::format("3: the results of {} are returned, but are not those recorded", name_of(*iterate));
    }
    const bool expected =
        promise.committed_is_kept ? iterate->recorded : promise.persisted_is_kept && iterate->recorded_persisted;
    if (expected && state != ResultsState::kRecorded && !iterate->given_up && !iterate->clearing) {
      return fmt::format("1: the results recorded for {} are lost", name_of(*iterate));
    }
  }
  intact.push_back({iterate->run, iterate->iteration, header.commit_seq, state == ResultsState::kRecorded});
  return "";
}

std::string check_runs(const RingView& ring, const History& history, const Promise& promise, Published& published,
                       const std::vector<Found>& intact) {
  const auto& known = history.begun_or_beginning();
  const std::vector<RunReading> runs = ring.runs();
  for (const RunReading& reading : runs) {
    const bool ours = std::any_of(known.begin(), known.end(), [&](std::uint32_t run) {
      return reading.run.run_id == run_id_of(run) && same_bytes(reading.run, published.run(run)) &&
             std::ranges::equal(std::as_bytes(std::span(reading.catalogue)),
                                std::as_bytes(published.catalogue(run).descriptions()));
    });
    if (!ours) return fmt::format("3: record {} describes a run that never began", reading.index);
  }
  const auto described = [&](std::uint32_t run) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const RunReading& one) { return one.run.run_id == run_id_of(run); });
  };
  if (!promise.committed_is_kept && !promise.persisted_is_kept) return "";
  const auto& begun = history.begun();
  if (!begun.empty() && !described(begun.back())) {
    return fmt::format("1: the description of run {}, which has begun, is lost", begun.back());
  }
  for (const Found& found : intact) {
    const Iterate* iterate = history.find(found.run, found.iteration);
    const bool expected = promise.committed_is_kept || (iterate->persisted && !iterate->given_up && !iterate->clearing);
    if (expected && !described(found.run)) return fmt::format("1: {} has no description of its run", name_of(*iterate));
  }
  return "";
}

/// Iterates that readers held may remain although newer iterates were overwritten, which leaves a gap. After a run went
/// back to an earlier iteration, its commit numbers continue above those of the discarded iterates, but no iteration is
/// missing.
std::string check_contiguous(const Recovery& recovery, const History& history) {
  bool is_behind_gap = false;
  for (std::size_t i = recovery.kept.size(); i-- > 0;) {
    const SlotHeader& header = recovery.kept[i].header;
    const Iterate& iterate = *find_published(history, header);
    if (i + 1 < recovery.kept.size()) {
      const SlotHeader& next = recovery.kept[i + 1].header;
      const bool went_back = iterate.gone_back_to && next.run_id == header.run_id && next.iteration == header.iteration + 1;
      is_behind_gap = is_behind_gap || (next.commit_seq != header.commit_seq + 1 && !went_back);
    }
    if (is_behind_gap && !iterate.held) {
      return fmt::format("2: of {} recovered iterations only the last {} are contiguous, and no reader held another",
                         recovery.kept.size(), recovery.contiguous);
    }
  }
  return "";
}

std::string check_ring(const RingView& ring, const History& history, const Promise& promise, Published& published,
                       std::vector<Found>& intact) {
  const Recovery recovery = recover(ring);
  if (promise.leaves_no_damage && !recovery.damaged.empty()) {
    return fmt::format("2: the header of slot {} is damaged", recovery.damaged.front());
  }
  for (const KeptSlot& kept : recovery.kept) {
    const std::string violation = check_kept(ring, kept, history, promise, published, intact);
    if (!violation.empty()) return violation;
  }
  const auto acknowledged = [&](const Iterate& iterate) {
    if (iterate.commit_seq == 0 || iterate.clearing) return false;
    return promise.committed_is_kept || (promise.persisted_is_kept && iterate.persisted);
  };
  std::uint64_t newest = 0;  // the newest acknowledged commit: its slot must never be overwritten by another commit
  for (const Iterate& iterate : history.iterates()) {
    if (acknowledged(iterate)) newest = std::max(newest, iterate.commit_seq);
  }
  for (const Iterate& iterate : history.iterates()) {
    if (!acknowledged(iterate) || (iterate.given_up && iterate.commit_seq != newest)) continue;
    const bool found = std::any_of(intact.begin(), intact.end(), [&](const Found& one) {
      return one.run == iterate.run && one.iteration == iterate.iteration;
    });
    if (!found) {
      return fmt::format("1: {}, whose commit was {}, is lost", name_of(iterate),
                         promise.committed_is_kept ? "acknowledged" : "reported as persisted");
    }
  }
  if (promise.committed_is_kept) {
    if (const std::string violation = check_contiguous(recovery, history); !violation.empty()) return violation;
    const std::uint64_t slots = ring.geometry().slot_count();
    const std::uint64_t least = std::min(history.committed_since_empty(), slots - 1);
    if (!history.clearing() && recovery.kept.size() < least) {
      return fmt::format("2: {} iterations are recovered, of {} slots at least {} must be", recovery.kept.size(), slots,
                         least);
    }
  }
  return check_runs(ring, history, promise, published, intact);
}

}  // namespace

Promise promise_of(Model model, const Setting& setting) noexcept {
  Promise promise;
  const bool fenced = model == Model::kDax || model == Model::kProcessDeath;
  promise.committed_is_kept = promise.leaves_no_damage = promise.numbers_hold = fenced;
  promise.persisted_is_kept = setting.durability == Durability::kPower;
  return promise;
}

Verdict check_image(const PoolBytes& pool, const History& history, const Promise& promise, Published& published) {
  Verdict verdict;
  try {
    const RingView ring = RingView::parse(pool.file(), "image");
    verdict.is_ring = true;
    verdict.violation = check_ring(ring, history, promise, published, verdict.intact);
  } catch (const UnfinishedPoolError& error) {
    if (history.formatted()) verdict.violation = fmt::format("1: the pool was finished, now: {}", error.what());
  } catch (const Error& error) {
    verdict.violation = fmt::format("3: a power cut is taken for something else: {}", error.what());
  }
  return verdict;
}

std::string check_continuation(PoolBytes& pool, const History& history, const Promise& promise, const Setting& setting,
                               const std::vector<Found>& found, Published& published, Trace& trace) {
  const std::size_t mark = pool.mark();
  const std::uint32_t run = history.begun_or_beginning().empty() ? 0 : history.begun_or_beginning().back();
  const auto go_on = [&]() -> std::string {
    try {
      Owner owner(pool, trace, setting, published, 0);
      if (!owner.ring().superblock_intact(0) || !owner.ring().superblock_intact(1)) {
        return "4: an owner has opened the pool, but a superblock is still damaged";
      }
      owner.begin_run(run);
      // The run must continue from its newest intact iterate, as check_image found it.
      const std::uint64_t newest = !found.empty() && found.back().run == run ? found.back().iteration : 0;
      if (owner.newest() != newest) {
        return fmt::format("5: the run continues after iteration {}, the newest intact one is {}", owner.newest(),
                           newest);
      }
      if (newest != 0 && !published.is_payload(owner.handed_over(), run, newest)) {
        return fmt::format("5: the run continues from something else than iteration {}", newest);
      }
      History now = history;
      for (const Event& event : trace) now.apply(event);
      Verdict verdict = check_image(pool, now, promise, published);
      if (!verdict.violation.empty()) return "4: after recovery: " + verdict.violation;

      const std::size_t before = trace.size();
      owner.commit_next();
      owner.finish();
      for (std::size_t i = before; i < trace.size(); ++i) now.apply(trace[i]);
      verdict = check_image(pool, now, promise, published);
      if (!verdict.violation.empty()) return "5: after the next commit: " + verdict.violation;
      const bool there = std::any_of(verdict.intact.begin(), verdict.intact.end(),
                                     [&](const Found& one) { return one.run == run && one.iteration == newest + 1; });
      if (!there) return fmt::format("5: the run continued, but its iteration {} is not there", newest + 1);
      return "";
    } catch (const Error& error) {
      return fmt::format("4: the ring cannot be opened again: {}", error.what());
    }
  };
  const std::string violation = go_on();
  pool.rollback(mark);
  return violation;
}

}  // namespace ringside::crash
