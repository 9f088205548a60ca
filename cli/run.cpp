#include "cli/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "analyzer/ring_admission.hpp"
#include "cli/account_table.hpp"
#include "cli/supervisor.hpp"
#include "common/options.hpp"
#include "common/topology.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  SolveOptions solve;
  PublishOptions publish;
  RingOptions ring;
  ReduceOptions reduce;
  CoreOptions cores;
  Mode mode = Mode::kPipeline;
  std::string summary;
  bool quiet = false;
};

void declare_all(CLI::App& app, RunOptions& options) {
  declare(app, options.mode);
  declare(app, options.solve);
  declare(app, options.cores);
  declare(app, options.publish);
  declare(app, options.ring);
  declare(app, options.reduce);
  app.add_option("--summary", options.summary, "write the account as one JSON object")->type_name("FILE.json");
  app.add_flag("--quiet", options.quiet, "neither progress nor the closing table");
  declare_config_file(app);
}

/// A folder of our own for the socket, 0700, gone with us.
class RuntimeFolder {
 public:
  RuntimeFolder() {
    const char* base = std::getenv("XDG_RUNTIME_DIR");
    if (!try_under(base != nullptr ? base : "") && !try_under(fs::temp_directory_path().string())) {
      throw system_error("cannot create a folder for the socket in {}: {}", fs::temp_directory_path().string(),
                         errno_text(errno));
    }
  }
  ~RuntimeFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;

  std::string socket() const { return path_ + "/analyzer.socket"; }

 private:
  bool try_under(const std::string& base) {
    if (base.empty()) return false;
    path_ = base + "/ringside-XXXXXX";
    return mkdtemp(path_.data()) != nullptr;
  }

  std::string path_;
};

std::string sibling(const char* program) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / program).string();
}

/// The producer's core list in the baseline: everything either side would have had.
CorePlan cores_for(const RunOptions& options) {
  const auto given = [](const char* flag, const std::string& text) -> std::optional<CoreList> {
    return text.empty() ? std::nullopt : std::optional(parse_core_list(text, flag));
  };
  CorePlan plan = plan_cores(given("--producer-cores", options.cores.producer_cores),
                             given("--analyzer-cores", options.cores.analyzer_cores));
  if (options.mode == Mode::kDram && !plan.oversubscribed_one_core) {
    plan.producer.insert(plan.producer.end(), plan.analyzer.begin(), plan.analyzer.end());
    std::sort(plan.producer.begin(), plan.producer.end());
  }
  return plan;
}

/// A summary that cannot be written should be known before hours of solving, not after.
void check_summary_writable(const std::string& path) {
  if (path.empty()) return;
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) throw system_error("--summary: cannot write '{}': {}", path, errno_text(errno));
  close(fd);
}

void write_summary(const std::string& path, const nlohmann::ordered_json& summary) {
  const std::string text = summary.dump(2) + "\n";
  FILE* file = std::fopen(path.c_str(), "w");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) throw system_error("--summary: cannot write '{}': {}", path, errno_text(errno));
}

/// One exit code from two processes. Their own lines are on standard error already; a death has no line of its own.
ExitCode judge(const Child& producer, const Child* analyzer, bool interrupted) {
  if (interrupted && producer.exit_code() < 0) return ExitCode::kInterrupted;  // stopped while it still loaded
  if (analyzer != nullptr && analyzer->death_signal() != 0 && !interrupted) {
    fmt::print(stderr, "ringside: the analyzer was killed by signal {} ({})\n", analyzer->death_signal(),
               strsignal(analyzer->death_signal()));
    return ExitCode::kPeerLost;
  }
  if (producer.death_signal() != 0) {
    fmt::print(stderr, "ringside: the producer was killed by signal {} ({}); every iterate it published was committed\n",
               producer.death_signal(), strsignal(producer.death_signal()));
    return ExitCode::kPeerLost;
  }
  if (producer.exit_code() != 0) return static_cast<ExitCode>(producer.exit_code());
  return analyzer != nullptr ? static_cast<ExitCode>(analyzer->exit_code()) : ExitCode::kDone;
}

const char* headline(ExitCode code) {
  switch (code) {
    case ExitCode::kDone: return "done";
    case ExitCode::kInterrupted: return "interrupted, stopped cleanly";
    default: return "failed; the account so far";
  }
}

ExitCode run(const CLI::App& app, const RunOptions& options) {
  const bool pipeline = options.mode == Mode::kPipeline;
  const CorePlan cores = cores_for(options);
  if (cores.oversubscribed_one_core) {
    fmt::print(stderr, "ringside: warning: {}\n", cores.reason);
  }
  check_summary_writable(options.summary);
  // The analyzer has the last word when the producer attaches; asked here first, before a large matrix is loaded.
  if (pipeline && !options.publish.overwrite) refuse_foreign_iterates(options.ring.pool);

  const RunFacts facts{.mode = to_string(options.mode),
                       .pool = options.ring.pool,
                       .producer_cores = to_string(CoreList{cores.producer}),
                       .analyzer_cores = pipeline ? to_string(CoreList{cores.analyzer}) : "",
                       .coordination = options.publish.coordination,
                       .buffers = options.publish.buffers};
  RuntimeFolder folder;
  Supervisor supervisor(!options.quiet);
  const std::string shared_core = cores.oversubscribed_one_core ? "--shared-core" : "";

  std::optional<Child> analyzer;
  if (pipeline) {
    std::vector<std::string> arguments = arguments_given(app, {kRingGroup, kReduceGroup});
    arguments.insert(arguments.end(), {"--once", "--socket=" + folder.socket(), "--cores=" + facts.analyzer_cores});
    if (!shared_core.empty()) arguments.push_back(shared_core);
    analyzer.emplace(sibling("ringside-analyzer"), arguments);
    if (!supervisor.wait_until_ready(*analyzer)) {
      if (supervisor.interrupted()) return ExitCode::kInterrupted;
      return analyzer->exit_code() > 0 ? static_cast<ExitCode>(analyzer->exit_code()) : ExitCode::kPeerLost;
    }
  }

  std::vector<std::string> arguments = arguments_given(app, {kSolveGroup, kPublishGroup});
  arguments.insert(arguments.end(), {"--mode=" + facts.mode, "--cores=" + facts.producer_cores});
  if (pipeline) arguments.push_back("--socket=" + folder.socket());
  if (!pipeline) arguments.push_back("--passes=" + std::to_string(options.reduce.passes));
  if (!shared_core.empty()) arguments.push_back(shared_core);
  Child producer(sibling("ringside-producer"), arguments);
  supervisor.wait_until_ended(producer, analyzer ? &*analyzer : nullptr);

  const ExitCode code = judge(producer, analyzer ? &*analyzer : nullptr, supervisor.interrupted());
  const nlohmann::json& reported = supervisor.producer().figures;
  if (reported.is_object() && reported.contains("begun_ns")) {
    const nlohmann::ordered_json summary = make_summary(facts, reported, supervisor.analyzer().figures);
    if (!options.summary.empty()) write_summary(options.summary, summary);
    if (!options.quiet) fmt::print("ringside run: {}\n{}", headline(code), account_table(summary, facts));
  }
  return code;
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  RunOptions options;
  CLI::App app("Runs a solver and keeps, reduces and accounts for every iterate.", "ringside run");
  declare_all(app, options);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  return static_cast<int>(run(app, options));
}

}  // namespace ringside
