// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "cli/supervision/logged_text.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/clock.hpp"
#include "common/program/stop_signal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

// The longest wait for an event. The progress line is updated after each wait.
constexpr int kTickMs = 100;

// A turn of the loop takes this long only if this process was stopped.
constexpr std::int64_t kAbsentNs = 1'000'000'000;

// The number of time-outs after which a stopped child is killed. Usually the child's peer gives up after one time-out,
// and the run ends soon after. The limit is needed if the peer is stopped as well, or is not attached yet.
constexpr int kStoppedPatience = 3;

}  // namespace

Json add(const Json& a, const Json& b) {
  if (a.is_number_unsigned() && b.is_number_unsigned()) return a.get<std::uint64_t>() + b.get<std::uint64_t>();
  return a.get<double>() + b.get<double>();
}

Supervisor::Supervisor(bool show_progress, double kill_after_s, bool progress_in_place)
    : kill_after_ns_(static_cast<std::int64_t>(kill_after_s * 1e9)),
      progress_(show_progress, progress_in_place),
      looked_at_ns_(now_ns()) {}

bool Supervisor::wait_until_ready(std::optional<Child>& analyzer, const std::function<void()>& restart_analyzer) {
  std::int64_t stopped_since_ns = 0;
  bool told = false;
  while (!analyzer_.ready && (analyzer->running() || replaced(*analyzer, restart_analyzer))) {
    wait_once(nullptr, &*analyzer);
    kill_if_stopped_for_long(*analyzer, "analyzer", stopped_since_ns);
    if (interrupts_ > 0 && !told) analyzer->signal(SIGTERM);
    told = interrupts_ > 0;
  }
  return analyzer_.ready && interrupts_ == 0;
}

bool Supervisor::wait_until_beside_ready() {
  while (!beside_reported_.ready && beside_->running() && interrupts_ == 0) wait_once(nullptr, nullptr);
  return beside_reported_.ready && interrupts_ == 0;
}

void Supervisor::end_beside(double kill_after_s) {
  const std::int64_t begun_ns = clock_ns_;
  int told = interrupts_;
  beside_->signal(SIGTERM);
  while (beside_->running()) {
    wait_once(nullptr, nullptr);
    if (interrupts_ > told) beside_->signal(SIGINT);
    told = interrupts_;
    if (clock_ns_ - begun_ns > static_cast<std::int64_t>(kill_after_s * 1e9)) beside_->signal(SIGKILL);
  }
  progress_.clear();
}

void Supervisor::wait_until_ended(Child& producer, std::optional<Child>& analyzer,
                                  const std::function<void()>& restart_analyzer) {
  std::int64_t producer_stopped_since_ns = 0;
  std::int64_t analyzer_alone_since_ns = 0;
  std::int64_t producer_alone_since_ns = 0;
  bool told_analyzer = false;
  while (producer.running() || (analyzer && analyzer->running())) {
    wait_once(&producer, analyzer ? &*analyzer : nullptr);
    kill_if_stopped_for_long(producer, "producer", producer_stopped_since_ns);
    if (producer.running() && analyzer && !analyzer->running() && producer_alone_since_ns == 0) {
      // The successor takes over at the next step; the producer waits for the successor.
      if (replaced(*analyzer, restart_analyzer)) continue;
      // A producer that is still loading its matrix is interrupted, because it cannot work without an analyzer. An
      // attached producer notices the loss itself.
      analyzer_reported_cause_ = analyzer->exit_code() > 0 && interrupts_ == 0;
      producer.signal(SIGINT);
      producer_alone_since_ns = clock_ns_;
    }
    // Without a producer, the analyzer has no further work: on SIGTERM it finishes the published steps. The signal is
    // not sent before the analyzer is ready, because until then the signal would kill the analyzer.
    if (!producer.running() && analyzer && analyzer_alone_since_ns == 0) analyzer_alone_since_ns = clock_ns_;
    if (analyzer_alone_since_ns != 0 && analyzer_.ready && !told_analyzer) {
      analyzer->signal(SIGTERM);
      told_analyzer = true;
    }
    // A stopped child (SIGSTOP) never handles the signal that asks it to end, so it is killed. A child that still
    // reports is waiting for the disk or is iterating, and must not be killed.
    if (analyzer) kill_if_silent(*analyzer, analyzer_, analyzer_alone_since_ns);
    kill_if_silent(producer, producer_, producer_alone_since_ns);
  }
  progress_.clear();
}

/// The time since `since_ns`, or since the process's last line if the line came later.
std::int64_t Supervisor::alone_for_ns(std::int64_t since_ns, const Reported& reported) const noexcept {
  return clock_ns_ - std::max(since_ns, reported.heard_at_ns);
}

void Supervisor::kill_if_silent(Child& child, const Reported& reported, std::int64_t& alone_since_ns) {
  if (alone_since_ns == 0 || !child.running() || alone_for_ns(alone_since_ns, reported) <= kill_after_ns_) return;
  say(&reported == &analyzer_ ? "the analyzer does not answer; it is killed, and its committed steps are in the pool"
                              : "the producer does not answer; it is killed, and its published steps are in the pool");
  child.signal(SIGKILL);
  alone_since_ns = clock_ns_;
}

void Supervisor::advance_clock() noexcept {
  const std::int64_t now = now_ns();
  clock_ns_ += std::min(now - looked_at_ns_, kAbsentNs);
  looked_at_ns_ = now;
}

/// Kills a child that was stopped by a signal for a long time. Otherwise a run would wait for the child for ever if no
/// peer notices that the child is stopped.
void Supervisor::kill_if_stopped_for_long(Child& child, const char* name, std::int64_t& stopped_since_ns) {
  if (!child.stopped()) {
    stopped_since_ns = 0;
    return;
  }
  if (stopped_since_ns == 0) stopped_since_ns = clock_ns_;
  if (clock_ns_ - stopped_since_ns <= kStoppedPatience * kill_after_ns_) return;
  say(fmt::format("the {} has been stopped by a signal for {} times --peer-timeout; it is killed", name,
                  kStoppedPatience));
  child.signal(SIGKILL);
  stopped_since_ns = 0;
}

void Supervisor::say(const std::string& text) {
  progress_.clear();
  write_standard_error(fmt::format("ringside: {}\n", printable(text)));
}

bool Supervisor::replaced(const Child& analyzer, const std::function<void()>& restart_analyzer) {
  if (!restart_analyzer || !analyzer_can_be_replaced(analyzer)) return false;
  say(fmt::format("the analyzer {}; another one takes over", analyzer.how_it_ended()));
  remember_lost_analyzer();
  restart_analyzer();
  return true;
}

/// True if the analyzer was killed or was stopped by another process, whether the producer had attached or not. False
/// if the analyzer ended by itself (it has then reported why), if the run is to end, or if several analyzers in a row
/// died without a committed step.
bool Supervisor::analyzer_can_be_replaced(const Child& analyzer) noexcept {
  constexpr int kFutileRestarts = 3;
  const std::string how = analyzer_.figures.is_object() ? analyzer_.figures.value("how", "") : std::string();
  const bool stopped = how == "stopped" || (how.empty() && analyzer.exit_code() == 0);
  const bool taken = analyzer.death_signal() != 0 || stopped;
  if (!taken || interrupts_ > 0) return false;
  const double committed = number(analyzer_.figures, "steps_committed");
  futile_restarts_ = restarts_ > 0 && committed <= committed_at_restart_ ? futile_restarts_ + 1 : 0;
  committed_at_restart_ = committed;
  return futile_restarts_ < kFutileRestarts;
}

// The figures that each analyzer counts from zero. The successor of an analyzer continues all other counts.
constexpr const char* kCountedByEach[] = {"transfer_s",      "commit_s",          "analyze_s", "record_s",
                                          "analyzer_idle_s", "bytes_transferred", "producer_cores_lent_s"};

void Supervisor::remember_lost_analyzer() {
  ++restarts_;
  if (plan_) plan_->begin_anew();
  analyzer_.ready = false;
  for (const char* key : kCountedByEach) {
    // The figures of the lost analyzer already include those of its predecessors.
    if (analyzer_.figures.is_object() && analyzer_.figures.contains(key)) lost_[key] = analyzer_.figures[key];
  }
  if (analyzer_.figures.is_object()) analyzer_.figures.erase("how");
}

void Supervisor::wait_once(Child* producer, Child* analyzer) {
  std::vector<pollfd> watched = {{signals_.fd(), POLLIN, 0}};
  for (const Child* child : {producer, analyzer, beside_}) {
    if (child == nullptr) continue;
    for (const int fd : {child->report_fd(), child->stderr_fd()}) {
      if (fd >= 0) watched.push_back({fd, POLLIN, 0});
    }
    if (child->running()) watched.push_back({child->pidfd(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), kTickMs);
  advance_clock();

  pass_on_signals(producer, analyzer);
  for (Child* child : {producer, analyzer, beside_}) {
    if (child == nullptr) continue;
    child->reap();  // before reading, so that the reads below get everything that an ended child wrote
    take_in(*child, child == producer ? producer_ : child == analyzer ? analyzer_ : beside_reported_);
  }
  if (plan_) {
    if (const std::optional<std::string> difference = plan_->observe(analyzer_.figures)) say(*difference);
  }
  progress_.update(producer_.figures, analyzer_.figures);
}

void Supervisor::take_in(Child& child, Reported& reported) {
  child.read_report([&](const std::string& text) {
    reported.heard_at_ns = clock_ns_;
    Json line = Json::try_parse(text);
    if (!line.is_object()) return;
    if (&reported == &analyzer_) {
      for (const auto& [key, lost] : lost_.items()) {
        if (line.contains(key)) line[key] = add(line[key], lost);
      }
      analyzer_reported(line);
    }
    const std::string event = line.value("event", "");
    const bool begins_as_expected = pool_may_be_empty_ && line.value("resumed_from", std::uint64_t{0}) == 0;
    if (event == "attached" && line.contains("note") && !begins_as_expected) say(line.value("note", ""));
    if (event == "plug_ins_ended" || event == "plug_ins_without_field") {
      for (const Json& sentence : line["lines"]) say(sentence.get<std::string>());
      return;
    }
    if (event == "ready") {
      reported.ready = true;
      return;
    }
    if (reported.figures.is_null()) reported.figures = Json::object();
    reported.figures.update(line);
  });
  child.read_stderr([&](const std::string& text) {
    // With this line, the producer reacts to the signal from this process; the analyzer has already reported the cause.
    if (&reported == &producer_ && analyzer_reported_cause_ && text.starts_with("ringside: interrupted ")) return;
    if (const std::optional<std::string> sentence = sentence_of(text)) return say(*sentence);
    if (&reported == &analyzer_) analyzers_last_line_ = text;
    if (&reported == &analyzer_ && attends_ && !analyzer_.ready) return;
    progress_.clear();
    write_standard_error(printable(text) + "\n");
  });
}

// The first signal requests a clean stop: the producer finishes its iteration and detaches, and the analyzer commits
// the published steps. After the second signal, the analyzer gets SIGTERM as well; after the third, both are killed. If
// the user's program has a handler for a batch system's announcement, the program decides what to do.
void Supervisor::pass_on_signals(Child* producer, Child* analyzer) {
  while (const int number = signals_.take()) {
    if (producer != nullptr && settle_signal(*producer, number)) continue;
    if (is_announcement(number) && interrupts_ > 0) continue;  // an announcement requests one stop and never kills
    ++interrupts_;
    if (producer != nullptr) signal_producer(*producer, interrupts_ > 2 ? SIGKILL : SIGINT);
    if (analyzer != nullptr && interrupts_ > 1) analyzer->signal(interrupts_ > 2 ? SIGKILL : SIGTERM);
  }
}

}  // namespace ringside
