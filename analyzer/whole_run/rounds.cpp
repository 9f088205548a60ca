// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/rounds.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/thread.hpp"
#include "common/program/log.hpp"

namespace ringside {
namespace {

constexpr int kTurnMs = 50;                        // the longest wait for a message
constexpr std::int64_t kAgainNs = 500'000'000;     // if no state returns for this time, the oldest round restarts
constexpr std::int64_t kStallNs = 10'000'000'000;  // the time before the log reports a stall, and between two reports

}  // namespace

Rounds::Rounds(RoundPlan plan, NodeLink& link, const Schema& schema, Team& team, const std::vector<int>& cpus)
    : plan_(std::move(plan)), link_(link), cpus_(cpus), parts_(schema, plan_.places, team), store_(parts_.words()) {
  link_.admit(plan_.previous_key);
  next_.emplace(link_.context(), ChannelKind::kDealer,
                ChannelOptions{.max_message_bytes = kMostRoundBytes,
                               .high_water_mark = 2 * PartStore::kMost,  // a neighbour may be absent for a long time
                               .linger_ms = 100,                         // time for the message that the run has ended
                               .name = {},
                               .curve = CurveKeys{.own = link_.keys(), .server_key = plan_.next_key}});
  next_->connect("tcp://" + plan_.next_address);
}

void Rounds::begin(std::uint64_t first_step, Collector* collector) {
  collector_ = collector;
  store_.begin(first_step);
  begun_ = collected_ = first_step;
  moved_ns_.store(now_ns());
  thread_ = std::thread([this] { run(); });
}

Rounds::~Rounds() {
  ends_.store(true);
  if (thread_.joinable()) thread_.join();
}

// --- main thread -----------------------------------------------------------------------------------------------------

void Rounds::prepare(const StepWithScalars& step, const StepReducer& reducer, std::span<const std::uint64_t> results,
                     const void* payload, const void* previous) noexcept {
  prepared_ = &store_.place();
  prepared_->step = step;
  parts_.store(reducer, results, payload, previous, prepared_->words);
}

void Rounds::add(const StepFigures& figures) noexcept {
  prepared_->figures = figures;
  store_.stored();
}

void Rounds::pass_over() noexcept {
  ++passed_over_;
  store_.stored();
}

void Rounds::finish(std::int64_t patience_ns) {
  store_.end();
  was_finished_.store(true);
  patience_ns_.store(patience_ns);
  moved_ns_.store(now_ns());
  ends_.store(true);
  thread_.join();
  if (collector_ != nullptr) collector_->finish(store_.end_step() - passed_over_);  // no step is kept after a freeze
}

void Rounds::leave() {
  ends_.store(true);
  thread_.join();
}

// --- its own thread --------------------------------------------------------------------------------------------------

void Rounds::run() {
  pthread_setname_np(pthread_self(), "round");
  bind_calling_thread(cpus_);  // if this fails, the thread runs on other cores: slower, but correct
  lower_thread_priority();     // steps take precedence over work here
  std::array<Channel*, 2> channels = {&link_.arrivals(), &link_.questions()};
  while (!is_over()) {
    Channel::wait(channels, kTurnMs, store_.fd());
    try {
      link_.answer();
      store_.seen();
      take_messages();
      if (plan_.collects()) begin_rounds();
      take_turns();
      if (plan_.collects()) {
        collect_in_order();
        send_again();
      }
      // Nodes without the collector keep parts longer: if the collector is killed, a step that it has collected may not
      // be in the journal, and its successor requests that step again.
      const std::uint64_t kept_longer = plan_.collects() ? 0 : store_.capacity() / 4;
      store_.free_before(collected_ - std::min(collected_, kept_longer));
    } catch (const std::exception&) {  // no memory: the present states are sent again, or lost
    }
  }
  tell_end();
}

void Rounds::take_messages() {
  while (link_.arrivals().receive(frames_)) {
    RoundState state;
    if (frames_.size() != 2 || !message_.ParseFromString(frames_.back()) || !read(plan_, message_, state)) continue;
    moved_ns_.store(now_ns());
    if (state.node == plan_.nodes) {
      // Only steps in progress are accepted, so that the number of kept states is limited, as in the store.
      const bool is_under_way = state.step >= collected_ && state.step < begun_;
      if (!plan_.collects() || state.ended || !is_under_way) continue;
      const auto sent = sent_.find(state.step);
      if (sent != sent_.end()) {
        const auto [begun_ns, sent_ns] = sent->second;
        returned_sent_ns_ = std::max(returned_sent_ns_, state.again ? sent_ns : begun_ns);
      }
      returned_.insert_or_assign(state.step, std::move(state));
      continue;
    }
    if (state.node != plan_.node) continue;
    collected_ = std::max(collected_, state.collected);
    was_told_end_ = state.ended;
    if (state.ended) continue;
    // The state waits even if its turn has come, so that it cannot overtake an earlier one. If it is dropped here, the
    // first node resends it.
    if (state.step < store_.end_step() + PartStore::kMost) waiting_.insert_or_assign(state.step, std::move(state));
  }
}

void Rounds::begin_rounds() {
  for (const std::uint64_t end = store_.end_step(); begun_ < end; ++begun_) {
    if (store_.find(begun_) == nullptr) continue;
    const std::int64_t now = now_ns();
    sent_[begun_] = {now, now};
    begin_round(begun_, false);
  }
}

void Rounds::begin_round(std::uint64_t step, bool again) {
  RoundState state;
  state.step = step;
  state.again = again;
  state.fields.resize(plan_.whole.size());
  take_turn(state);
}

/// Handles those states for which this node has its own part. A part that can no longer arrive is lost.
void Rounds::take_turns() {
  const std::uint64_t end = store_.end_step();
  while (!waiting_.empty() && waiting_.begin()->first < end) {
    auto next = waiting_.extract(waiting_.begin());
    take_turn(next.mapped());
  }
  // After the end of a run no further part arrives.
  if (!was_finished_.load()) return;
  for (auto& [step, state] : waiting_) take_turn(state);
  waiting_.clear();
}

void Rounds::take_turn(RoundState& state) {
  if (!state.lost_by && !add_own_part(state)) state.lost_by = plan_.node;
  if (plan_.collects()) state.collected = collected_;
  ++state.node;
  send(state);
}

/// Returns false if this node has no part of the step, or if its part does not fit.
bool Rounds::add_own_part(RoundState& state) {
  const PartStore::Part* const own = store_.find(state.step);
  if (own == nullptr) return false;
  const std::uint64_t iteration = own->step.descriptor.iteration;
  if (state.has_figures && state.iteration != iteration) {
    if (!std::exchange(told_iterations_, true)) {
      log_warning(
          "event=round_differs step={} text=\"node {} published iteration {} as this step, but the nodes before it "
          "published {}; expected the same iteration on all ranks\"",
          state.step, plan_.node, iteration, state.iteration);
    }
    return false;
  }
  state.iteration = iteration;
  take_figures(state, own->figures);
  for (std::size_t f = 0; f < parts_.fields(); ++f) {
    const FieldPart part = parts_.part(f, own->words);
    WholeField& field = state.fields[parts_.variable_of(f)];
    if (field.entries != part.first) return false;  // cannot happen: all nodes' plans come from one file
    field.take(part);
  }
  return true;
}

void Rounds::send(const RoundState& state) noexcept {
  try {
    write(plan_, state, message_);
    message_.SerializeToString(&bytes_);
    next_->send(bytes_);  // if there is no room, the message is lost, and the first node begins the round again
  } catch (const std::exception&) {
  }
}

/// At the first node: collects the returned steps whose turn it is.
void Rounds::collect_in_order() {
  while (collected_ < begun_) {
    if (store_.find(collected_) == nullptr) {
      ++collected_;
      continue;
    }
    const auto found = returned_.find(collected_);
    if (found == returned_.end()) break;
    if (!found->second.lost_by && collector_ != nullptr) collector_->take(found->second, *store_.find(collected_));
    moved_ns_.store(now_ns());
    ++collected_;
  }
  returned_.erase(returned_.begin(), returned_.lower_bound(collected_));
  sent_.erase(sent_.begin(), sent_.lower_bound(collected_));
}

/// Resends the oldest state if it is lost, for instance with a node's analyzer. States do not overtake each other, so
/// the oldest state is lost if a later one has returned. If no state returns, the oldest is resent at intervals.
void Rounds::send_again() {
  if (sent_.empty()) return;
  const std::int64_t now = now_ns();
  auto& [step, sent] = *sent_.begin();
  const std::int64_t stalled_ns = now - std::max(moved_ns_.load(), sent.begun_ns);
  if (stalled_ns > kStallNs && now - told_stall_ns_ > kStallNs) {
    told_stall_ns_ = now;
    log_warning(
        "event=round_stalls step={} text=\"no step has come back from the other nodes for {} s; the next node listens "
        "at {}; the run continues\"",
        step, stalled_ns / 1'000'000'000, plan_.next_address);
  }
  const bool is_lost = sent.sent_ns < returned_sent_ns_;
  if (!is_lost && now - std::max(sent.sent_ns, moved_ns_.load()) < kAgainNs) return;
  sent.sent_ns = now;
  begin_round(step, true);
}

bool Rounds::is_over() const noexcept {
  if (!ends_.load()) return false;
  if (plan_.collects() ? collected_ >= store_.end_step() : was_told_end_) return true;
  return now_ns() - moved_ns_.load() > patience_ns_.load();
}

/// Sends the end of the run through all nodes, from the first to the last, so that no node waits longer.
void Rounds::tell_end() {
  if (!was_finished_.load() || (!plan_.collects() && !was_told_end_)) return;
  RoundState state;
  state.node = plan_.node + 1;
  state.ended = true;
  send(state);
}

}  // namespace ringside
