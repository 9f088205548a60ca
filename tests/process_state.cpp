// SPDX-License-Identifier: BSD-3-Clause
// All tests of a program run in one process. After each test, this listener compares the environment, the working
// folder, the umask, the limits and the handlers of signals with their state before the test. A test that leaves
// another state fails, because later tests would depend on this state. The number of OpenMP threads is restored,
// because tests may set it.
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

mode_t current_umask() {
  const mode_t mask = umask(077);
  umask(mask);
  return mask;
}

Settings process_state() {
  Settings state;
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  std::sort(variables.begin(), variables.end());
  std::string environment;
  for (const std::string& variable : variables) environment += variable + "\n";
  state.emplace_back("environment", environment);

  std::string folder(PATH_MAX, '\0');
  state.emplace_back("working folder", getcwd(folder.data(), folder.size()) != nullptr ? folder.c_str() : "none");
  state.emplace_back("umask", std::to_string(current_umask()));
  for (const auto& [name, limit] : {std::pair{"limit of open files", RLIMIT_NOFILE},
                                    {"limit of a file's size", RLIMIT_FSIZE},
                                    {"limit of the stack", RLIMIT_STACK},
                                    {"limit of locked memory", RLIMIT_MEMLOCK}}) {
    rlimit found{};
    getrlimit(limit, &found);
    state.emplace_back(name, std::to_string(found.rlim_cur));
  }
  // Without SIGSEGV, SIGBUS and SIGSYS, because software memory handles them from its first use on. Without SIGPIPE,
  // because an HTTP server ignores it from its first use on.
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGABRT, SIGUSR1, SIGUSR2, SIGIO, SIGXFSZ}) {
    struct sigaction found {};
    sigaction(signal, nullptr, &found);
    const bool standard = found.sa_handler == SIG_DFL;
    state.emplace_back("handler of signal " + std::to_string(signal), standard                      ? "default"
                                                                      : found.sa_handler == SIG_IGN ? "ignored"
                                                                                                    : "a function");
  }
  return state;
}

class ProcessState : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    before_ = process_state();
    threads_ = omp_get_max_threads();
  }

  void OnTestEnd(const ::testing::TestInfo&) override {
    omp_set_num_threads(threads_);
    const Settings after = process_state();
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(before_[i].second, after[i].second) << "this test leaves another " << after[i].first;
    }
  }

  Settings before_;
  int threads_ = 1;
};

[[maybe_unused]] const bool registered = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new ProcessState);  // GoogleTest deletes it
  return true;
}();

}  // namespace
