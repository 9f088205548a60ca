// SPDX-License-Identifier: BSD-3-Clause
// A solver that executes its arguments, one word after another, and prints what happens:
//   attach | publish N | detach | exit STATUS | raise SIGNAL | say TEXT | run COMMAND | write FIFO | read FIFO
//   handle (SIGINT and SIGUSR1 from here on) | await (one of them) | ignore (SIGINT) | pause (until a signal)
//   problem NAME | variables x (the default), several, states | fork (a child uses the attachment) | leave (a child
//   that outlives this process)
// x_k[i] = x_{k-1}[i] / 2 + i, from zeros or from the iterate that was kept.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/handoff/handoff_environment.hpp"
#include "common/handoff/handoff_writer.hpp"
#include "common/handoff/run_description.hpp"
#include "common/kernels/hash.hpp"
#include "common/messages/message_coordination.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"

namespace {

constexpr std::uint64_t kRows = 1000;

std::atomic<bool> stop{false};

void say(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

class ScriptedProgram {
 public:
  void act(const std::string& word, const std::string& value) {
    if (word == "attach") return attach();
    if (word == "publish") return publish(std::stoull(value));
    if (word == "detach")
      return handoff_->detach(stop ? ringside::Outcome::kInterrupted : ringside::Outcome::kFinished);
    if (word == "exit") _exit(std::stoi(value));
    if (word == "raise") return raise(std::stoi(value));
    if (word == "say") return say(value);
    if (word == "run") return say(fmt::format("status {}", WEXITSTATUS(std::system(value.c_str()))));
    if (word == "write") return exchange(value, O_WRONLY);
    if (word == "read") return exchange(value, O_RDONLY);
    if (word == "problem") problem_ = value;
    if (word == "variables") variables_ = value;
    if (word == "handle") return handle();
    if (word == "await") return await();
    if (word == "ignore") std::signal(SIGINT, SIG_IGN);
    if (word == "pause") pause();
    if (word == "fork") return fork_and_use();
    if (word == "leave") return leave_child();
  }

  static bool takes_value(const std::string& word) {
    const std::vector<std::string> words = {"publish", "exit", "raise",   "say",      "run",
                                            "write",   "read", "problem", "variables"};
    return std::find(words.begin(), words.end(), word) != words.end();
  }

 private:
  void attach() {
    ringside::RunDescription run;
    run.run_id = ringside::random_id();
    run.problem_id = ringside::hash128(problem_.data(), problem_.size());
    run.started_realtime_ns = ringside::realtime_ns();
    ringside::assign(run.solver, "scripted");
    ringside::assign(run.matrix, problem_);
    handoff_.reset();
    ringside::HandoffOptions options = ringside::handoff_options_of_environment();
    options.messages = ringside::make_messages;
    handoff_.emplace(options, run, schema(), scalars());
    x_.assign(kRows, 0.0);
    iteration_ = 0;
    if (const auto kept = handoff_->take_kept()) {
      std::copy(kept->x(), kept->x() + kRows, x_.begin());
      iteration_ = kept->iteration;
    }
  }

  /// The first variable always has kRows doubles.
  ringside::Schema schema() const {
    using ringside::DType;
    using ringside::Role;
    if (variables_ == "several") {
      return ringside::Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {kRows}, .role = Role::kState},
                                   {.name = "u", .dtype = DType::kF32, .shape = {20, 50}, .unit = "m s-1"},
                                   {.name = "n", .dtype = DType::kI64, .shape = {10}}});
    }
    if (variables_ == "states") {
      return ringside::Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {kRows}, .role = Role::kState}});
    }
    return ringside::Schema::x_only(kRows);
  }
  std::vector<ringside::Scalar> scalars() const {
    if (variables_ == "x") return {};
    return {{.name = "energy"}, {.name = "restarts", .type = ringside::ValueType::kI64}};
  }

  /// In step k, each entry of u is k / 2, and each entry of n is 10^12 k.
  void write_others(void* payload) const {
    if (variables_ != "several") return;
    const ringside::Schema variables = schema();
    auto* const bytes = static_cast<std::byte*>(payload);
    auto* const u = reinterpret_cast<float*>(bytes + variables.place(1).offset);
    auto* const n = reinterpret_cast<std::int64_t*>(bytes + variables.place(2).offset);
    std::fill_n(u, variables.place(1).entries, static_cast<float>(iteration_) / 2);
    std::fill_n(n, variables.place(2).entries, 1'000'000'000'000 * static_cast<std::int64_t>(iteration_));
  }

  static void raise(int number) {
    std::signal(number, SIG_DFL);  // a sanitizer would report the signal, and end with its own exit code
    std::raise(number);
  }

  void publish(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      const ringside::Claim claim = handoff_->claim();
      if (!claim) throw handoff_->failure(claim.status);
      for (std::uint64_t row = 0; row < kRows; ++row) x_[row] = x_[row] / 2 + static_cast<double>(row);
      std::copy(x_.begin(), x_.end(), claim.x());
      ++iteration_;
      write_others(claim.x());
      const auto k = static_cast<std::int64_t>(iteration_);
      const std::vector<ringside::ScalarValue> values = {1.0 / static_cast<double>(k), k / 10};
      handoff_->publish({.iteration = iteration_}, std::span(values).first(scalars().size()));
    }
  }

  static void exchange(const std::string& fifo, int flags) {
    const int fd = open(fifo.c_str(), flags);  // blocks until the other side opens it
    char byte = '\n';
    (void)!(flags == O_RDONLY ? read(fd, &byte, 1) : write(fd, &byte, 1));
    close(fd);
  }

  /// Blocks the signals except in `await`, so that no signal arrives between a check and a wait.
  static void handle() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGUSR1}) {
      std::signal(number, [](int) { stop = true; });
      sigaddset(&set, number);
    }
    sigprocmask(SIG_BLOCK, &set, nullptr);
  }

  static void await() {
    sigset_t none;
    sigemptyset(&none);
    while (!stop) sigsuspend(&none);
  }

  void fork_and_use() {
    const pid_t child = fork();
    if (child == 0) {
      const ringside::Claim claim = handoff_->claim();
      const ringside::Error error = handoff_->failure(claim.status);
      say(claim ? "the child has a buffer" : error.what());
      handoff_.reset();
      std::fflush(stdout);
      _exit(static_cast<int>(error.code()));  // memory shared with the parent is not freed, but this is no leak
    }
    int status = 0;
    waitpid(child, &status, 0);
    say(fmt::format("the child ended with status {}", WEXITSTATUS(status)));
  }

  static void leave_child() {
    const pid_t child = fork();
    if (child == 0) {
      close(STDOUT_FILENO);
      close(STDERR_FILENO);
      pause();
      _exit(0);
    }
    say(fmt::format("left {}", child));
  }

  std::optional<ringside::HandoffWriter> handoff_;
  std::string problem_ = "a problem";
  std::string variables_ = "x";
  std::vector<double> x_;
  std::uint64_t iteration_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  ScriptedProgram program;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const bool has_value = ScriptedProgram::takes_value(word) && i + 1 < argc;
      program.act(word, has_value ? argv[++i] : "");
    }
    return 0;
  } catch (const ringside::Error& error) {
    fmt::print(stderr, "scripted_program: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
