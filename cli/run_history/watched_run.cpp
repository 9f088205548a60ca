// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/watched_run.hpp"

#include <fmt/format.h>

#include "cli/run_history/history_json.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/version.hpp"

namespace ringside {
namespace {

Json describe(const AnalyzerView& analyzer) {
  Json described = {{"up", analyzer.up},
                    {"was_up", analyzer.was_up},
                    {"since_s", seconds(analyzer.since_unix_ns)},
                    {"changes", analyzer.changes}};
  if (!analyzer.last) return described;
  const wire::Status& said = *analyzer.last;
  described["version"] = said.version();
  described["pid"] = said.pid();
  described["analyzer_id"] = fmt::format("{:016x}", said.analyzer_id());
  described["attached"] = said.attached();
  described["pool"] = said.pool();
  described["journal"] = said.journal();
  described["journal_error"] = said.journal_error();
  return described;
}

/// {slots, used, states: [{slot, commit_seq, iteration, state, use}]}: the state of the pool itself.
Json describe(const RingSlots& slots) {
  Json states = Json::array();
  for (const RingSlot& one : slots.slots) {
    const char* const state = one.state == SlotState::kCommitted ? "kept"
                              : one.state == SlotState::kEmpty   ? "empty"
                                                                 : "damaged";
    Json use;
    if (one.use) use = *one.use == SlotUse::kFree ? "free" : *one.use == SlotUse::kHeld ? "held" : "written";
    states.push_back({{"slot", one.slot},
                      {"commit_seq", one.commit_seq},
                      {"iteration", one.iteration},
                      {"state", state},
                      {"use", use}});
  }
  return {{"slots", slots.count}, {"used", slots.used}, {"states", states}};
}

}  // namespace

WatchedRun::WatchedRun() {
  analyzer_.since_unix_ns = realtime_ns();
}

void WatchedRun::take(std::span<const wire::Record> records) {
  const std::lock_guard lock(mutex_);
  for (const wire::Record& record : records) history_.learn(record);
  for (const wire::Record& record : records) history_.add(record);
}

void WatchedRun::take(const wire::Status& status) {
  const std::lock_guard lock(mutex_);
  history_.add(status);
  analyzer_.last = status;
  set_up(true);
}

void WatchedRun::analyzer_is(bool up) {
  const std::lock_guard lock(mutex_);
  set_up(up);
}

void WatchedRun::another_analyzer_came() {
  const std::lock_guard lock(mutex_);
  ++analyzer_.changes;
  set_up(true);
}

void WatchedRun::take(std::optional<RingSlots> slots) {
  const std::lock_guard lock(mutex_);
  slots_ = std::move(slots);
}

void WatchedRun::begin_anew() {
  const std::lock_guard lock(mutex_);
  slots_.reset();
  history_ = RunHistory();
}

void WatchedRun::set_up(bool up) {
  if (up != analyzer_.up) analyzer_.since_unix_ns = realtime_ns();
  analyzer_.up = up;
  analyzer_.was_up = analyzer_.was_up || up;
}

std::string WatchedRun::status_json() const {
  const std::lock_guard lock(mutex_);
  Json status = {{"version", version()},
                 {"now_s", seconds(realtime_ns())},
                 {"newest_seq", history_.newest_seq()},
                 {"analyzer", describe(analyzer_)}};
  status.update(ringside::describe(history_));
  if (Json& ring = status["ring"]; ring.is_object()) {
    if (analyzer_.last) {  // the status may arrive before the records
      if (analyzer_.last->has_frozen_at_iteration())
        ring["frozen_at_iteration"] = analyzer_.last->frozen_at_iteration();
      if (const auto guarded = analyzer_.last->guarded_commit_seq()) ring["guarded_commit_seq"] = guarded;
    }
    if (slots_) ring.update(describe(*slots_));
  }
  return dump(status);
}

std::string WatchedRun::steps_json(std::uint64_t from, std::size_t limit, std::span<const std::string> results) const {
  const std::lock_guard lock(mutex_);
  Json answer = {{"run_id", Json()}, {"newest_seq", history_.newest_seq()}, {"more", false}};
  std::vector<SeriesPoint> points;
  if (history_.run()) {
    answer["run_id"] = hex(history_.run()->run_id);
    points = history_.run()->series.from(from, limit + 1);
    if (points.size() > limit) {
      answer["more"] = true;
      points.pop_back();
    }
  }
  answer["steps"] = to_json(points, results);
  answer["analyses"] = history_.run() ? to_json(history_.run()->analyses, results, from) : Json::array();
  return dump(answer);
}

}  // namespace ringside
