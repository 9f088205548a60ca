// SPDX-License-Identifier: BSD-3-Clause
// `ringside plan`: predicts the time of a run for every split of the cores and every mode, and names the best choice.
// It measures nothing and loads no matrix. For a user's program, `ringside run` measures instead. With --nodes, it also
// simulates a run on many nodes of this kind.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "cli/http/page_assets.hpp"
#include "cli/node/many_nodes.hpp"
#include "cli/node/plan_table.hpp"
#include "cli/node/planning.hpp"
#include "cli/subcommands.hpp"
#include "common/files/output_file.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/platform/version.hpp"
#include "common/program/program_folder.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"
#include "node/calibration/fingerprint.hpp"
#include "node/file/node_file.hpp"
#include "node/file/node_place.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

struct PlanOptions {
  SolveOptions solve;
  PublishOptions publish;
  RingOptions ring;
  ReduceOptions reduce;
  CoreOptions cores;
  // These options do not affect the predicted times; they are accepted so that a run's options can be passed unchanged.
  PeerOptions peer;
  JournalOptions journal;
  TelemetryOptions telemetry;
  ManyNodesOptions many;
  std::string node_file;
  std::string memory;
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;
  std::string output;
  bool json = false;
  std::vector<std::string> program;  // PROGRAM ARGS...; empty: a problem of a built-in solver
};

void declare_plan(CommandLine& line, PlanOptions& options) {
  declare(line, options.solve, solver_choices(), MatrixOption::kOptional);
  OptionSet problem = line.options_of<PlanOptions>("A problem without a matrix");
  Option rows = problem.option("--rows", options.rows, "rows of the matrix")
                    .check(whole_number_within(1, std::uint64_t{1} << 40))
                    .value_name("N");
  const Option nonzeros = problem.option("--nonzeros", options.nonzeros, "nonzeros of the matrix")
                              .check(whole_number_within(0, std::uint64_t{1} << 44))
                              .needs(rows)
                              .value_name("N");
  rows.needs(nonzeros);
  declare(line, options.cores);
  declare(line, options.publish);
  declare(line, options.peer);
  declare(line, options.ring);
  declare(line, options.journal);
  declare(line, options.telemetry);
  declare(line, options.reduce);
  OptionSet node = line.options_of<PlanOptions>("Node");
  node.option("--node", options.node_file,
              "node file (default: the file that `ringside calibrate` wrote for this machine)")
      .value_name("FILE");
  node.option("--memory", options.memory,
              "memory that holds the slots, by its name in the node file (default: the memory of --pool)")
      .value_name("NAME");
  declare(line, options.many);
  line.flag("--json", options.json, "print one JSON object");
  line.option("-o,--output", options.output, "write a page with charts (-: to standard output)")
      .value_name("FILE.html");
  line.declare_config_file();
  line.take_program(options.program);
}

/// The node to plan for. The default file must be from this machine. If the user names a file, the figures in this file
/// are used, whatever machine they describe.
Node node_of(const PlanOptions& options) {
  if (!options.node_file.empty()) return read_node(options.node_file);
  const std::string path = default_node_file();
  Node node = read_node(path);
  refuse_foreign(node, path, fingerprint(read_machine()));
  return node;
}

/// The files that the command reads. Its page must not replace them.
std::vector<KeptFile> files_read(const CommandLine& line, const PlanOptions& options) {
  std::vector<KeptFile> kept = {{"--node", options.node_file.empty() ? default_node_file() : options.node_file},
                                {"--matrix", named_input(options.solve.matrix).path},
                                {"--rhs", named_input(options.solve.rhs).path},
                                {"--pool", options.ring.pool}};
  if (const std::optional<std::string> config = line.value_given("--config")) kept.push_back({"--config", *config});
  return kept;
}

void print(const Json& object) {
  fmt::print("{}\n", object.dump(2));
}

/// Plans a run on many equal nodes. The figures of a node are those of --step-figures; no node file or matrix is
/// needed.
int plan_measured(const PlanOptions& options) {
  if (!options.solve.matrix.empty() || options.rows > 0 || !options.output.empty()) {
    throw usage_error(
        "--step-figures: found with {}, expected only one of them, because these figures replace the plan of a node",
        !options.output.empty()         ? "--output"
        : !options.solve.matrix.empty() ? "--matrix"
                                        : "--rows");
  }
  const ManyNodes simulated =
      simulate_many(options.many, figures_given(options.many, options.publish, options.ring), options.solve);
  if (options.json) {
    print({{"many_nodes", to_json(simulated)}, {"version", version()}});
  } else {
    fmt::print("{}", many_nodes_table(simulated));
  }
  return 0;
}

/// Plans a run of the user's program: `ringside run` makes the trials, because it starts programs. Returns only by
/// throwing Error.
[[noreturn]] void plan_program(const CommandLine& line, const PlanOptions& options) {
  std::vector<std::string> refused = line.arguments_given<PlanOptions, ManyNodesOptions>();
  if (line.is_given("--cores")) refused.emplace_back("--cores");
  if (!options.output.empty()) refused.push_back("--output=" + options.output);
  if (!refused.empty()) {
    throw usage_error("{}: found before `-- {}`, expected no such option there, because a program is not predicted",
                      refused.front().substr(0, refused.front().find('=')), shortened(options.program.front()));
  }
  std::vector<std::string> given = line.arguments_given<SolveOptions, CoreOptions, PublishOptions, PeerOptions,
                                                        RingOptions, JournalOptions, TelemetryOptions, ReduceOptions>();
  std::erase_if(given, [](const std::string& argument) { return argument.starts_with("--cores="); });
  std::vector<std::string> words = {(program_folder() / "ringside").string(), "run", "--cores=auto",
                                    options.json ? "--plan=json" : "--plan=text"};
  words.insert(words.end(), given.begin(), given.end());
  words.emplace_back("--");
  words.insert(words.end(), options.program.begin(), options.program.end());
  execv(words.front().c_str(), exec_list(words).data());
  throw system_error("{}: cannot be started: {}", printable(words.front()), errno_text(errno));
}

int plan(const CommandLine& line, const PlanOptions& options) {
  if (!options.program.empty()) plan_program(line, options);
  if (line.is_given("--trial-seconds")) {
    throw usage_error("--trial-seconds: found without `-- PROGRAM`, expected a program to try");
  }
  if (!options.many.step_figures.empty()) return plan_measured(options);
  const std::vector<KeptFile> kept = files_read(line, options);
  if (!options.output.empty()) {
    check_output(options.output, "--output", kept);
    refuse_other_endings(options.output, "--output", kPageEndings);
  }
  if (options.json && options.output == "-") {
    throw usage_error(
        "--json, --output -: found both, expected one of them, because standard output holds only one document");
  }
  if (options.solve.matrix.empty() == (options.rows == 0)) {
    throw usage_error("found {}, expected either --matrix, or --rows and --nonzeros",
                      options.rows == 0 ? "no problem" : "--matrix and --rows");
  }
  const Node node = node_of(options);
  const PlanRequest request = plan_request(node, {.solve = options.solve,
                                                  .publish = options.publish,
                                                  .ring = options.ring,
                                                  .reduce = options.reduce,
                                                  .cores = options.cores,
                                                  .elastic_given = line.is_given("--elastic"),
                                                  .reduce_given = line.is_given("--reduce"),
                                                  .memory = options.memory,
                                                  .rows = options.rows,
                                                  .nonzeros = options.nonzeros});
  const Plan made = make_plan(node, request);
  Json object = to_json(node, request, made);
  std::optional<ManyNodes> many;
  if (!options.many.nodes.empty()) {
    const PlanRow& best = made.rows[made.best];
    many = simulate_many(options.many, node_figures(best.prediction, request.run, node.costs), options.solve);
    object["many_nodes"] = to_json(*many);
  }
  object["version"] = version();
  object["written_s"] = realtime_ns() / 1'000'000'000;
  if (!options.output.empty()) {
    OutputFile file(options.output, "--output", kept);
    file.write(page_with_data("/plan.html", object));
    file.finish();
  }
  if (options.output == "-") return 0;
  if (options.json) {
    print(object);
  } else {
    fmt::print("{}", plan_table(node, request, made));
    if (many) fmt::print("\n{}", many_nodes_table(*many));
  }
  return 0;
}

}  // namespace

int plan_command(int argc, const char* const* argv) {
  PlanOptions options;
  CommandLine line("Predicts the time of a run for every split of the cores and every mode, and names the best.",
                   "ringside plan");
  declare_plan(line, options);
  line.footer(
      "`-- PROGRAM [ARGS...]` plans a run of your program: it is started several times, for 20 steps each, with pools\n"
      "in a temporary folder beside --pool. Each start writes PROGRAM's own files. --trial-seconds limits the time of\n"
      "all of them.");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  return plan(line, options);
}

}  // namespace ringside
