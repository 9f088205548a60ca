// SPDX-License-Identifier: BSD-3-Clause
// ringside-analyzer: owns the pool, serves one producer at a time, keeps and reduces the steps that the producer
// publishes. It runs until the service is stopped; with --once, it serves only one run.
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/analyzer.hpp"
#include "analyzer/one_attachment.hpp"
#include "analyzer/place_check.hpp"
#include "analyzer/pool/ring_admission.hpp"
#include "analyzer/recorder/recorder.hpp"
#include "analyzer/run_events.hpp"
#include "analyzer/whole_run.hpp"
#include "common/handoff/acceptor.hpp"
#include "common/handoff/peer.hpp"
#include "common/json/json.hpp"
#include "common/messages/message_coordination.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/platform/names.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/platform/thread.hpp"
#include "common/program/log.hpp"
#include "common/program/program.hpp"
#include "common/program/report.hpp"
#include "common/program/service_manager.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"
#include "common/ranks/node_address.hpp"
#include "common/records/shown_results.hpp"

namespace ringside {
namespace {

// How often the loop checks the stop flag.
constexpr int kAcceptSliceMs = 200;

// No wait is needed: Acceptor returns a peer only once its request has arrived.
constexpr int kRequestIsThereMs = 0;

// Least interval between two log lines about peers that were turned away.
constexpr std::int64_t kLogIntervalNs = 10'000'000'000;

constexpr const char* kWaiting = "waiting for a producer";

struct Options {
  AnalyzerOptions analyzer;
  ProcessOptions process;
  bool once = false;
  bool supervised = false;  // whether `ringside run -- PROGRAM` started this process
  int publisher = 0;        // the argument of OneAttachment
};

void declare(CommandLine& line, Options& options) {
  line.flag("--once", options.once, "serve one producer, then exit");
  line.flag("--supervised", options.supervised, "serve one attachment and refuse all others, until SIGTERM").group("");
  line.option("--publisher", options.publisher, "process that was attached to this analyzer's predecessor")
      .value_name("PID")
      .group("");
  line.flag("--trial", options.analyzer.is_trial, "serve a trial: also a producer that requests another pool")
      .group("");
}

const char* to_text(RunStart start) {
  switch (start) {
    case RunStart::kEmpty: return "none";
    case RunStart::kCleared: return "cleared";
    case RunStart::kTakeover: return "own";
    case RunStart::kResume: break;
  }
  return "resumed";
}

// The bytes of work for which the watchdog waits longer (ServiceManager::expect_work_on). A ring may be made or
// replaced, each of its pages is faulted in, and the newest iterates are verified.
std::uint64_t pool_work(const RingOptions& options, std::uint64_t payload_bytes) {
  std::error_code none;
  const std::uintmax_t found = std::filesystem::file_size(options.pool, none);
  return 2 * ((none ? 0 : found) + payload_bytes * options.slots);
}

// The bytes of work for one step: its copy and each sweep of its reductions. If the ring is full before the disk has
// caught up, a sync of the whole ring is added.
std::uint64_t step_work(const Attachment& attachment, const ReduceOptions& reduce) {
  const RingGeometry& ring = attachment.pool().ring().geometry();
  return ring.payload_bytes() * (2 * static_cast<std::uint64_t>(reduce.passes) + 1 + ring.slot_count());
}

/// Finds a ring for the run, then accepts the producer, or refuses it with the reason. Rethrows the Error with which
/// the producer was refused. `report`: receives the attachment; may be null.
void attach(std::optional<Attachment>& attachment, HandoffReader& handoff, const AnalyzerOptions& options,
            PlugInSet& plug_ins, AnalyzerAccount& account, RecordQueue* records, ServiceManager& manager,
            Report* report) {
  // A request may still be in the queue when its producer is already dead. No pool is made or cleared for a dead
  // producer.
  if (!handoff.wanted()) throw peer_error("the producer (pid {}) left before it was attached", handoff.producer_pid());
  manager.describe(fmt::format("preparing {} for {} rows", options.ring.pool, handoff.run().entries));
  manager.expect_work_on(pool_work(options.ring, handoff.schema().payload_bytes()));
  try {
    if (!options.is_trial) check_asked_pool(handoff.asked_pool(), options.ring.pool);
    attachment.emplace(handoff, options, plug_ins, account, records, manager);
  } catch (const Error& error) {
    handoff.refuse(error);
    throw;
  } catch (const std::exception& error) {  // no memory for the huge number of rows of a peer: the service continues
    const Error refusal = system_error("the analyzer cannot serve {} rows: {}", handoff.run().entries, error.what());
    handoff.refuse(refusal);
    throw refusal;
  }
  const Continuation from = attachment->take_continuation();
  // The report precedes the reply, because `ringside run` needs it before the producer acts on the reply.
  if (report != nullptr) report->write(describe_attachment(handoff, *attachment, from.note));
  handoff.accept(from, options.cores);
}

/// Ends the report's thread before the account that this thread reads is destroyed.
class ReportScope {
 public:
  /// with_publisher: whether to report the producer's side, too, because the producer itself does not report it.
  ReportScope(Report& report, const AnalyzerAccount& account, bool with_publisher) : report_(report) {
    report_.start([&account, with_publisher] {
      Json line = to_json(account);
      line["event"] = "progress";
      if (with_publisher) line["producer"] = publisher_json(account);
      return line;
    });
  }
  ~ReportScope() { report_.stop(); }
  ReportScope(const ReportScope&) = delete;
  ReportScope& operator=(const ReportScope&) = delete;

 private:
  Report& report_;
};

Json describe(const AnalyzerOptions& options, const Attachment& attachment, const AnalyzerAccount& account,
              ServeEnd end) {
  Json final = to_json(account);
  final["event"] = "final";
  final["how"] = to_text(end);
  final["slots"] = attachment.pool().ring().geometry().slot_count();
  final["pool_gone"] = attachment.pool().whereabouts() != Whereabouts::kNamed;
  final["durability"] = to_string(options.ring.durability);
  final["storage"] = to_string(attachment.pool().storage());
  final["reduce"] = to_string(attachment.reduction().at());
  final["adapted"] = attachment.reduction().adapted();
  final["passes"] = options.reduce.passes;
  final["hand_off_ns"] = to_json(account.hand_off);
  final["plug_ins"] = plug_ins_json(attachment.plug_ins());
  final["triggers"] = triggers_json(attachment.triggers());
  const auto& freeze = attachment.triggers().freeze();
  final["frozen_at_iteration"] = freeze ? Json(freeze->iteration) : Json();
  const int freeze_error = attachment.triggers().freeze_error();
  final["freeze_error"] = freeze_error != 0 ? Json(errno_text(freeze_error)) : Json();
  if (const PoolArchive* archive = attachment.triggers().archive()) {
    final["archive"] = {{"kept", archive->kept()}, {"lost", attachment.triggers().not_archived()}};
  }
  const StepResults last = attachment.last();
  if (last.empty()) return final;
  // If a step has no field, the keys of its reductions are null.
  const std::optional<ReductionScalars> shown = shown_of(last).reductions;
  final["last"] = to_json(shown.value_or(ReductionScalars()), account.last_iteration.load());
  for (const auto& [key, value] : final["last"].items()) {
    if (!shown && key != "iteration") value = nullptr;
  }
  final["last"]["results"] = to_json(last);
  return final;
}

/// Whether this is the exit code of a run whose disk failed or whose pool was truncated.
bool is_storage_lost(ExitCode code) noexcept {
  return code == ExitCode::kSystem || code == ExitCode::kDamaged;
}

/// The parts of the service that outlive a producer.
struct Service {
  const Options& options;
  PlugInSet& plug_ins;
  Report& report;
  StopFlag stop;                // a request to end the service
  std::atomic<bool>& stop_run;  // a request to end the run; set together with `stop`, or by a request to the recorder
  std::optional<Recorder> recorder;
  std::optional<NodeLink> link;  // exists with --node-address
  ServiceManager manager;
  Acceptor acceptor;
  OneAttachment attachment;  // used only if supervised
};

RecorderOptions recorder_options(const Service& service) {
  const AnalyzerOptions& options = service.options.analyzer;
  JournalOptions journal = options.journal;
  journal.foreign = options.ring.foreign_pool;
  return {.pool = options.ring.pool,
          .socket = service.options.process.socket,
          .journal = journal,
          .telemetry = options.telemetry,
          .durability = options.ring.durability,
          .peer_timeout_s = options.peer.timeout_s,
          .cpus = options.cores};
}

void start_recorder(Service& service) {
  const AnalyzerOptions& options = service.options.analyzer;
  if (options.journal.kind == JournalKind::kOff && !options.telemetry.on) return;  // no one would read the records
  service.recorder.emplace(recorder_options(service), service.stop_run);
}

/// The link's threads inherit the cores and the low priority of the thread that makes the link. So they use the
/// recorder's cores, and the work on a step takes precedence.
void start_link(Service& service) {
  const std::string& address = service.options.analyzer.telemetry.node_address;
  const std::string& socket = service.options.process.socket;
  if (address.empty()) return remove_node_address(socket);  // otherwise ranks would receive the old address
  std::exception_ptr failure;
  std::thread([&] {
    bind_calling_thread(service.options.analyzer.cores);
    lower_thread_priority();
    try {
      service.link.emplace(with_host(address), socket);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

/// Describes one run to the service manager. On destruction, reports that the service waits for a producer.
class DescribedRun {
 public:
  DescribedRun(ServiceManager& manager, const Attachment& attachment, const AnalyzerAccount& account,
               const ReduceOptions& reduce)
      : manager_(manager) {
    manager_.expect_work_on(step_work(attachment, reduce));
    manager_.describe([&attachment, &account] {
      const RunDescription& run = attachment.run();
      return fmt::format("run {} of {}, {} rows: iteration {}, {} steps committed, {} persisted", to_string(run.run_id),
                         text_of(run.matrix), run.entries, account.last_iteration.load(),
                         account.steps_committed.load(), account.steps_persisted.load());
    });
  }
  ~DescribedRun() {
    manager_.expect_work_on(0);
    manager_.describe(kWaiting);
  }
  DescribedRun(const DescribedRun&) = delete;
  DescribedRun& operator=(const DescribedRun&) = delete;

 private:
  ServiceManager& manager_;
};

/// Serves one producer from its request to the end of its connection. Throws Error if the producer was refused.
ExitCode serve(Service& service, HandoffReader& handoff) {
  const bool supervised = service.options.supervised;
  const AnalyzerOptions& options = service.options.analyzer;
  Report& report = service.report;
  AnalyzerAccount account;
  std::optional<Attachment> attachment;
  attach(attachment, handoff, options, service.plug_ins, account,
         service.recorder ? &service.recorder->queue() : nullptr, service.manager, supervised ? &report : nullptr);
  service.attachment.began(handoff.producer_pid());
  const std::vector<std::string>& ended = attachment->plug_in_lines();
  if (!ended.empty()) report.write({{"event", "plug_ins_ended"}, {"lines", ended}});
  for (const std::string& text : ended) log_warning("event=plug_in_ended text=\"{}\"", text);
  const std::vector<std::string> idle = service.plug_ins.without_a_field(handoff.schema());
  if (!idle.empty()) report.write({{"event", "plug_ins_without_field"}, {"lines", idle}});
  for (const std::string& text : idle) log_warning("event=plug_in_without_field text=\"{}\"", text);
  std::optional<RefusingThread> refusing;
  if (supervised) refusing.emplace(service.acceptor, service.attachment);
  const DescribedRun described(service.manager, *attachment, account, options.reduce);
  // `stop` is checked after `stop_run` is cleared, so that a signal between the two is not lost.
  service.stop_run.store(false);
  if (service.stop.is_set()) service.stop_run.store(true);
  ReportScope progress(report, account, supervised);
  const RunToRecord recorded = describe_start(handoff, *attachment, options);
  WholeRun whole(service.link ? &*service.link : nullptr, handoff, *attachment, recorder_options(service), recorded,
                 options.triggers, service.stop_run);
  if (service.recorder) {
    service.recorder->begin_run(recorded);
    for (wire::Record& mark : marks_at_start(*attachment)) service.recorder->queue().push_event(std::move(mark));
  }
  const RunDescription& run = attachment->run();
  log_info("event=attached run_id={} producer_pid={} rows={} matrix={} storage={} iterates={} from_step={}",
           to_string(run.run_id), handoff.producer_pid(), run.entries, text_of(run.matrix),
           to_string(attachment->pool().storage()), to_text(attachment->start()), handoff.steps_released());

  ServeEnd end = attachment->serve(service.stop_run);
  refusing.reset();
  service.attachment.ended(end, account.last_iteration.load());  // before `finish`: then the producer may attach again
  if (supervised && end != ServeEnd::kProducerStopped) refusing.emplace(service.acceptor, service.attachment);
  if (service.stop.is_set()) service.manager.stopping();
  if (end == ServeEnd::kStopped && !service.stop.is_set()) {
    const bool triggered = attachment->triggered() || !whole.what_stopped().empty();
    end = triggered ? ServeEnd::kTriggered : ServeEnd::kStopRequested;
  }
  const Outcome outcome = end == ServeEnd::kDetached ? handoff.outcome() : Outcome::kFailed;
  const Error error = attachment->finish(end, whole.what_stopped());
  if (service.recorder) {
    for (wire::Record& mark : marks_at_end(*attachment)) service.recorder->queue().push_event(std::move(mark));
  }
  // If supervised, `ringside run` reports how its PROGRAM ended.
  if (!supervised && (end == ServeEnd::kProducerLost || end == ServeEnd::kProducerStopped)) {
    log_warning("event={} run_id={} producer_pid={} steps_committed={}", to_text(end), to_string(run.run_id),
                handoff.producer_pid(), account.steps_committed.load());
  }
  // If `ringside run` started this process, the producer reports the error to the user.
  if (is_storage_lost(error.code()) && service.options.process.report_fd < 0) {
    const bool is_there = attachment->pool().whereabouts() == Whereabouts::kNamed;
    const char* event = error.code() == ExitCode::kDamaged ? "pool_truncated" : is_there ? "sync_failed" : "pool_gone";
    log_error("event={} run_id={} text=\"{}\"", event, to_string(run.run_id), error.what());
  }
  log_info("event=run_ended run_id={} how={} outcome={} steps_committed={} steps_persisted={} exit_code={}",
           to_string(run.run_id), to_text(end), to_text(outcome), account.steps_committed.load(),
           account.steps_persisted.load(), static_cast<int>(error.code()));
  // The journal's last sync may take long. While progress is reported, this process does not count as dead.
  const wire::RunEnded run_ended = describe_end(*attachment, account, end, outcome, error);
  whole.end(end);
  whole.record_end(run_ended);
  if (service.recorder) service.recorder->end_run(run_ended);
  report.stop();
  Json final = describe(options, *attachment, account, end);
  final["outcome"] = to_text(outcome);
  if (supervised) {
    final["producer"] = publisher_json(account);
    // A solver need not publish residuals.
    const ShownFigures shown = shown_of(attachment->last());
    final["producer"]["residual_l1"] = number_or_null(shown.residual_l1);
    final["producer"]["residual_linf"] = number_or_null(shown.residual_linf);
    final["exit_code"] = static_cast<int>(error.code());
    final["text"] = error.what();
  }
  report.write(final);
  // If a stop of the service was requested, a lost peer is no failure of the service.
  return end == ServeEnd::kStopped && error.code() == ExitCode::kPeerLost ? ExitCode::kDone : error.code();
}

/// Logs how many peers were turned away before they sent a request, at most once in kLogIntervalNs.
class TurnedAway {
 public:
  void add(std::uint64_t peers) {
    peers_ += peers;
    if (peers_ == 0 || (said_ns_ != 0 && now_ns() - said_ns_ < kLogIntervalNs)) return;
    log_warning(
        "event=turned_away peers={} text=\"refused processes of other users, or processes that sent no attach request "
        "in time\"",
        peers_);
    peers_ = 0;
    said_ns_ = now_ns();
  }

 private:
  std::uint64_t peers_ = 0;
  std::int64_t said_ns_ = 0;
};

// The number of descriptors needed without --telemetry-tcp: for the pool, the journal, ZeroMQ's threads, a producer's
// memory, waiting peers.
constexpr std::size_t kDescriptors = 128;
constexpr std::size_t kLinkDescriptors = 48;  // needed in addition with --node-address

ExitCode run(const Options& options) {
  const bool has_link = !options.analyzer.telemetry.node_address.empty();
  ensure_descriptors(kDescriptors + (has_link ? kLinkDescriptors : 0), "ringside-analyzer");
  static std::atomic<bool> stop_run{false};  // static: the signal handler uses it until the process ends
  const StopFlag stop = catch_stop_signals();
  also_set_on_stop(stop_run);
  const std::vector<int>& cpus = options.analyzer.cores;
  if (!cpus.empty()) pin_openmp_threads(cpus);
  check_place(options.analyzer.ring);
  Listener listener(options.process.socket);
  check_pool(options.analyzer.ring);
  check_journal_place(options.analyzer.ring, options.analyzer.journal.kind);

  const PlugInOptions& plug_in_options = options.analyzer.plug_ins;
  PlugInSet plug_ins(plug_in_options.reduce_with, plug_in_options.timeout_s,
                     options.process.socket + kPlugInNotesSuffix);
  Report report(options.process.report_fd);
  // If `ringside run` started this process, the service manager watches `ringside run` instead.
  Service service{options,
                  plug_ins,
                  report,
                  stop,
                  stop_run,
                  std::nullopt,
                  std::nullopt,
                  ServiceManager(options.process.report_fd < 0),
                  Acceptor(listener),
                  OneAttachment(options.publisher)};
  start_recorder(service);
  start_link(service);
  report.write({{"event", "ready"}, {"pid", getpid()}});
  log_info("event=listening socket={} pool={}", options.process.socket, options.analyzer.ring.pool);
  service.manager.describe(kWaiting);
  service.manager.ready();

  ExitCode code = ExitCode::kDone;
  TurnedAway turned_away;
  while (!stop.is_set()) {
    std::optional<Peer> peer = service.acceptor.next(kAcceptSliceMs);
    service.manager.beat(now_ns());
    turned_away.add(service.acceptor.take_turned_away());
    if (!peer) continue;
    const std::optional<Error> reason = options.supervised ? service.attachment.refusal(peer->pid()) : std::nullopt;
    if (reason) {
      refuse_request(*peer, *reason);
      continue;
    }
    std::optional<HandoffReader> handoff;
    try {
      handoff.emplace(std::move(*peer), options.process.socket, kRequestIsThereMs, options.analyzer.peer.timeout_s,
                      make_messages);
    } catch (const Error& error) {  // the request is not valid: the peer is turned away
      // A producer that left because it cannot continue has reported the reason itself.
      const bool left = error.code() == ExitCode::kPeerLost;
      log_at(left ? LogLevel::kInfo : LogLevel::kWarning, "event=turned_away text=\"{}\"", error.what());
      continue;
    } catch (const std::exception& error) {
      log_warning("event=turned_away text=\"{}\"", error.what());
      continue;
    }
    try {
      code = serve(service, *handoff);
      // After a failed write, it is not known what the disk contains. So the service ends, and the service manager
      // decides what to do.
      if (options.once || is_storage_lost(code)) return code;
      if (!options.supervised) code = ExitCode::kDone;  // a failed run is no failure of the service
    } catch (const Error& error) {
      // The producer received the reason and reports it to its user. The service continues.
      log_info("event=refused text=\"{}\"", error.what());
      if (options.supervised) {
        report.write({{"event", "refused"},
                      {"pid", handoff->producer_pid()},
                      {"exit_code", static_cast<int>(error.code())},
                      {"text", error.what()}});
      }
      if (options.once || RingPool::left_one_open()) return error.code();
      service.manager.expect_work_on(0);
      service.manager.describe(kWaiting);
    }
  }
  service.manager.stopping();
  return code;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  Options options;
  CommandLine line(
      "Keeps and reduces the iterates that producers publish: owns the pool and serves one producer at a time.",
      "ringside-analyzer");
  declare(line, options.analyzer.ring);
  declare(line, options.analyzer.journal);
  declare(line, options.analyzer.telemetry);
  declare(line, options.analyzer.reduce);
  declare(line, options.analyzer.plug_ins);
  declare(line, options.analyzer.triggers);
  declare(line, options.analyzer.planned);
  declare(line, options.analyzer.peer);
  declare(line, options.process);
  declare(line, options);
  line.declare_config_file();
  return run_program([&] {
    if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
    options.analyzer.may_spin = !options.process.shared_core;
    start_log("ringside-analyzer", options.process.log_level);
    if (!options.process.cores.empty()) {
      options.analyzer.cores = parse_core_list(options.process.cores, "--cores").cpus;
    }
    return static_cast<int>(run(options));
  });
}
