// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/round/round.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/thread_binding.hpp"

namespace ringside {
namespace {

constexpr int kTurnMs = 50;  // without a message
constexpr std::int64_t kAgainNs = 500'000'000;        // a round that has not come back is begun again
constexpr std::int64_t kStallNs = 10'000'000'000;     // until the log says so, and between two such lines
constexpr std::size_t kMostWaiting = 4 * PartStore::kMost;  // states; the first node sends what is dropped again

}  // namespace

Round::Round(RoundPlan plan, NodeLink& link, Collector* collector, const Schema& schema, Team& team,
             std::uint64_t first_step, const std::vector<int>& cpus)
    : plan_(std::move(plan)),
      link_(link),
      collector_(collector),
      cpus_(cpus),
      parts_(schema, plan_.places, team),
      store_(parts_.words(), first_step),
      begun_(first_step),
      collected_(first_step) {
  link_.admit(plan_.previous_key);
  next_.emplace(link_.context(), ChannelKind::kDealer,
                ChannelOptions{.max_message_bytes = kMostRoundBytes,
                               .linger_ms = 100,  // for the word that the run has ended
                               .name = {},
                               .curve = CurveKeys{.own = link_.keys(), .server_key = plan_.next_key}});
  next_->connect("tcp://" + plan_.next_address);
  moved_ns_.store(now_ns());
  thread_ = std::thread([this] { run(); });
}

Round::~Round() {
  ends_.store(true);
  if (thread_.joinable()) thread_.join();
}

// --- main thread -----------------------------------------------------------------------------------------------------

void Round::prepare(const StepWithScalars& step, const StepReducer& reducer, std::span<const std::uint64_t> results,
                    const void* payload, const void* previous) noexcept {
  prepared_ = store_.room();
  if (prepared_ == nullptr) return;
  prepared_->step = step;
  parts_.store(reducer, results, payload, previous, prepared_->words);
}

void Round::add(const StepFigures& figures) noexcept {
  if (prepared_ != nullptr) prepared_->figures = figures;
  store_.stored();
}

void Round::finish(std::int64_t patience_ns) {
  was_finished_.store(true);
  patience_ns_.store(patience_ns);
  moved_ns_.store(now_ns());
  ends_.store(true);
  thread_.join();
  if (collector_ != nullptr) collector_->finish(store_.end_step());
}

// --- its own thread --------------------------------------------------------------------------------------------------

void Round::run() {
  pthread_setname_np(pthread_self(), "round");
  bind_calling_thread(cpus_);  // on failure it runs elsewhere: slower, not wrong
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
      store_.free_before(collected_);
    } catch (const std::exception& error) {  // no memory: what was at hand is sent again, or lost
      spdlog::warn("event=round text=\"{}\"", error.what());
    }
  }
  tell_end();
}

void Round::take_messages() {
  while (link_.arrivals().receive(frames_)) {
    RoundState state;
    if (frames_.size() != 2 || !message_.ParseFromString(frames_.back()) || !read(plan_, message_, state)) continue;
    moved_ns_.store(now_ns());
    if (state.node == plan_.nodes) {
      // Only steps whose round is under way: what is kept stays as bounded as the store.
      const bool is_under_way = state.step >= collected_ && state.step < begun_;
      if (plan_.collects() && !state.ended && is_under_way) returned_.insert_or_assign(state.step, std::move(state));
      continue;
    }
    if (state.node != plan_.node) continue;
    collected_ = std::max(collected_, state.collected);
    was_told_end_ = state.ended;
    if (state.ended) continue;
    if (waiting_.size() < kMostWaiting) waiting_.insert_or_assign(state.step, std::move(state));
  }
}

void Round::begin_rounds() {
  for (const std::uint64_t end = store_.end_step(); begun_ < end; ++begun_) {
    if (store_.find(begun_) == nullptr) continue;
    RoundState state;
    state.step = begun_;
    state.fields.resize(plan_.whole.size());
    sent_[begun_] = now_ns();
    take_turn(state);
  }
}

/// Those states whose part is here. A part that will not come is lost.
void Round::take_turns() {
  const std::uint64_t end = store_.end_step();
  while (!waiting_.empty() && waiting_.begin()->first < end) {
    auto next = waiting_.extract(waiting_.begin());
    take_turn(next.mapped());
  }
  // A run that ends here has no further parts.
  if (!ends_.load()) return;
  for (auto& [step, state] : waiting_) take_turn(state);
  waiting_.clear();
}

void Round::take_turn(RoundState& state) {
  const PartStore::Part* const own = store_.find(state.step);
  if (own == nullptr && !state.lost_by) state.lost_by = plan_.node;
  if (!state.lost_by) {
    state.iteration = own->step.descriptor.iteration;
    take_figures(state, own->figures);
    for (std::size_t f = 0; f < parts_.fields(); ++f) {
      const FieldPart part = parts_.part(f, own->words);
      WholeField& field = state.fields[parts_.variable_of(f)];
      if (field.entries != part.first) {  // cannot happen: the plans of all nodes come from one file
        state.lost_by = plan_.node;
        break;
      }
      field.take(part);
    }
  }
  if (plan_.collects()) state.collected = told_as_collected();
  ++state.node;
  send(state);
}

/// Not the newest: a step that was collected may not be in the journal yet when this process is killed, and its successor
/// asks for the step again.
std::uint64_t Round::told_as_collected() const noexcept {
  const std::uint64_t back = store_.capacity() / 4;
  return std::max(store_.first_step(), collected_ - std::min(collected_, back));
}

void Round::send(const RoundState& state) noexcept {
  try {
    write(plan_, state, message_);
    message_.SerializeToString(&bytes_);
    next_->send(bytes_);  // without room it is lost; the first node begins the round again
  } catch (const std::exception&) {
  }
}

/// By the first node: the steps whose turn it is.
void Round::collect_in_order() {
  while (collected_ < begun_) {
    if (store_.find(collected_) == nullptr) {
      ++collected_;
      continue;
    }
    const auto found = returned_.find(collected_);
    if (found == returned_.end()) break;
    if (!found->second.lost_by) collector_->take(found->second, *store_.find(collected_));
    moved_ns_.store(now_ns());
    ++collected_;
  }
  returned_.erase(returned_.begin(), returned_.lower_bound(collected_));
  sent_.erase(sent_.begin(), sent_.lower_bound(collected_));
}

/// A message is lost if a node's analyzer dies with it.
void Round::send_again() {
  if (sent_.empty()) return;
  const std::int64_t now = now_ns();
  if (now - moved_ns_.load() > kStallNs && now - told_stall_ns_ > kStallNs) {
    told_stall_ns_ = now;
    spdlog::warn("event=round_stalls step={} text=\"no step has come back from the other nodes for {} s; the next one "
                 "listens at {}; the run goes on\"",
                 sent_.begin()->first, (now - moved_ns_.load()) / 1'000'000'000, plan_.next_address);
  }
  auto& [step, sent_ns] = *sent_.begin();
  if (now - sent_ns < kAgainNs) return;
  sent_ns = now;
  RoundState state;
  state.step = step;
  state.fields.resize(plan_.whole.size());
  take_turn(state);
}

bool Round::is_over() const noexcept {
  if (!ends_.load()) return false;
  if (plan_.collects() ? collected_ >= store_.end_step() : was_told_end_) return true;
  return now_ns() - moved_ns_.load() > patience_ns_.load();
}

/// From the first node round to the last one, so that none waits any longer.
void Round::tell_end() {
  if (!was_finished_.load() || (!plan_.collects() && !was_told_end_)) return;
  RoundState state;
  state.node = plan_.node + 1;
  state.ended = true;
  send(state);
}

}  // namespace ringside
