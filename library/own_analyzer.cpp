// SPDX-License-Identifier: BSD-3-Clause
#include "library/own_analyzer.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "common/platform/clock.hpp"
#include "common/platform/core_list.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/platform/version.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "library/bound_threads.hpp"
#include "library/messages.hpp"

namespace ringside::library {
namespace {

constexpr const char* kProgram = "ringside";
constexpr int kSliceMs = 100;  // between two checks of `stop`

bool is_program(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
}

/// The path of `ringside`, which is searched in the installation to which this library belongs, and then in PATH.
std::string find_program() {
  const std::string own = own_folder();
  for (const char* folder : {"../bin/", "../../bin/", ""}) {
    std::string candidate = own + folder + kProgram;
    if (!own.empty() && is_program(candidate)) return candidate;
  }
  const char* path = secure_getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty() && is_program(folder + "/" + kProgram)) return folder + "/" + kProgram;
  }
  throw system_error(
      "pool: found no program `{}`, which starts the analyzer, in {}../bin or PATH; expected Ringside's programs (the package "
      "ringside, or `pip install ringside-insitu`), or an analyzer that runs already (RINGSIDE_SOCKET)",
      kProgram, own);
}

/// This process's environment without LD_PRELOAD, because preloaded libraries are meant for the solver.
std::vector<std::string> environment_of_helper() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.emplace_back(*variable);
  }
  return variables;
}

/// The value of --attend: the descriptor and this process's cores, if they are known.
std::string attendance(int descriptor) {
  const CoreList cores{cores_of_process()};
  return std::to_string(descriptor) + ":" + (cores.cpus.empty() ? "" : to_string(cores));
}

}  // namespace

std::vector<std::string> words_of(const std::string& text, const char* what) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      begun = true;
    } else if (quote != 0) {
      if (letter == quote) {
        quote = 0;
      } else {
        word += letter;
      }
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      begun = true;
    } else if (std::strchr(" \t\n", letter) != nullptr) {
      if (begun) words.push_back(std::exchange(word, {}));
      begun = false;
    } else {
      word += letter;
      begun = true;
    }
  }
  if (quote != 0)
    throw usage_error("{}: found an opening {} without a closing one in '{}'; expected both", what, quote,
                      shortened(text));
  if (begun) words.push_back(word);
  return words;
}

OwnAnalyzer::OwnAnalyzer(const OwnAnalyzerOptions& options) {
  start(options);
  while (!ready_) {
    if (options.stop.is_set()) throw Error(ExitCode::kInterrupted, "interrupted while the analyzer was started");
    if (!read_some(kSliceMs)) throw peer_error("pool: the analyzer for {} could not be started: `{} run` has ended", options.pool, kProgram);
  }
}

OwnAnalyzer::~OwnAnalyzer() {
  if (!process_.is_owner()) return;
  shutdown(socket_.get(), SHUT_WR);
  if (helper_ > 0) waitpid(helper_, nullptr, WNOHANG);
}

void OwnAnalyzer::start(const OwnAnalyzerOptions& options) {
  const std::string program = find_program();
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_error("pool: cannot make a pair of sockets: {}", errno_text(errno));
  }
  socket_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  const int as_theirs = theirs.get() == 3 ? 4 : 3;  // if both numbers were equal, some libcs would close it at exec

  std::vector<std::string> words = {program, "run", "--attend=" + attendance(as_theirs), "--pool=" + options.pool};
  if (options.pool_use == PoolUse::kResume) words.emplace_back("--resume");
  if (options.pool_use == PoolUse::kOverwrite) words.emplace_back("--overwrite");
  words.insert(words.end(), options.run_options.begin(), options.run_options.end());
  std::vector<std::string> variables = environment_of_helper();

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), as_theirs);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), &actions, &attributes, exec_list(words).data(), exec_list(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) throw system_error("pool: cannot start {}: {}", program, errno_text(failed));
  // The started process ends at once and leaves the helper as an orphan. So a program that waits for its own children
  // does not find a child that it did not start.
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Reads the bytes that have arrived. Returns false at the end of the connection.
bool OwnAnalyzer::read_some(int timeout_ms) {
  pollfd waiting{socket_.get(), POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return true;
  std::array<char, 4096> buffer;
  const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (count < 0) return errno == EINTR;
  if (count == 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  for (std::size_t end; (end = received_.find('\0')) != std::string::npos;) {
    const std::string record = received_.substr(0, end);
    received_.erase(0, end + 1);
    take_record(record);
  }
  return true;
}

void OwnAnalyzer::take_record(const std::string& record) {
  const std::size_t equals = record.find('=');
  const std::string name = record.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : record.substr(equals + 1);
  if (name == "ready") {
    ready_ = true;
  } else if (name == "account") {
    account_ = value;
  } else if (name == "refused") {
    const std::size_t blank = value.find(' ');
    const int code = static_cast<int>(whole_number(value.substr(0, blank)).value_or(0));
    throw Error(code != 0 ? documented_exit_code(code) : ExitCode::kPeerLost, value.substr(std::min(blank, value.size() - 1) + 1));
  } else if (name == "version" && value != version()) {
    throw system_error("pool: found the program `{}` of Ringside {}, expected {}, the version of libringside", kProgram,
                       value, version());
  } else if (name == "pid") {
    helper_ = static_cast<pid_t>(whole_number(value).value_or(0));
  } else {
    if (name == kCoresVariable) cores_ = parse_core_list(value, kCoresVariable).cpus;
    variables_.emplace_back(name, value);
  }
}

void OwnAnalyzer::finish(double most_s) {
  if (!process_.is_owner()) return;
  shutdown(socket_.get(), SHUT_WR);
  const std::int64_t until_ns = now_ns() + static_cast<std::int64_t>(most_s * 1e9);
  bool is_there = true;
  while (is_there && now_ns() < until_ns) is_there = read_some(kSliceMs);
  if (!is_there && helper_ > 0) waitpid(helper_, nullptr, 0);  // it is about to exit; returns at once if it is no child
}

}  // namespace ringside::library
