// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/output_file.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/text/printable.hpp"
#include "memory/command/commands.hpp"
#include "memory/command/run_account.hpp"
#include "memory/preload/environment.hpp"
#include "memory/system/available.hpp"

namespace ringside {
namespace {

/// With signals, a fault costs a tenth of its cost with a thread, and system calls on absent memory need no permission.
constexpr char kDefaultFaults[] = "signal";

struct MemoryRunOptions {
  std::uint64_t dram_bytes = 0, far_bytes = 0, min_size = memory::kDefaultMinSize;
  std::string far_folder, faults = kDefaultFaults, fork = "copy", account, prometheus;
  bool first_only = false, noreserve = false, json = false, quiet = false;
  std::vector<std::string> program;
};

/// Memory that the processes of the run share with this process through a name in /proc. Nothing of it remains if this
/// process is killed.
class SharedPage {
 public:
  SharedPage() : fd_(memfd_create("ringside-memory-account", MFD_CLOEXEC)) {
    if (const std::uint64_t most = memory::process_limit(RLIMIT_FSIZE); most < sizeof(memory::AccountPage))
      throw system_error(
          "ulimit -f permits files of {} bytes, expected at least {}: the account is a file of that size", most,
          sizeof(memory::AccountPage));
    if (!fd_.valid() || ftruncate(fd_.get(), sizeof(memory::AccountPage)) != 0)
      throw system_error("cannot make memory for the account: {}", errno_text(errno));
    void* const at = mmap(nullptr, sizeof(memory::AccountPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (at == MAP_FAILED) throw system_error("cannot map memory for the account: {}", errno_text(errno));
    page_ = static_cast<memory::AccountPage*>(at);  // its initial state is all zeros
    page_->mark = memory::kAccountMark;
  }
  ~SharedPage() { munmap(page_, sizeof(memory::AccountPage)); }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  const memory::AccountPage& page() const noexcept { return *page_; }
  std::string name() const { return fmt::format("/proc/{}/fd/{}", getpid(), fd_.get()); }

 private:
  UniqueFd fd_;
  memory::AccountPage* page_ = nullptr;
};

/// The path of the preload library, relative to this program: ../lib in a build, else the installed private folder.
std::string preload_library() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* folder : {"../lib", RINGSIDE_MEMORY_PRELOAD_FOLDER}) {
    const std::filesystem::path file = (own / folder / memory::kPreloadName).lexically_normal();
    if (!std::filesystem::exists(file, error)) continue;
    if (file.string().find_first_of(" :") != std::string::npos)
      throw usage_error("{}: found a blank or a colon in the path, expected none: LD_PRELOAD cannot name the file",
                        shortened(file.string()));
    return file.string();
  }
  throw system_error("{}: not found in ../lib or {} beside {}; expected the files of one release side by side",
                     memory::kPreloadName, RINGSIDE_MEMORY_PRELOAD_FOLDER, own.string());
}

std::vector<std::string> environment_for(const MemoryRunOptions& options, const std::string& library,
                                         const std::string& account) {
  std::vector<std::string> variables;
  std::string preload = library;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("LD_PRELOAD=")) {
      preload += ":" + std::string(text.substr(text.find('=') + 1));
    } else if (!text.starts_with(memory::kVariablePrefix)) {
      variables.emplace_back(text);
    }
  }
  const auto set = [&](const char* name, const std::string& value) {
    variables.push_back(fmt::format("{}={}", name, value));
  };
  set("LD_PRELOAD", preload);
  set(memory::kDramVariable, std::to_string(options.dram_bytes));
  set(memory::kFarVariable, options.far_folder);
  if (options.far_bytes != 0) set(memory::kFarLimitVariable, std::to_string(options.far_bytes));
  set(memory::kMinSizeVariable, std::to_string(options.min_size));
  set(memory::kFaultsVariable, options.faults);
  set(memory::kForkVariable, options.fork);
  set(memory::kFirstOnlyVariable, options.first_only ? "1" : "0");
  set(memory::kNoreserveVariable, options.noreserve ? "1" : "0");
  set(memory::kAccountVariable, account);
  return variables;
}

std::atomic<pid_t> running{0};

/// Ctrl-C reaches the program directly, because the terminal signals the whole process group. This handler passes on
/// signals that another process sends.
void pass_on(int number, siginfo_t* info, void* /*context*/) {
  const int kept = errno;
  const pid_t child = running.load();
  if (child > 0 && info->si_code <= 0) kill(child, number);
  errno = kept;
}

constexpr std::array kPassedOn = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kPassedOn[i], &action, nullptr);  // so that nohup stays effective
    }
  }
  /// Called in the child, between fork and exec.
  void undo() const noexcept {
    for (std::size_t i = 0; i < kPassedOn.size(); ++i) sigaction(kPassedOn[i], &before_[i], nullptr);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) ::signal(ignored, SIG_DFL);  // ringside-memory itself ignores them
  }

 private:
  std::array<struct sigaction, kPassedOn.size()> before_{};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Runs the program to its end.
void run_to_end(const std::string& file, std::vector<std::string> environment, MemoryRun& run) {
  std::vector<std::string> words = run.program;
  const std::vector<char*> arguments = pointers(words), variables = pointers(environment);
  std::array<int, 2> failure{};  // exec closes the pipe if it succeeds; otherwise the pipe carries the error
  if (pipe2(failure.data(), O_CLOEXEC) != 0) throw system_error("cannot create a pipe: {}", errno_text(errno));
  UniqueFd read_end(failure[0]), write_end(failure[1]);
  const SignalsPassedOn signals;
  const auto begun = std::chrono::steady_clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw system_error("cannot start {}: {}", shortened(file), errno_text(errno));
  if (child == 0) {
    // If this command dies, nothing prints the account. Therefore the kernel then kills the program. The request refers
    // to the thread that forked, which is the command's only thread. When the program changes its user, the kernel
    // drops the request; memory/preload/process.cpp repeats it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent died before prctl took effect
    signals.undo();
    execve(file.c_str(), arguments.data(), variables.data());
    const int error = errno;
    (void)!write(write_end.get(), &error, sizeof error);
    _exit(127);
  }
  running.store(child);
  write_end.reset();
  int error = 0;
  ssize_t count = 0;
  while ((count = read(read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  running.store(0);
  if (count == sizeof error) {
    throw usage_error("{}: cannot be started: {}; expected a program in PATH or a path", shortened(file),
                      errno_text(error));
  }
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  run.user_s = seconds(usage.ru_utime);
  run.system_s = seconds(usage.ru_stime);
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  run.exit_code = run.signal != 0 ? 128 + run.signal : WEXITSTATUS(status);
}

void declare(CommandLine& line, MemoryRunOptions& options) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 43;
  line.option("--dram", options.dram_bytes, "limit of the DRAM that each process uses for its large allocations")
      .required()
      .value_name("SIZE")
      .check(size_within(std::uint64_t{1} << 20, kMost, "1M to 8192G"));
  line.option("--far", options.far_folder, "folder of far memory, on NVDIMM, tmpfs or a disk")
      .required()
      .value_name("DIR");
  line.option("--far-limit", options.far_bytes,
              "limit of the far memory of each process (default: the folder's free space)")
      .value_name("SIZE")
      .check(size_within(std::uint64_t{1} << 20, kMost, "1M to 8192G"));
  line.option("--min-size", options.min_size, "allocations of at least this size go to far memory (default: 1M)")
      .value_name("SIZE")
      .check(size_within(4096, std::uint64_t{1} << 40, "4K to 1024G"));
  line.option(
          "--faults", options.faults,
          "which thread brings a page into DRAM: the thread that touched it (signal), or the library's own thread "
          "(thread); the library's thread is slower and needs permission to serve system calls, but no seccomp filter")
      .value_name("WHO")
      .check(one_of({"signal", "thread"}))
      .show_default();
  line.option("--fork", options.fork,
              "a forked child gets a copy of all large allocations (copy), or gets none and ends when it touches one "
              "(none)")
      .value_name("HOW")
      .check(one_of({"copy", "none"}))
      .show_default();
  line.flag("--noreserve", options.noreserve,
            "also put memory that PROGRAM maps with MAP_NORESERVE (as jemalloc does) into far memory");
  line.flag("--first-only", options.first_only, "give no far memory to the programs that PROGRAM starts");
  line.flag("--json", options.json, "print the account as one JSON object on standard output");
  line.option("--account", options.account, "write the account to this file").value_name("FILE");
  line.option("--prometheus", options.prometheus, "write metrics for node_exporter's textfile collector to this file")
      .value_name("FILE");
  line.flag("--quiet", options.quiet, "print no account on standard error");
  line.take_program(options.program);
  line.footer(
      "PROGRAM's allocations (malloc, new, anonymous mmap) of --min-size or more are in far memory; at most --dram of "
      "them is in DRAM at a time. Smaller ones stay in DRAM and are counted. Each process, including those that "
      "PROGRAM starts, has its own limit. The exit code is PROGRAM's, or 128 plus the signal that ended it; if PROGRAM "
      "was not started, this command ends with 2 or 3.");
}

void write_file(const std::string& path, const char* option, std::string_view text) {
  OutputFile file(path, option);
  file.write(text);
  file.finish();
}

void report(const MemoryRunOptions& options, const MemoryRun& run) {
  if (!options.account.empty()) {
    write_file(options.account, "--account", options.json ? account_json(run) : account_text(run));
  } else if (options.json) {
    write_standard_output(account_json(run));
  } else if (!options.quiet) {
    write_standard_error(account_text(run));
  }
  if (!options.prometheus.empty()) write_file(options.prometheus, "--prometheus", account_metrics(run));
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  MemoryRunOptions options;
  CommandLine line("Runs a program with more memory than DRAM: its large allocations are in far memory.",
                   "ringside-memory run");
  declare(line, options);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  if (options.program.empty()) throw usage_error("found no program, expected `-- PROGRAM [ARGS...]` at the end");
  for (const auto& [path, option] : {std::pair{options.account, "--account"}, {options.prometheus, "--prometheus"}}) {
    if (!path.empty()) check_output(path, option, {});
  }
  const char* bound = "";
  if (const std::uint64_t most = memory::available_memory(&bound); options.dram_bytes > most)
    throw usage_error("--dram: found {} bytes, expected at most {} ({})", options.dram_bytes, most, bound);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(options.far_folder, error);
  if (!std::filesystem::is_directory(folder, error))
    throw usage_error("--far: found '{}', expected an existing folder", shortened(options.far_folder));
  options.far_folder = folder.string();
  const std::string file = find_program(options.program.front());
  refuse_unless_preloadable(file);
  if (const char* const libraries = std::getenv("LD_PRELOAD"); libraries != nullptr) refuse_sanitizers(libraries);

  const SharedPage shared;
  MemoryRun run;
  run.program = options.program;
  run.far_folder = options.far_folder;
  run.faults = options.faults;
  run.dram_limit_bytes = options.dram_bytes;
  run.min_size_bytes = options.min_size;
  run_to_end(file, environment_for(options, preload_library(), shared.name()), run);
  read_account(shared.page(), run);
  report(options, run);
  return run.exit_code;
}

}  // namespace ringside
