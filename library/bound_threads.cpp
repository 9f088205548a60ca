// SPDX-License-Identifier: BSD-3-Clause
#include "library/bound_threads.hpp"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ringside::library {
namespace {

/// A function of the OpenMP library that this process has loaded; null: it has none.
template <class Function>
Function* openmp(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), closedir);
  if (!folder) return threads;
  while (const dirent* entry = readdir(folder.get())) {
    if (const int thread = std::atoi(entry->d_name); thread > 0) threads.push_back(thread);
  }
  return threads;
}

bool is_empty(const cpu_set_t& set) noexcept {
  return CPU_COUNT(&set) == 0;
}

}  // namespace

std::vector<int> cores_of_process() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const pid_t thread : threads_of_process()) {
    cpu_set_t own;
    if (sched_getaffinity(thread, sizeof own, &own) == 0) CPU_OR(&all, &all, &own);
  }
  auto* const places = openmp<int()>("omp_get_num_places");
  auto* const count = openmp<int(int)>("omp_get_place_num_procs");
  auto* const list = openmp<void(int, int*)>("omp_get_place_proc_ids");
  if (places != nullptr && count != nullptr && list != nullptr) {
    for (int place = 0; place < places(); ++place) {
      std::vector<int> cores(static_cast<std::size_t>(count(place)));
      list(place, cores.data());
      for (const int core : cores) {
        if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &all);
      }
    }
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &all)) cores.push_back(core);
  }
  return cores;
}

BoundThreads::BoundThreads(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &wanted);
  }
  for (const pid_t thread : threads_of_process()) {
    Bound one{.thread = thread, .before = {}, .now = {}};
    if (sched_getaffinity(thread, sizeof one.before, &one.before) != 0) continue;
    CPU_AND(&one.now, &one.before, &wanted);
    if (is_empty(one.now)) one.now = wanted;
    if (sched_setaffinity(thread, sizeof one.now, &one.now) == 0) bound_.push_back(one);  // also one that stays where it is
  }
  // As `ringside run` sets OMP_NUM_THREADS, unless the user has.
  const char* chosen = std::getenv("OMP_NUM_THREADS");
  auto* const set = openmp<void(int)>("omp_set_num_threads");
  auto* const most = openmp<int()>("omp_get_max_threads");
  if ((chosen != nullptr && *chosen != '\0') || set == nullptr || most == nullptr) return;
  const int before = most();
  if (before <= static_cast<int>(cores.size())) return;
  openmp_threads_ = before;
  set(static_cast<int>(cores.size()));
}

BoundThreads::~BoundThreads() {
  for (const pid_t thread : bound_.empty() ? std::vector<pid_t>() : threads_of_process()) {
    cpu_set_t found;
    if (sched_getaffinity(thread, sizeof found, &found) != 0) continue;
    const auto is_own = [&](const Bound& one) { return one.thread == thread && CPU_EQUAL(&one.now, &found); };
    const auto is_makers = [&](const Bound& one) { return CPU_EQUAL(&one.now, &found); };
    auto one = std::ranges::find_if(bound_, is_own);
    if (one == bound_.end()) one = std::ranges::find_if(bound_, is_makers);
    if (one != bound_.end()) sched_setaffinity(thread, sizeof one->before, &one->before);
  }
  if (openmp_threads_ == 0) return;
  if (auto* const set = openmp<void(int)>("omp_set_num_threads")) set(openmp_threads_);
}

}  // namespace ringside::library
