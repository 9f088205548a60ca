// SPDX-License-Identifier: BSD-3-Clause
#include "node/benches/openmp_groups.hpp"

#include <sched.h>

#include <barrier>
#include <exception>
#include <system_error>
#include <thread>

#include "common/platform/error.hpp"
#include "common/program/topology.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside {

void run_openmp_groups(const std::vector<OpenMpGroup>& groups) {
  std::vector<std::exception_ptr> failures(groups.size());
  std::barrier all_set_up(static_cast<std::ptrdiff_t>(groups.size()));
  std::atomic<bool> failed{false};
  const auto run = [&](std::size_t index) {
    GroupWork work;
    try {
      pin_openmp_threads(groups[index].cpus);
      OpenMpTeam team;
      work = groups[index].set_up(team);
      all_set_up.arrive_and_wait();
      if (!failed.load()) [&]() noexcept { work(); }();
      work = nullptr;  // destroyed here, because the work may use the team
      return;
    } catch (...) {
      failures[index] = std::current_exception();
    }
    failed.store(true);
    all_set_up.arrive_and_wait();
  };

  std::vector<std::thread> threads;
  threads.reserve(groups.size());
  for (std::size_t index = 0; index < groups.size(); ++index) {
    try {
      threads.emplace_back(run, index);
    } catch (const std::system_error& error) {
      failures[index] =
          std::make_exception_ptr(system_error("a group of threads could not be started: {}", error.what()));
      failed.store(true);
      for (std::size_t left = index; left < groups.size(); ++left) (void)all_set_up.arrive();
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void yield_core() noexcept {
  sched_yield();
}

}  // namespace ringside
