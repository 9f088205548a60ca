// SPDX-License-Identifier: BSD-3-Clause
#include "common/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/options/solver_choice.hpp"
#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "common/triggers/trigger_spec.hpp"

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

const std::map<std::string, CoreChoice> kCoreChoices = {{"auto", CoreChoice::kAuto},
                                                        {"topology", CoreChoice::kTopology}};
const std::map<std::string, bool> kOnOff = {{"on", true}, {"off", false}};

template <class Value>
std::string name_of(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [name, v] : names) {
    if (v == value) return name;
  }
  return {};
}

/// Makes a Check that accepts the texts that `parse` accepts. The Check removes the option's name from the refusal,
/// because the command line adds the name itself.
template <class Parse>
Check parsed_by(const Parse& parse) {
  return [parse](const std::string& text) -> std::string {
    try {
      parse(text);
      return {};
    } catch (const Error& error) {
      const std::string why = error.what();
      return why.substr(why.find(' ') + 1);
    }
  };
}

/// Declares an option whose value is one of `names`, which help and errors list. alone: the meaning of the flag without
/// a value; empty if the flag requires a value.
template <class Value>
Option add_choice(OptionSet& set, const std::string& flag, Value& value, const std::map<std::string, Value>& names,
                  const std::string& description, const std::string& alone = {}) {
  std::string choices;
  for (const auto& [name, v] : names) choices += (choices.empty() ? "" : "|") + name;
  const auto store = [&value, &names, choices, alone](const std::string& text) -> std::string {
    const auto found = names.find(text.empty() ? alone : text);
    if (found == names.end()) return fmt::format("found '{}', expected {}", shortened(text), choices);
    value = found->second;
    return {};
  };
  Option option = set.option_function(flag, store, description).value_name(choices);
  // For a flag without a value, CLI11 would also print the default, which the description already gives.
  return alone.empty() ? option.show_default(name_of(names, value)) : option.may_stand_alone();
}

}  // namespace

void declare(CommandLine& line, SolveOptions& options, const SolverChoices& solvers, MatrixOption matrix) {
  const std::vector<std::string> names = names_of(solvers);
  const auto takers = [&](bool SolverChoice::*option) {
    return names_where(solvers, [&](const SolverChoice& solver) { return solver.*option; });
  };
  std::string methods;
  for (const SolverChoice& solver : solvers) {
    methods += fmt::format("{}{} ({})", methods.empty() ? "" : ", ", solver.name, solver.help);
  }
  std::string criteria;
  for (const std::string_view criterion : criteria_of(solvers)) {
    const auto those = names_where(solvers, [&](const SolverChoice& solver) { return solver.criterion == criterion; });
    criteria += fmt::format("{}the {} ({})", criteria.empty() ? "" : ", or ", criterion, fmt::join(those, ", "));
  }
  OptionSet set = line.options_of<SolveOptions>("Problem and solver");
  Option matrix_option =
      set.option(
             "--matrix", options.matrix,
             "matrix or graph: FILE (.mtx, edge list; .gz, .xz, .bz2, .zst, .tar, .zip), ARCHIVE:MEMBER, grid:SIDE, "
             "rmat:SCALE[:EDGEFACTOR[:SEED]]")
          .value_name("FILE|grid:SIDE|rmat:SCALE");
  if (matrix == MatrixOption::kRequired) matrix_option.required();
  if (matrix == MatrixOption::kRequiredWithoutProgram) matrix_option.required_without_program();
  set.option("--columns", options.columns,
             "what each column of an edge list is: from, to, weight or skip (default: as its header says, or "
             "from,to[,weight])")
      .value_name("from,to,...");
  set.option("--solver", options.solver, "iterative method: " + methods)
      .check(one_of(names))
      .value_name(fmt::format("{}", fmt::join(names, "|")))
      .show_default();
  set.option("--rhs", options.rhs,
             fmt::format("right-hand side b of {}: an n-by-1 .mtx file, which may be in an archive (default: all ones)",
                         fmt::join(takers(&SolverChoice::rhs), " and ")))
      .value_name("FILE|ARCHIVE:MEMBER");
  set.option("--damping", options.damping,
             fmt::format("damping d of {}, between 0 and 1", fmt::join(takers(&SolverChoice::damping), " and ")))
      .records_given(options.damping_given)
      .check(number_between(0, 1))
      .value_name("D")
      .show_default();
  set.option("--tolerance", options.tolerance, fmt::format("stop when {} is at most T; 0: never", criteria))
      .check(number_within(0, 1e300))
      .value_name("T")
      .show_default();
  set.option("--iterations", options.iterations, "stop after N iterations (default: 100, or 1000000 with --tolerance)")
      .check(whole_number_within(1, std::uint64_t{1} << 60))
      .value_name("N");
  set.option("--every", options.every, "publish every E-th iterate, and the last")
      .check(whole_number_within(1, std::uint64_t{1} << 60))
      .value_name("E")
      .show_default();
  set.option("--matrix-format,--kernel", options.matrix_format,
             "storage format of the matrix; affects the time, but no bit of the iterates")
      .check(one_of({kMatrixFormatNames.begin(), kMatrixFormatNames.end()}, {{"runs", "bands"}}))
      .value_name(fmt::format("{}", fmt::join(kMatrixFormatNames, "|")))
      .show_default();
  Option cache =
      set.flag("--cache", options.cache, "map the matrix from a binary cache, which is written on first use");
  set.option("--cache-dir", options.cache_dir,
             "folder of the binary cache (default: beside the matrix file); only with --cache")
      .needs(cache)
      .value_name("DIR");
  set.option("--matrix-memory", options.matrix_memory,
             "where the matrix is kept: in DRAM, or in a file in DIR (NVDIMM, tmpfs, a disk), of which --dram-limit is "
             "cached in DRAM; affects the time, but no bit of the iterates")
      .check(word_or_folder("dram", "far:"))
      .value_name("dram|far:DIR")
      .show_default();
  set.option("--dram-limit", options.dram_limit_bytes,
             "how much DRAM the matrix may take, 1M to 16384G; only with --matrix-memory far:DIR")
      .check(size_within(std::uint64_t{1} << 20, std::uint64_t{1} << 44, "1M to 16384G"))
      .value_name("SIZE");
}

void declare(CommandLine& line, PublishOptions& options) {
  OptionSet set = line.options_of<PublishOptions>("Hand-off");
  add_choice(set, "--coordination", options.coordination, kCoordinations,
             "how the processes notify each other of a step: by futexes on shared counters, or by ZeroMQ messages");
  set.option("--buffers", options.buffers, "number of shared buffers, 2 to 64; each holds one iterate")
      .check(whole_number_within(2, 64))
      .value_name("B")
      .show_default();
  add_choice(set, "--when-full", options.when_full, kWhenFull,
             "what the solver does while no buffer is free: wait for one, or skip the step and count it");
  add_choice(set, "--on-analyzer-loss", options.on_analyzer_loss, kOnAnalyzerLoss,
             "what the solver does after the loss of its analyzer: wait for another one, continue (skip steps until "
             "there is one), or stop");
  add_choice(
      set, "--elastic", options.elastic, kOnOff,
      "let waiting cores help the other process: they compute rows, or copy and reduce; a program of the user only "
      "lends its cores (default: off; without a value: on)",
      "on");
  set.flag("--resume", options.resume,
           "continue from the newest iterate in the pool, or from the start if it holds none");
  set.flag("--overwrite", options.overwrite, "discard the iterates of another run in the pool");
}

PoolUse PublishOptions::pool_use() const {
  if (resume && overwrite) throw usage_error("--resume, --overwrite: found both, expected at most one of them");
  return resume ? PoolUse::kResume : overwrite ? PoolUse::kOverwrite : PoolUse::kFresh;
}

void declare(CommandLine& line, PeerOptions& options) {
  OptionSet set = line.options_of<PeerOptions>("Peers");
  set.option("--peer-timeout", options.timeout_s,
             "how many seconds the other process may be absent, stopped or without progress")
      .check(number_within(0.1, 1e6))
      .value_name("S")
      .show_default();
}

void declare(CommandLine& line, RingOptions& options) {
  OptionSet set = line.options_of<RingOptions>("Ring");
  set.option("--pool", options.pool, "pool file of the ring, on NVDIMM or any file system")
      .value_name("FILE")
      .show_default();
  set.option("--slots", options.slots, "how many iterates the ring keeps, 3 to 1024")
      .records_given(options.slots_given)
      .check(whole_number_within(3, 1024))
      .value_name("K")
      .show_default();
  add_choice(set, "--durability", options.durability, kDurabilities,
             "what a commit survives: power loss (power), or the death of processes only (process)");
  set.flag("--require-dax", options.require_dax,
           "require a pool on storage where stores persist by themselves (DAX with MAP_SYNC on persistent memory)");
  set.flag("--foreign-pool", options.foreign_pool,
           "write to a pool and a journal that belong to another user, have several names (hard links), or are "
           "reached through another user's symbolic link");
}

void declare(CommandLine& line, JournalOptions& options) {
  OptionSet set = line.options_of<JournalOptions>("Journal");
  Option journal = add_choice(set, "--journal", options.kind, kJournalKinds,
                              "how records of the steps are kept beside the pool: as the pool's storage suggests "
                              "(auto), by libpmemlog (pmemlog), in plain files (file), or not at all (off)");
  set.option("--journal-size", options.bytes,
             "maximum size of the journal, 4M to 1G; when it is full, its older half is dropped")
      .check(journal_size())
      .needs(journal)
      .value_name("BYTES")
      .show_default("64M");
}

void declare(CommandLine& line, TelemetryOptions& options) {
  OptionSet set = line.options_of<TelemetryOptions>("Telemetry");
  Option telemetry = add_choice(set, "--telemetry", options.on, kOnOff,
                                "let this user's programs follow the run, as `ringside tail` does");
  Option tcp = set.option("--telemetry-tcp", options.tcp,
                          "also let others follow the run over the network, encrypted (with --telemetry-keys): at PORT "
                          "and PORT + 1; they follow a whole run of several nodes at PORT + 2")
                   .needs(telemetry)
                   .value_name("HOST:PORT");
  set.option("--telemetry-keys", options.keys,
             "folder with the keys for --telemetry-tcp and with the list of admitted clients, as `ringside keygen` "
             "makes it")
      .needs(tcp)
      .value_name("FOLDER");
  set.option("--node-address", options.node_address,
             "address at which the analyzers of other nodes reach this one (IPv4, encrypted); needed for the results "
             "of a whole run on several nodes; %h stands for this node's name")
      .value_name("HOST[:PORT]");
}

void declare(CommandLine& line, ReduceOptions& options) {
  OptionSet set = line.options_of<ReduceOptions>("Reductions");
  add_choice(
      set, "--reduce", options.at, kReduceAt,
      "when to reduce each iterate: in its slot after its commit (slot), or during the copy into its slot (transfer)");
  set.option("--passes", options.passes,
             "how many times the reductions read each iterate; with --reduce transfer, all passes but the first read "
             "its slot")
      .check(whole_number_within(1, 1000))
      .value_name("P")
      .show_default();
}

void declare(CommandLine& line, PlugInOptions& options) {
  OptionSet set = line.options_of<PlugInOptions>("Reductions");
  Option with = set.option("--reduce-with", options.reduce_with,
                           "also reduce by a plug-in: the reduction NAME of a shared library, with settings as "
                           ":KEY=VALUE; may be given up to 16 times")
                    .times(1, 16)
                    .value_name("FILE:NAME");
  set.option("--reduce-with-timeout", options.timeout_s,
             "how many seconds a call of a plug-in may take; after that, the analyzer ends and is replaced")
      .check(number_within(0.1, 3600))
      .needs(with)
      .value_name("S")
      .show_default();
}

void declare(CommandLine& line, TriggerOptions& options) {
  OptionSet set = line.options_of<TriggerOptions>("Triggers");
  set.option("--trigger", options.triggers,
             "actions when a condition over the results of a step becomes true: freeze the ring, stop the run, keep "
             "the step in an archive, mark[:NAME], reply:VALUE to the solver; for example 'x.linf > 1e6: freeze, "
             "stop'; may be given up to 32 times")
      .check(parsed_by([](const std::string& text) { parse_trigger(text); }))
      .times(1, static_cast<int>(kMostTriggers))
      .table(named_trigger)
      .value_name("CONDITION:ACTION");
  set.option("--on-non-finite", options.on_non_finite,
             "actions when a field has NaN or infinite entries: mark, freeze, stop, keep, or several of them (each of "
             "them also protects the last finite step from being overwritten); or keep-going for no action")
      .check(parsed_by([](const std::string& text) { parse_on_non_finite(text); }))
      .value_name("ACTIONS")
      .show_default();
  set.option("--global-trigger", options.global_triggers,
             "like --trigger, but the condition is about the results of a whole run on several nodes; the first node "
             "tests it; the actions are mark[:NAME] and stop; may be given up to 32 times")
      .check(parsed_by([](const std::string& text) { parse_global_trigger(text); }))
      .times(1, static_cast<int>(kMostTriggers))
      .value_name("CONDITION:ACTION");
  set.option("--archive-size", options.archive_bytes,
             "maximum size of the archive beside the pool, to which `keep` copies steps (default: as many steps as the "
             "ring has slots)")
      .check(size_within(std::uint64_t{1} << 20, std::uint64_t{1} << 50, "1M to 1048576G"))
      .value_name("BYTES");
}

void declare(CommandLine& line, AnalysisOptions& options) {
  OptionSet set = line.options_of<AnalysisOptions>("Analyses");
  set.option("--analyze-cores", options.cores,
             "cores of the analyses, as 0-3,8 (default: the analyzer's, while they are idle)")
      .value_name("LIST");
  set.option("--analyze-timeout", options.timeout_s,
             "seconds that analyses may still take after the end of a run, for the steps that are kept")
      .check(number_within(0, 1e6))
      .value_name("S")
      .show_default();
  set.option("--python", options.python,
             "the Python that runs analyses (default: the value of RINGSIDE_PYTHON; without it, python3 in PATH, or "
             "/usr/bin/python3 if only that has the package ringside)")
      .environment("RINGSIDE_PYTHON")
      .value_name("PROGRAM");
}

std::string to_string(const PlannedStepOptions& planned) {
  return fmt::format("{},{},{},{},{}", planned.step_ns, planned.low_ns, planned.high_ns, planned.producer_idle_ns,
                     planned.analyzer_idle_ns);
}

void declare(CommandLine& line, PlannedStepOptions& options) {
  OptionSet set = line.options_of<PlannedStepOptions>();
  const auto store = [&options](const std::string& text) -> std::string {
    std::array<std::uint64_t*, 5> figures = {&options.step_ns, &options.low_ns, &options.high_ns,
                                             &options.producer_idle_ns, &options.analyzer_idle_ns};
    std::size_t begin = 0;
    for (std::uint64_t* figure : figures) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::optional<std::uint64_t> number =
          begin > text.size() ? std::nullopt : whole_number(std::string_view(text).substr(begin, end - begin));
      if (!number || *number > std::uint64_t{1} << 62) {
        return fmt::format("found '{}', expected five whole numbers of nanoseconds, separated by commas",
                           shortened(text));
      }
      *figure = *number;
      begin = end + 1;
    }
    if (begin <= text.size()) return fmt::format("found '{}', expected no more than five numbers", shortened(text));
    return {};
  };
  set.option_function("--planned", store, "the predicted times of a step, for those who follow the run")
      .value_name("STEP,LOW,HIGH,PRODUCER_IDLE,ANALYZER_IDLE")
      .group("");
  set.flag("--adapt", options.adapt, "if steps take longer than planned, try the other --reduce mode").group("");
}

void declare(CommandLine& line, CoreOptions& options) {
  OptionSet set = line.options_of<CoreOptions>("Cores");
  add_choice(set, "--cores", options.choice, kCoreChoices,
             "how to choose the cores that no option names: by the machine's topology (topology), or by the predicted "
             "time of a run (auto, after ringside calibrate), which also chooses --elastic and --reduce; without "
             "--cores, the topology chooses the cores, and the calibration chooses the modes if it has this problem. "
             "For a PROGRAM, auto starts it several times for 20 steps each, also writing its own files each time, "
             "and takes the fastest cores and --reduce");
  set.option("--producer-cores", options.producer_cores, "cores of the producer, as 0-3,8 (default: chosen)")
      .value_name("LIST");
  set.option("--analyzer-cores", options.analyzer_cores, "cores of the analyzer, as 0-3,8 (default: chosen)")
      .value_name("LIST");
  set.option("--trial-seconds", options.trial_s, "the most seconds for all trials of a PROGRAM together")
      .check(number_within(0.1, 86'400))
      .value_name("S")
      .show_default();
}

void declare(CommandLine& line, ProcessOptions& options) {
  OptionSet set = line.options_of<ProcessOptions>();
  set.option("--cores", options.cores, "cores to pin the threads to, as 0-3,8 (default: not pinned)")
      .value_name("LIST")
      .group("Cores");
  set.flag("--shared-core", options.shared_core, "never spin, because the peer runs on the same core").group("Cores");
  set.option("--socket", options.socket, "the analyzer's socket").value_name("PATH").show_default();
  set.option("--report-fd", options.report_fd, "write progress and the account as JSON lines to this descriptor")
      .check(whole_number_within(0, std::numeric_limits<int>::max()))
      .value_name("FD");
  set.option("--log-level", options.log_level,
             "trace, debug, info, warning, error or off (default: the value of RINGSIDE_LOG_LEVEL)")
      .environment("RINGSIDE_LOG_LEVEL")
      .check(one_of({"trace", "debug", "info", "warning", "error", "off"}))
      .value_name("LEVEL")
      .show_default();
}

void declare(CommandLine& line, Mode& mode) {
  OptionSet set = line.options_of<Mode>();
  add_choice(set, "--mode", mode, kModes,
             "pipeline: keep every iterate; dram: the baseline, in which one process uses all cores and keeps nothing");
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
