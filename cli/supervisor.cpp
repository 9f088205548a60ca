#include "cli/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "common/clock.hpp"

namespace ringside {
namespace {

// How often progress is looked at when nothing happens.
constexpr int kTickMs = 100;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);  // the terminal was closed
  return set;
}

UniqueFd take_in_stop_signals() {
  const sigset_t set = stop_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) throw system_error("cannot watch for signals: {}", errno_text(errno));
  return fd;
}

}  // namespace

Supervisor::Supervisor(bool show_progress, double kill_after_s)
    : signals_(take_in_stop_signals()),
      kill_after_ns_(static_cast<std::int64_t>(kill_after_s * 1e9)),
      progress_(show_progress) {}

bool Supervisor::wait_until_ready(Child& analyzer) {
  while (analyzer.running() && !analyzer_.ready && interrupts_ == 0) wait_once(nullptr, &analyzer);
  if (interrupts_ > 0) analyzer.signal(SIGTERM);
  while (analyzer.running() && !analyzer_.ready) wait_once(nullptr, &analyzer);
  return analyzer.running() && analyzer_.ready && interrupts_ == 0;
}

void Supervisor::wait_until_ended(Child& producer, Child* analyzer) {
  std::int64_t analyzer_alone_since_ns = 0;
  bool told_producer = false;
  while (producer.running() || (analyzer != nullptr && analyzer->running())) {
    wait_once(&producer, analyzer);
    // Without its producer the analyzer has nothing left to do: SIGTERM lets it finish what was published.
    if (!producer.running() && analyzer != nullptr && analyzer_alone_since_ns == 0) {
      analyzer->signal(SIGTERM);
      analyzer_alone_since_ns = now_ns();
    }
    // One that is stopped (SIGSTOP) would never hear it. While it waits for the disk it must not be killed: it reports.
    if (analyzer_alone_since_ns != 0 && analyzer->running() &&
        now_ns() - std::max(analyzer_alone_since_ns, analyzer_.heard_at_ns) > kill_after_ns_) {
      progress_.clear();
      fmt::print(stderr,
                 "ringside: the analyzer does not answer; it is killed, what it had committed is in the pool\n");
      analyzer->signal(SIGKILL);
      analyzer_alone_since_ns = now_ns();
    }
    // Without its analyzer a producer that still loads need not go on; one that was attached has noticed by itself.
    if (producer.running() && analyzer != nullptr && !analyzer->running() && !told_producer) {
      producer.signal(SIGINT);
      told_producer = true;
    }
  }
  progress_.clear();
}

void Supervisor::wait_once(Child* producer, Child* analyzer) {
  std::vector<pollfd> watched = {{signals_.get(), POLLIN, 0}};
  for (const Child* child : {producer, analyzer}) {
    if (child == nullptr) continue;
    for (const int fd : {child->report_fd(), child->stderr_fd()}) {
      if (fd >= 0) watched.push_back({fd, POLLIN, 0});
    }
    if (child->running()) watched.push_back({child->pidfd(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), kTickMs);

  pass_on_signals(producer, analyzer);
  for (Child* child : {producer, analyzer}) {
    if (child == nullptr) continue;
    child->reap();  // before reading: then what is read below is all it ever wrote
    take_in(*child, child == producer ? producer_ : analyzer_);
  }
  progress_.update(producer_.figures, analyzer_.figures);
}

void Supervisor::take_in(Child& child, Reported& reported) {
  child.read_report([&](const std::string& text) {
    reported.heard_at_ns = now_ns();
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object()) return;
    const std::string event = line.value("event", "");
    if (event == "ready") {
      reported.ready = true;
      return;
    }
    if (reported.figures.is_null()) reported.figures = nlohmann::json::object();
    reported.figures.update(line);
  });
  child.read_stderr([&](const std::string& text) {
    progress_.clear();
    fmt::print(stderr, "{}\n", text);
  });
}

// The first asks for a clean stop: the producer finishes its iteration and detaches, the analyzer commits what was
// published. The second is for those who do not want to wait for that, the third for those who cannot.
void Supervisor::pass_on_signals(Child* producer, Child* analyzer) {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    ++interrupts_;
    if (producer != nullptr) producer->signal(interrupts_ > 2 ? SIGKILL : SIGINT);
    if (analyzer != nullptr && interrupts_ > 1) analyzer->signal(interrupts_ > 2 ? SIGKILL : SIGTERM);
  }
}

}  // namespace ringside
