// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/live_analysis.hpp"

#include <fmt/format.h>

#include <csignal>

#include "analyzer/pool/pool_file.hpp"
#include "cli/analyses/analysis_journal.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/clock.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/text/hex.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr int kBusyMs = 5;    // the longest wait while a reply is expected
constexpr int kIdleMs = 100;
constexpr std::int64_t kLookNs = 200'000'000;           // the time between two checks for the end of the run
constexpr std::int64_t kOwnerlessNs = 5'000'000'000;    // within this time, a killed analyzer gets a successor

StepPlace place_of(const KeptSlot& slot) noexcept {
  return {.commit_seq = slot.header.commit_seq, .iteration = slot.header.iteration};
}

void note(const std::string& text) {
  write_standard_error(fmt::format("ringside: {}\n", printable(text)));
}

}  // namespace

std::optional<NewestKept> newest_kept(const std::string& pool) try {
  const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
  const std::vector<KeptSlot> kept = reader.recover().kept;
  if (kept.empty()) return std::nullopt;
  NewestKept newest{.pool_id = reader.ring().geometry().pool_id,
                    .run_id = to_string(kept.back().header.run_id),
                    .newest = place_of(kept.back()),
                    .first_of_run = place_of(kept.back())};
  for (const KeptSlot& slot : kept) {
    const bool is_of_run = slot.header.run_id == kept.back().header.run_id;
    if (is_of_run && slot.header.commit_seq < newest.first_of_run.commit_seq) newest.first_of_run = place_of(slot);
  }
  return newest;
} catch (const Error&) {
  return std::nullopt;
}

StepPlace NewestKept::before_run() const noexcept {
  const std::uint64_t steps = newest.commit_seq - first_of_run.commit_seq;
  const std::uint64_t distance = newest.iteration - first_of_run.iteration;
  const std::uint64_t stride = steps > 0 && distance % steps == 0 ? distance / steps : 1;
  return {.commit_seq = first_of_run.commit_seq - 1,
          .iteration = first_of_run.iteration - std::min(stride, first_of_run.iteration)};
}

LiveAnalysis::LiveAnalysis(const LiveRun& run, const std::optional<NewestKept>& before, AnalysisWorkers& workers,
                           StopSignals& signals)
    : run_(run), before_(before), workers_(workers), signals_(signals) {
  if (!run_.socket.empty()) channel_.emplace(run_.socket);
}

ExitCode LiveAnalysis::follow(const AnalysisWorker::OnResults& on_results) {
  const auto take = [&](const wire::AnalysisResults& results) {
    on_results(results);
    if (channel_) {
      channel_->add(results);
    } else {
      rest_.push_back(results);
    }
  };
  const auto goes_on = [&] {
    if (workers_.any_running()) return true;
    if (is_over_ || interrupted_) return false;
    // If the run started this process, the steps that the analyses missed are known only at the end of the run.
    return run_.is_ours || (channel_ && !channel_->is_empty() && channel_->refusal().empty());
  };
  while (goes_on()) {
    const bool reads = !channel_ || !channel_->is_full();
    const bool is_busy = !begun_ || (channel_ && !channel_->is_empty());
    workers_.wait(signals_, is_busy ? kBusyMs : kIdleMs, reads);
    look_at_signals();
    workers_.take_in(take, reads);
    if (channel_) channel_->turn(!begun_ || !run_.is_ours);
    if (!begun_ && !is_over_) begin_if_attached();
    if (!is_over_ && !run_.is_ours) look_for_the_end();
    if (is_over_) finish();
  }
  workers_.take_in_rest(take);
  if (begun_) {
    const std::optional<NewestKept> newest = newest_kept(run_.pool);
    if (newest && newest->run_id == begun_->run_id) workers_.count_rest(newest->newest);
  }
  const ExitCode code = keep_rest();
  return interrupted_ ? ExitCode::kInterrupted : code;
}

void LiveAnalysis::look_at_signals() {
  while (const int number = signals_.take()) {
    if (run_.is_ours && number == SIGTERM) {
      is_over_ = true;
    } else {
      interrupted_ = true;
      workers_.kill("interrupted");
    }
  }
}

void LiveAnalysis::begin_if_attached() {
  if (channel_ && channel_->status() && channel_->status()->attached()) {
    const wire::RunStarted& started = channel_->status()->run();
    // If the run began before this process, its kept steps are analyzed as well.
    const std::optional<NewestKept> kept = run_.is_ours ? std::nullopt : newest_kept(run_.pool);
    const std::string run_id = hex(started.run_id());
    const std::uint64_t first = started.first_commit_seq();
    const StepPlace before_first{.commit_seq = first > 0 ? first - 1 : 0, .iteration = started.from_iteration()};
    begin({.run_id = run_id, .after = kept && kept->run_id == run_id ? kept->before_run() : before_first});
  } else if (!channel_) {
    begin_at_kept();
  }
}

/// Begins with the run whose steps the pool keeps now, unless all these steps are from before the current run.
void LiveAnalysis::begin_at_kept() {
  const std::optional<NewestKept> now = newest_kept(run_.pool);
  if (!now) return;
  const bool is_same_pool = before_ && before_->pool_id == now->pool_id;
  if (is_same_pool && before_->newest.commit_seq >= now->newest.commit_seq) return;
  const StepPlace before_ours = is_same_pool ? before_->newest : StepPlace();
  begin({.run_id = now->run_id, .after = run_.is_ours ? before_ours : now->before_run()});
}

void LiveAnalysis::begin(const FollowedRun& run) {
  begun_ = run;
  workers_.follow(run);
}

/// For a run that did not start this process: checks whether the run has ended.
void LiveAnalysis::look_for_the_end() {
  const std::int64_t now = now_ns();
  if (begun_ && channel_ && channel_->status()) {
    const wire::Status& status = *channel_->status();
    const std::string run_id = hex(status.run().run_id());
    // The successor of a lost analyzer reports no run until a producer attaches to it.
    is_over_ = status.attached() ? run_id != begun_->run_id : !run_id.empty();
  }
  if (is_over_ || now - looked_ns_ < kLookNs) return;
  looked_ns_ = now;
  if (has_owner(run_.pool)) {
    ownerless_since_ns_ = 0;
  } else if (ownerless_since_ns_ == 0) {
    ownerless_since_ns_ = now;
  } else if (now - ownerless_since_ns_ > kOwnerlessNs) {
    is_over_ = true;
  }
}

/// After the run: lets the processes analyze the steps that are still kept, until the deadline.
void LiveAnalysis::finish() {
  const std::int64_t now = now_ns();
  if (deadline_ns_ == 0) {
    deadline_ns_ = now + static_cast<std::int64_t>(run_.timeout_s * 1e9);
    if (channel_) rest_ = channel_->take_pending();
    channel_.reset();
    if (!begun_) begin_at_kept();
    workers_.end();
  } else if (now > deadline_ns_) {
    workers_.kill(
        fmt::format("did not end within {} s after the run (--analyze-timeout), and was killed", run_.timeout_s));
  }
}

ExitCode LiveAnalysis::keep_rest() {
  if (channel_) {
    const std::vector<wire::AnalysisResults> pending = channel_->take_pending();
    rest_.insert(rest_.begin(), pending.begin(), pending.end());
  }
  if (rest_.empty()) return ExitCode::kDone;
  const Appending appending = try_to_append(run_.pool, rest_);
  if (!appending.failure.empty()) {
    note(fmt::format("{} of analyses are not in the journal: {}", counted(rest_.size(), "result"), appending.failure));
  }
  return appending.code;
}

}  // namespace ringside
