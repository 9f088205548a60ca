// SPDX-License-Identifier: BSD-3-Clause
// `ringside serve`: serves a web page, JSON and Prometheus metrics of a run. This process only subscribes to the
// records and requests the status; the analyzer does not depend on it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/http/http_server.hpp"
#include "cli/http/run_site.hpp"
#include "cli/pool/decoded_journal.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/pool_view/field_images.hpp"
#include "cli/pool_view/watched_pool.hpp"
#include "cli/run_history/watched_run.hpp"
#include "cli/runs/run_folder.hpp"
#include "cli/subcommands.hpp"
#include "cli/watch/runs_site.hpp"
#include "cli/watch/service.hpp"
#include "common/journal/journal_files.hpp"
#include "common/messages/channel.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/program/log.hpp"
#include "common/program/service_manager.hpp"
#include "common/program/stop_signal.hpp"
#include "common/telemetry/record_stream.hpp"

namespace ringside {
namespace {

// Port 9464 is in the range of Prometheus exporters, where no other service of a node is expected.
constexpr const char* kListen = "127.0.0.1:9464";
constexpr int kTurnMs = 100;                            // time between two checks of the stop flag
constexpr std::int64_t kStatusEveryNs = 1'000'000'000;  // between two requests of the status (for persisted steps)
constexpr int kStatusTimeoutMs = 200;
constexpr std::int64_t kRunsEveryNs = 2'000'000'000;  // with --runs: the time between two readings of the journals

struct ServeOptions {
  ServiceOptions service;
  std::string listen = kListen;
  std::string token_file;
  std::vector<std::string> allowed_hosts;
  std::string pool;
  std::string runs;
};

/// Chooses the analyzer to follow: the one that the options name, else the analyzer of the named pool, else the only
/// live analyzer.
class AnalyzerChoice {
 public:
  AnalyzerChoice(const ServiceOptions& service, const std::string& pool)
      : service_(service), pool_(service.any() ? std::string() : pool) {}

  /// Throws Error if no analyzer or more than one is alive. If a pool is named, its earlier records can be shown
  /// without an analyzer, so the result may be empty.
  std::optional<FoundService> first() {
    if (!pool_.empty()) return that_of_pool();
    return find_service(service_,
                        "start one with `ringside run --matrix FILE`; `ringside serve --pool POOL` shows the "
                        "past of a run that has ended");
  }

  /// Whether the pool may belong to an analyzer that did not answer the last search.
  bool is_unanswered() const noexcept { return is_unanswered_; }

  /// The analyzer to follow after `gone`, which will not return; empty while none is found.
  std::optional<FoundService> after(const std::optional<FoundService>& gone) {
    if (!pool_.empty()) {
      if (now_ns() - asked_ns_ < kRunsEveryNs) return std::nullopt;
      return that_of_pool();
    }
    if (!service_.socket.empty() && gone) return is_gone_for_good(*gone) ? std::nullopt : gone;
    try {
      return find_service(service_, {});
    } catch (const Error&) {  // no analyzer is alive, or several are alive and none can be chosen
      return std::nullopt;
    }
  }

 private:
  std::optional<FoundService> that_of_pool() {
    const PoolSocket found = socket_of_pool(pool_);
    asked_ns_ = now_ns();
    is_unanswered_ = found.unanswered;
    if (found.socket.empty()) return std::nullopt;
    return FoundService{telemetry_at(found.socket), found.socket, true};
  }

  const ServiceOptions& service_;
  const std::string pool_;
  std::int64_t asked_ns_ = 0;
  bool is_unanswered_ = false;
};

/// The records in the pool's journal. A run that begins has its pool before its journal, so a missing journal means an
/// empty past if an analyzer has the pool or may have it. Otherwise a missing journal throws Error (exit code 2).
std::vector<wire::Record> past_of(const std::string& pool, bool may_be_beginning) {
  if (may_be_beginning && journal_files_there(pool).empty()) return {};
  return read_journal(pool).records;
}

/// Looks at the pool itself once a second: reads the state of the slots, and tells FieldImages which pool to draw.
class PoolLook {
 public:
  PoolLook(std::string pool, WatchedRun& watched, FieldImages& images)
      : path_(std::move(pool)), watched_(watched), images_(images) {}

  /// Takes the pool's path from `status`, which the analyzer at `service` reported.
  void is_that_of(const FoundService& service, const wire::Status& status) {
    is_elsewhere_ = !service.is_here;
    path_ = is_elsewhere_ ? std::string() : status.pool();
  }

  void look() {
    if (now_ns() - looked_ns_ < kStatusEveryNs) return;
    looked_ns_ = now_ns();
    images_.watch(path_, is_elsewhere_
                             ? "the pool is on another node; images are drawn only by a `ringside serve` on that node"
                             : "the pool is not known yet");
    const RingReader* const reader = path_.empty() ? nullptr : pool_.at(path_);
    watched_.take(reader != nullptr ? std::optional(slots_of(*reader)) : std::nullopt);
  }

 private:
  std::string path_;
  bool is_elsewhere_ = false;
  WatchedRun& watched_;
  FieldImages& images_;
  WatchedPool pool_;
  std::int64_t looked_ns_ = 0;
};

/// Reads the records of an analyzer, and of its successors at the same socket. Returns when the last analyzer is lost,
/// no successor can follow, and all records are read; or when `stop` is set.
void follow(const FoundService& service, std::uint64_t from_seq, WatchedRun& watched, PoolLook& pool, StopFlag stop,
            Pulse& pulse) {
  ChannelContext context;
  RecordStream stream(context, service.address, from_seq);
  std::vector<wire::Record> records;
  std::int64_t asked_ns = 0;
  bool lost = false;
  while (!stop.is_set()) {
    const StreamEvent event = stream.next(records, kTurnMs);
    pulse.beat(now_ns());
    pool.look();
    if (event == StreamEvent::kNewAnalyzer) watched.another_analyzer_came();
    watched.take(records);
    if (event != StreamEvent::kNothing) lost = event == StreamEvent::kLost;
    if (event == StreamEvent::kLost) watched.analyzer_is(false);
    const bool is_up =
        event == StreamEvent::kRecords || event == StreamEvent::kBack || event == StreamEvent::kNoLongerKept;
    if (is_up) watched.analyzer_is(true);
    // After a turn without a message, all messages that were sent have arrived.
    if (lost && event == StreamEvent::kNothing && is_gone_for_good(service)) {
      const RestOfRun rest = read_rest(stream.end());
      watched.take(rest.records);
      if (!rest.missing.empty()) {
        print_notice(stderr, "ringside serve: " + rest.missing,
                     fmt::format("event=records_missing text=\"{}\"", rest.missing));
      }
      return;
    }
    if (lost || now_ns() - asked_ns < kStatusEveryNs) continue;
    asked_ns = now_ns();
    if (const auto status = stream.status(kStatusTimeoutMs)) {
      watched.take(*status);
      pool.is_that_of(service, *status);
    }
  }
}

/// Follows one analyzer after another until `stop` is set. service: the first analyzer; from_seq: the first record to
/// read from it.
void follow_all(std::optional<FoundService> service, std::uint64_t from_seq, AnalyzerChoice& choice,
                WatchedRun& watched, PoolLook& pool, StopFlag stop, Pulse& pulse) {
  if (service) follow(*service, from_seq, watched, pool, stop, pulse);
  while (!stop.is_set()) {
    std::optional<FoundService> next = choice.after(service);
    if (!next) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kTurnMs));
      pulse.beat(now_ns());
      pool.look();
      continue;
    }
    service = std::move(next);
    watched.begin_anew();
    watched.another_analyzer_came();
    print_notice(stdout, fmt::format("ringside serve: shows the analyzer at {} from now on", service->name),
                 fmt::format("event=another_analyzer analyzer={}", service->name));
    follow(*service, 0, watched, pool, stop, pulse);
  }
}

ConnectionLimits limits_here() {
  // The number of descriptors that are needed in addition to those of the connections: for ZeroMQ's threads and
  // sockets, and for the journal's files.
  constexpr std::size_t kReservedDescriptors = 64;
  constexpr std::size_t kFewestConnections = 64;
  ConnectionLimits limits;
  const std::size_t descriptors = ensure_descriptors(kReservedDescriptors + kFewestConnections, "ringside serve");
  limits.connections = std::min(limits.connections, descriptors - kReservedDescriptors);
  return limits;
}

/// Looks for new runs and records until a signal arrives.
ExitCode serve_runs(const ServeOptions& options, const ListenAddress& address, std::optional<AccessToken> token) {
  if (!options.pool.empty() || options.service.any()) {
    throw usage_error(
        "--runs: found with --pool, --socket, --tcp or --keys, expected without them, because --runs reads only "
        "journals");
  }
  RunFolder folder(options.runs);
  const auto site = std::make_shared<RunsSite>();
  folder.look();
  site->take(folder);
  HttpServer server(site, address, std::move(token), limits_here());
  const StopFlag stop = catch_stop_signals();
  server.start();
  print_notice(stdout,
               fmt::format("ringside serve: {} shows the runs below {}{}; Ctrl-C ends it", server.url(), options.runs,
                           options.token_file.empty() ? "" : " to clients that have the token"),
               fmt::format("event=listening url={} runs={}", server.url(), options.runs));
  ServiceManager manager;
  manager.describe(fmt::format("{} shows the runs below {}", server.url(), options.runs));
  manager.ready();
  for (std::int64_t looked_ns = now_ns(); !stop.is_set();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kTurnMs));
    manager.beat(now_ns());
    if (now_ns() - looked_ns < kRunsEveryNs) continue;
    if (folder.look()) site->take(folder);
    looked_ns = now_ns();
  }
  manager.stopping();
  return ExitCode::kDone;
}

}  // namespace

int serve_command(int argc, const char* const* argv) {
  ServeOptions options;
  CommandLine line("Serves a web page, JSON and Prometheus metrics of a run, until it is stopped.", "ringside serve");
  declare(line, options.service);
  line.option("--listen", options.listen,
              "address to listen at; an address that other machines reach needs --token-file")
      .value_name("HOST:PORT")
      .show_default();
  line.option("--token-file", options.token_file, "require the token in this file (of mode 600) from every client")
      .value_name("FILE");
  line.option("--allow-host", options.allowed_hosts,
              "with --listen on a loopback address: also answer requests that a proxy forwards with this host name; "
              "may be repeated")
      .value_name("NAME");
  line.option("--pool", options.pool,
              "show the past from the journal beside this pool, and follow the pool's analyzer if one is running")
      .value_name("FILE");
  line.option("--runs", options.runs,
              "show all runs below this folder, from their journals, instead of the run of one analyzer")
      .value_name("DIR");
  line.declare_config_file();
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  ListenAddress address = parse_listen_address(options.listen);
  for (const std::string& name : options.allowed_hosts) {
    address.allowed_hosts.push_back(allowed_host(name, "--allow-host"));
  }
  std::optional<AccessToken> token;
  if (!options.token_file.empty()) token = AccessToken::read(options.token_file);
  if (!options.runs.empty()) return static_cast<int>(serve_runs(options, address, std::move(token)));
  options.pool = one_journal_of(options.pool);
  AnalyzerChoice choice(options.service, options.pool);
  std::optional<FoundService> service = choice.first();
  const ConnectionLimits limits = limits_here();
  WatchedRun watched;
  FieldImages images;
  PoolLook pool(options.pool, watched, images);
  HttpServer server(std::make_shared<RunSite>(watched, &images), address, std::move(token), limits);

  std::uint64_t from_seq = 0;
  if (!options.pool.empty()) {
    const bool may_be_beginning = !options.service.any() && (service || choice.is_unanswered());
    const std::vector<wire::Record> past = past_of(options.pool, may_be_beginning);
    watched.take(past);
    if (!past.empty()) from_seq = past.back().seq() + 1;
  }
  const StopFlag stop = catch_stop_signals();
  server.start();
  const std::string analyzer = service                  ? "the analyzer at " + service->name
                               : choice.is_unanswered() ? "an analyzer that has not answered yet may have it"
                                                        : "no analyzer has it";
  const std::string shown =
      options.pool.empty() ? analyzer
                           : fmt::format("the journal of {}{}{}", options.pool, service ? " and " : ", ", analyzer);
  print_notice(stdout,
               fmt::format("ringside serve: {} shows {}{}; Ctrl-C ends it", server.url(), shown,
                           options.token_file.empty() ? "" : " to clients that have the token"),
               fmt::format("event=listening url={} analyzer={}", server.url(), service ? service->name : ""));
  ServiceManager manager;
  manager.describe(fmt::format("{} shows {}", server.url(), shown));
  manager.ready();
  follow_all(std::move(service), from_seq, choice, watched, pool, stop, manager);
  manager.stopping();
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace ringside
