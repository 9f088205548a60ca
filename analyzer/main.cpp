// ringside-analyzer: owns the pool, serves one producer at a time, keeps and reduces what it publishes. Lives as long
// as the service; with --once as long as one run.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analyzer/analyzer.hpp"
#include "analyzer/ring_admission.hpp"
#include "common/error.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/peer.hpp"
#include "common/program.hpp"
#include "common/reduction_json.hpp"
#include "common/report.hpp"
#include "common/stop_signal.hpp"
#include "common/topology.hpp"

namespace ringside {
namespace {

// How long a peer that connected may take to say what it wants, and how often the stop flag is looked at.
constexpr int kRequestTimeoutMs = 5000;
constexpr int kAcceptSliceMs = 200;

struct Options {
  AnalyzerOptions analyzer;
  ProcessOptions process;
  bool once = false;
};

const char* to_text(ServeEnd end) {
  switch (end) {
    case ServeEnd::kDetached: return "detached";
    case ServeEnd::kProducerLost: return "producer_lost";
    case ServeEnd::kProducerStopped: return "producer_stopped";
    case ServeEnd::kStopped: return "stopped";
    case ServeEnd::kViolation: return "protocol_violation";
    case ServeEnd::kSyncFailed: break;
  }
  return "sync_failed";
}

const char* to_text(Iterates iterates) {
  switch (iterates) {
    case Iterates::kNone: return "none";
    case Iterates::kClear: return "cleared";
    case Iterates::kOwn: return "own";
    case Iterates::kResume: break;
  }
  return "resumed";
}

const char* to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFinished: return "finished";
    case Outcome::kInterrupted: return "interrupted";
    case Outcome::kDiverged: return "diverged";
    case Outcome::kFailed: break;
  }
  return "failed";
}

/// Finds a ring for the run and tells the producer yes, or no and why. Throws the Error it was told.
void attach(std::optional<Attachment>& attachment, HandoffReader& handoff, const AnalyzerOptions& options,
            AnalyzerAccount& account) {
  // A request may lie in the queue for longer than its producer lives: a pool is not made, or cleared, for a dead one.
  if (!handoff.wanted()) throw peer_error("the producer (pid {}) left before it was attached", handoff.producer_pid());
  try {
    attachment.emplace(handoff, options, account);
  } catch (const Error& error) {
    handoff.refuse(error);
    throw;
  } catch (const std::exception& error) {  // no memory for a hostile number of rows: the service goes on
    const Error refusal = system_error("the analyzer cannot serve {} rows: {}", handoff.run().rows, error.what());
    handoff.refuse(refusal);
    throw refusal;
  }
  handoff.accept(attachment->take_continuation());
}

/// The report's thread reads an account: it has to end before the account does.
class ReportScope {
 public:
  ReportScope(Report& report, const AnalyzerAccount& account) : report_(report) {
    report_.start([&account] {
      nlohmann::json line = to_json(account);
      line["event"] = "progress";
      return line;
    });
  }
  ~ReportScope() { report_.stop(); }
  ReportScope(const ReportScope&) = delete;
  ReportScope& operator=(const ReportScope&) = delete;

 private:
  Report& report_;
};

nlohmann::json describe(const AnalyzerOptions& options, const Attachment& attachment, const AnalyzerAccount& account,
                        ServeEnd end) {
  nlohmann::json final = to_json(account);
  final["event"] = "final";
  final["how"] = to_text(end);
  final["slots"] = attachment.pool().ring().geometry().slot_count();
  final["durability"] = to_string(options.ring.durability);
  final["storage"] = to_string(attachment.pool().storage());
  final["reduce"] = options.reduce.reduce;
  final["passes"] = options.reduce.passes;
  final["hand_off_ns"] = to_json(account.hand_off);
  if (attachment.last()) final["last"] = to_json(*attachment.last(), account.last_iteration.load());
  return final;
}

/// Serves one producer from its request to its farewell. An Error means that it was refused.
ExitCode serve(const Options& options, HandoffReader& handoff, Report& report, const std::atomic<bool>& stop) {
  AnalyzerAccount account;
  std::optional<Attachment> attachment;
  attach(attachment, handoff, options.analyzer, account);
  const RunDescription& run = attachment->run();
  spdlog::info("event=attached run_id={} producer_pid={} rows={} matrix={} storage={} iterates={} from_step={}",
               to_string(run.run_id), handoff.producer_pid(), run.rows, text_of(run.matrix),
               to_string(attachment->pool().storage()), to_text(attachment->iterates()), handoff.steps_released());

  ReportScope progress(report, account);
  const ServeEnd end = attachment->serve(stop);
  const Outcome outcome = end == ServeEnd::kDetached ? handoff.outcome() : Outcome::kFailed;
  const Error error = attachment->finish(end);
  if (end == ServeEnd::kProducerLost || end == ServeEnd::kProducerStopped) {
    spdlog::warn("event={} run_id={} producer_pid={} steps_committed={}", to_text(end), to_string(run.run_id),
                 handoff.producer_pid(), account.steps_committed.load());
  }
  if (error.code() == ExitCode::kSystem) {
    spdlog::error("event=sync_failed run_id={} text=\"{}\"", to_string(run.run_id), error.what());
  }
  spdlog::info("event=run_ended run_id={} how={} outcome={} steps_committed={} steps_persisted={} exit_code={}",
               to_string(run.run_id), to_text(end), to_text(outcome), account.steps_committed.load(),
               account.steps_persisted.load(), static_cast<int>(error.code()));
  report.stop();
  report.write(describe(options.analyzer, *attachment, account, end));
  // Being asked to stop is no failure of the service.
  return end == ServeEnd::kStopped && error.code() == ExitCode::kPeerLost ? ExitCode::kDone : error.code();
}

ExitCode run(const Options& options) {
  const std::atomic<bool>& stop = catch_stop_signals();
  if (!options.process.cores.empty()) pin_openmp_threads(parse_core_list(options.process.cores, "--cores").cpus);
  Listener listener(options.process.socket);
  check_pool(options.analyzer.ring.pool);

  Report report(options.process.report_fd);
  report.write({{"event", "ready"}, {"pid", getpid()}});
  spdlog::info("event=listening socket={} pool={}", options.process.socket, options.analyzer.ring.pool);

  while (!stop.load()) {
    std::optional<Peer> peer = listener.accept(kAcceptSliceMs);
    if (!peer) continue;
    std::optional<HandoffReader> handoff;
    try {
      handoff.emplace(std::move(*peer), kRequestTimeoutMs, options.analyzer.peer.timeout_s);
    } catch (const std::exception& error) {  // not one of ours: it is turned away, and the next one may come
      spdlog::warn("event=turned_away text=\"{}\"", error.what());
      continue;
    }
    try {
      const ExitCode code = serve(options, *handoff, report, stop);
      // After a failed write nothing is known about what the disk holds: the service ends, and its manager decides.
      if (options.once || code == ExitCode::kSystem) return code;
    } catch (const Error& error) {
      // The producer was told, and tells its user; the service goes on.
      spdlog::info("event=refused text=\"{}\"", error.what());
      if (options.once) return error.code();
    }
  }
  return ExitCode::kDone;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  Options options;
  CLI::App app("Keeps and reduces what producers publish: owns the pool, serves one producer at a time.",
               "ringside-analyzer");
  app.set_version_flag("--version", RINGSIDE_VERSION);
  declare(app, options.analyzer.ring);
  declare(app, options.analyzer.journal);
  declare(app, options.analyzer.reduce);
  declare(app, options.analyzer.peer);
  declare(app, options.process);
  app.add_flag("--once", options.once, "serve one producer, then exit");
  declare_config_file(app);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  options.analyzer.may_spin = !options.process.shared_core;
  return run_program([&] {
    start_log("ringside-analyzer", options.process.log_level);
    return static_cast<int>(run(options));
  });
}
