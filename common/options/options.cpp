#include "common/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include <CLI/CLI.hpp>

#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"

namespace ringside {
namespace {

const std::map<std::string, Mode> kModes = {{"pipeline", Mode::kPipeline}, {"dram", Mode::kDram}};
const std::map<std::string, CoordinationKind> kCoordinations = {{"locks", CoordinationKind::kLocks},
                                                                {"messages", CoordinationKind::kMessages}};
const std::map<std::string, WhenFull> kWhenFull = {{"wait", WhenFull::kWait}, {"skip", WhenFull::kSkip}};
const std::map<std::string, ReduceAt> kReduceAt = {{"slot", ReduceAt::kSlot}, {"transfer", ReduceAt::kTransfer}};
const std::map<std::string, OnAnalyzerLoss> kOnAnalyzerLoss = {
    {"wait", OnAnalyzerLoss::kWait}, {"continue", OnAnalyzerLoss::kContinue}, {"stop", OnAnalyzerLoss::kStop}};
const std::map<std::string, Durability> kDurabilities = {{"power", Durability::kPower},
                                                         {"process", Durability::kProcess}};
const std::map<std::string, JournalKind> kJournalKinds = {{"auto", JournalKind::kAuto},
                                                          {"pmemlog", JournalKind::kPmemlog},
                                                          {"file", JournalKind::kFile},
                                                          {"off", JournalKind::kOff}};

const std::map<std::string, bool> kOnOff = {{"on", true}, {"off", false}};

template <class Value>
std::string name_of(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [name, v] : names) {
    if (v == value) return name;
  }
  return {};
}

/// An option whose value is one of the names; help and errors list them. alone: what the flag means without a value;
/// empty if the flag requires one.
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Value& value, const std::map<std::string, Value>& names,
                        const std::string& description, const std::string& alone = {}) {
  std::string choices;
  for (const auto& [name, v] : names) choices += (choices.empty() ? "" : "|") + name;
  return app
      .add_option_function<std::string>(
          flag,
          [&value, &names, flag, choices, alone](const std::string& text) {
            const auto found = names.find(text.empty() ? alone : text);
            if (found == names.end()) {
              throw CLI::ValidationError(flag, fmt::format("found '{}', expected {}", shortened(text), choices));
            }
            value = found->second;
          },
          description)
      ->expected(alone.empty() ? 1 : 0, 1)
      ->type_name(choices)
      // CLI11 would use the default for the flag without a value, too; there the description gives the default.
      ->default_str(alone.empty() ? name_of(names, value) : "");
}

}  // namespace

void declare(CLI::App& app, SolveOptions& options, const SolverChoices& solvers) {
  const std::vector<std::string> names = names_of(solvers);
  const auto takers = [&](bool SolverChoice::*option) {
    return names_where(solvers, [&](const SolverChoice& solver) { return solver.*option; });
  };
  std::string methods;
  for (const SolverChoice& solver : solvers) {
    methods += fmt::format("{}{} ({})", methods.empty() ? "" : ", ", solver.name, solver.help);
  }
  app.add_option("--matrix", options.matrix,
                 "matrix or graph: FILE (.mtx, edge list; .gz, .xz, .bz2, .zst, .tar), grid:SIDE, "
                 "rmat:SCALE[:EDGEFACTOR[:SEED]]")
      ->required()
      ->type_name("FILE|grid:SIDE|rmat:SCALE")
      ->group(kSolveGroup);
  app.add_option("--solver", options.solver, "iterative method: " + methods)
      ->check(one_of(names))
      ->type_name(fmt::format("{}", fmt::join(names, "|")))
      ->capture_default_str()
      ->group(kSolveGroup);
  app.add_option("--rhs", options.rhs,
                 fmt::format("right-hand side b of {}, an n-by-1 .mtx file (default: all ones)",
                             fmt::join(takers(&SolverChoice::rhs), ", ")))
      ->type_name("FILE")
      ->group(kSolveGroup);
  app.add_option_function<double>(
         "--damping",
         [&options](double damping) {
           options.damping = damping;
           options.damping_given = true;
         },
         fmt::format("damping d of {}, between 0 and 1", fmt::join(takers(&SolverChoice::damping), ", ")))
      ->check(number_between(0, 1))
      ->type_name("D")
      ->default_str(fmt::format("{}", options.damping))
      ->group(kSolveGroup);
  app.add_option("--tolerance", options.tolerance, "stop when the L1 change of an iteration is at most T; 0: never")
      ->check(number_within(0, 1e300))
      ->type_name("T")
      ->capture_default_str()
      ->group(kSolveGroup);
  app.add_option("--iterations", options.iterations,
                 "stop after N iterations (default: 100, or 1000000 with --tolerance)")
      ->transform(whole_number_within(1, std::uint64_t{1} << 60))
      ->type_name("N")
      ->group(kSolveGroup);
  app.add_option("--every", options.every, "publish every E-th iterate, and the last")
      ->transform(whole_number_within(1, std::uint64_t{1} << 60))
      ->type_name("E")
      ->capture_default_str()
      ->group(kSolveGroup);
  app.add_option("--kernel", options.kernel,
                 "form in which the matrix is multiplied; decides the time, not a bit of the iterates")
      ->check(one_of({"auto", "csr", "runs", "packed", "ranked"}))
      ->type_name("auto|csr|runs|packed|ranked")
      ->capture_default_str()
      ->group(kSolveGroup);
  CLI::Option* cache =
      app.add_flag("--cache", options.cache, "map the matrix from a binary cache, written on first use")
          ->group(kSolveGroup);
  app.add_option("--cache-dir", options.cache_dir,
                 "folder of that cache (default: beside the matrix file); with --cache only")
      ->needs(cache)
      ->type_name("DIR")
      ->group(kSolveGroup);
}

void declare(CLI::App& app, PublishOptions& options) {
  add_choice(app, "--coordination", options.coordination, kCoordinations,
             "how the processes notify each other of a step: by futexes on shared counters, or by ZeroMQ messages")
      ->group(kPublishGroup);
  app.add_option("--buffers", options.buffers, "shared buffers of one iterate each, 2 to 64")
      ->transform(whole_number_within(2, 64))
      ->type_name("B")
      ->capture_default_str()
      ->group(kPublishGroup);
  add_choice(app, "--when-full", options.when_full, kWhenFull,
             "while no buffer is free: wait, or skip the step and count it")
      ->group(kPublishGroup);
  add_choice(app, "--on-analyzer-loss", options.on_analyzer_loss, kOnAnalyzerLoss,
             "wait for another analyzer, continue and skip steps until one is there, or stop")
      ->group(kPublishGroup);
  add_choice(
      app, "--elastic", options.elastic, kOnOff,
      "let cores that wait work for the other process, on rows or on the copy (default: off; without a value: on)",
      "on")
      ->group(kPublishGroup);
  app.add_flag("--resume", options.resume,
               "go on from the newest iterate in the pool, or from the start if it holds none")
      ->group(kPublishGroup);
  app.add_flag("--overwrite", options.overwrite, "let a pool that holds another run's iterates lose them")
      ->group(kPublishGroup);
}

PoolUse PublishOptions::pool_use() const {
  if (resume && overwrite) throw usage_error("--resume, --overwrite: found both, expected at most one of them");
  return resume ? PoolUse::kResume : overwrite ? PoolUse::kOverwrite : PoolUse::kFresh;
}

void declare(CLI::App& app, PeerOptions& options) {
  app.add_option("--peer-timeout", options.timeout_s,
                 "seconds the other process may be absent, stopped, or make no progress")
      ->check(number_within(0.1, 1e6))
      ->type_name("S")
      ->capture_default_str()
      ->group(kPeerGroup);
}

void declare(CLI::App& app, RingOptions& options) {
  app.add_option("--pool", options.pool, "pool file of the ring, on NVDIMM or any file system")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(kRingGroup);
  app.add_option_function<std::uint32_t>(
         "--slots",
         [&options](std::uint32_t slots) {
           options.slots = slots;
           options.slots_given = true;
         },
         "iterates the ring keeps, 3 to 1024")
      ->transform(whole_number_within(3, 1024))
      ->type_name("K")
      ->default_str(std::to_string(options.slots))
      ->group(kRingGroup);
  add_choice(app, "--durability", options.durability, kDurabilities,
             "persisted survives power loss, or the death of processes only")
      ->group(kRingGroup);
  app.add_flag("--require-dax", options.require_dax,
               "refuse a place where stores do not persist by themselves (DAX with MAP_SYNC on persistent memory)")
      ->group(kRingGroup);
  app.add_flag("--foreign-pool", options.foreign_pool,
               "write to a pool and a journal that belong to another user, have several names (hard links), or are "
               "reached through another user's symbolic link")
      ->group(kRingGroup);
}

void declare(CLI::App& app, JournalOptions& options) {
  CLI::Option* journal =
      add_choice(app, "--journal", options.kind, kJournalKinds,
                 "where records of the steps are kept, beside the pool: libpmemlog, plain files, nowhere, or as fits")
          ->group(kJournalGroup);
  app.add_option("--journal-size", options.bytes,
                 "most bytes the journal takes, 4M to 1G; the older half is dropped when it is full")
      ->transform(journal_size())
      ->needs(journal)
      ->type_name("BYTES")
      ->default_str("64M")
      ->group(kJournalGroup);
}

void declare(CLI::App& app, TelemetryOptions& options) {
  CLI::Option* telemetry =
      add_choice(app, "--telemetry", options.on, kOnOff, "let this user's programs follow: `ringside tail`")
          ->group(kTelemetryGroup);
  CLI::Option* tcp = app.add_option("--telemetry-tcp", options.tcp,
                                    "let others follow over the network as well, at PORT and PORT + 1, encrypted (with "
                                    "--telemetry-keys)")
                         ->needs(telemetry)
                         ->type_name("HOST:PORT")
                         ->group(kTelemetryGroup);
  app.add_option("--telemetry-keys", options.keys, "the keys for that, and who is let in, as `ringside keygen` makes")
      ->needs(tcp)
      ->type_name("FOLDER")
      ->group(kTelemetryGroup);
}

void declare(CLI::App& app, ReduceOptions& options) {
  add_choice(app, "--reduce", options.at, kReduceAt,
             "reduce each iterate in its slot, after its commit, or on its way there, in the pass that copies it")
      ->group(kReduceGroup);
  app.add_option("--passes", options.passes,
                 "sweeps of the reductions over each iterate; with --reduce transfer all but the first over its slot")
      ->transform(whole_number_within(1, 1000))
      ->type_name("P")
      ->capture_default_str()
      ->group(kReduceGroup);
}

void declare(CLI::App& app, CoreOptions& options) {
  app.add_option("--producer-cores", options.producer_cores, "cores of the producer, as 0-3,8 (default: chosen)")
      ->type_name("LIST")
      ->group(kCoreGroup);
  app.add_option("--analyzer-cores", options.analyzer_cores, "cores of the analyzer, as 0-3,8 (default: chosen)")
      ->type_name("LIST")
      ->group(kCoreGroup);
}

void declare(CLI::App& app, ProcessOptions& options) {
  app.add_option("--cores", options.cores, "cores to pin the threads to, as 0-3,8 (default: not pinned)")
      ->type_name("LIST")
      ->group(kCoreGroup);
  app.add_flag("--shared-core", options.shared_core, "the peer runs on the same core: never spin")->group(kCoreGroup);
  app.add_option("--socket", options.socket, "the analyzer's socket")->type_name("PATH")->capture_default_str();
  app.add_option("--report-fd", options.report_fd, "write progress and the account as JSON lines to this descriptor")
      ->transform(whole_number_within(0, std::numeric_limits<int>::max()))
      ->type_name("FD");
  app.add_option("--log-level", options.log_level,
                 "trace, debug, info, warning, error or off; else what RINGSIDE_LOG_LEVEL says")
      ->envname("RINGSIDE_LOG_LEVEL")
      ->check(one_of({"trace", "debug", "info", "warning", "error", "off"}))
      ->type_name("LEVEL")
      ->capture_default_str();
}

void declare(CLI::App& app, Mode& mode) {
  add_choice(app, "--mode", mode, kModes, "keep every iterate, or the baseline: one process, all cores, nothing kept");
}

void declare_config_file(CLI::App& app) {
  app.set_config("--config", "", "options from a TOML file: the flags' names without dashes are its keys")
      ->type_name("FILE.toml");
}

std::vector<std::string> arguments_given(const CLI::App& app, const std::vector<std::string>& groups) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (option->get_expected_max() == 0) {
      if (option->as<bool>()) arguments.push_back(name);
    } else if (option->results().back().empty()) {  // given without a value
      arguments.push_back(name);
    } else {
      arguments.push_back(name + "=" + option->results().back());
    }
  }
  return arguments;
}

std::string to_string(CoordinationKind coordination) {
  return name_of(kCoordinations, coordination);
}

std::string to_string(ReduceAt at) {
  return name_of(kReduceAt, at);
}

std::string to_string(Mode mode) {
  return name_of(kModes, mode);
}

}  // namespace ringside
