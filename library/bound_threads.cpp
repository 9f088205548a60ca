// SPDX-License-Identifier: BSD-3-Clause
#include "library/bound_threads.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace ringside::library {
namespace {

/// A function of the OpenMP library that this process has loaded; null if there is no such library.
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

cpu_set_t intersection(const cpu_set_t& a, const cpu_set_t& b) noexcept {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return both;
}

struct Bound {
  cpu_set_t before;
  cpu_set_t now;
};

/// The data that all BoundThreads of a process share.
struct Process {
  std::mutex mutex;
  std::vector<const BoundThreads*> binding;
  std::vector<cpu_set_t> cores;  // for each object in `binding`: its cores
  std::map<pid_t, Bound> threads;
  int openmp_threads = 0;  // OpenMP's maximum number of threads before it was changed; 0: not changed
};

Process& process() {
  static auto* made = new Process;  // never freed, because a run may end during the exit of the process
  return *made;
}

/// Limits OpenMP's threads to the number of remaining cores, as `ringside run` does with OMP_NUM_THREADS, unless the
/// user has set this variable.
void bind_openmp(Process& own, const cpu_set_t* cores) {
  const char* chosen = std::getenv("OMP_NUM_THREADS");
  auto* const set = openmp<void(int)>("omp_set_num_threads");
  auto* const most = openmp<int()>("omp_get_max_threads");
  if ((chosen != nullptr && *chosen != '\0') || set == nullptr || most == nullptr) return;
  if (own.openmp_threads == 0) own.openmp_threads = most();
  set(cores == nullptr ? own.openmp_threads : std::min(own.openmp_threads, CPU_COUNT(cores)));
  if (cores == nullptr) own.openmp_threads = 0;
}

/// The cores of a thread before this code bound it. For a thread that was created since then, these are the cores of
/// its creator. null if the program has bound the thread since then.
const cpu_set_t* before_of(const Process& own, pid_t thread, const cpu_set_t& found) {
  const auto at = own.threads.find(thread);
  if (at != own.threads.end()) return CPU_EQUAL(&at->second.now, &found) ? &at->second.before : nullptr;
  const auto maker = std::ranges::find_if(own.threads, [&](const auto& one) { return CPU_EQUAL(&one.second.now, &found); });
  return maker != own.threads.end() ? &maker->second.before : nullptr;
}

/// Binds every thread to the cores that are in all of `own.cores`. If no core is in all of them, the later entries take
/// precedence. If `own.cores` is empty, gives the threads their earlier cores back.
void bind_all(Process& own) {
  std::optional<cpu_set_t> wanted;
  for (const cpu_set_t& cores : own.cores) {
    const cpu_set_t both = wanted ? intersection(*wanted, cores) : cores;
    wanted = CPU_COUNT(&both) > 0 ? both : cores;
  }
  std::map<pid_t, Bound> threads;
  for (const pid_t thread : threads_of_process()) {
    cpu_set_t found;
    if (sched_getaffinity(thread, sizeof found, &found) != 0) continue;
    const cpu_set_t* known = before_of(own, thread, found);
    Bound one{.before = known != nullptr ? *known : found, .now = {}};
    one.now = wanted ? intersection(one.before, *wanted) : one.before;
    if (CPU_COUNT(&one.now) == 0) one.now = *wanted;
    if (sched_setaffinity(thread, sizeof one.now, &one.now) == 0) threads[thread] = one;
  }
  own.threads = wanted ? std::move(threads) : std::map<pid_t, Bound>();
  bind_openmp(own, wanted ? &*wanted : nullptr);
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
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
  }
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  own.binding.push_back(this);
  own.cores.push_back(set);
  binds_ = true;
  bind_all(own);
}

BoundThreads::~BoundThreads() {
  if (!binds_) return;
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  const auto at = std::ranges::find(own.binding, this) - own.binding.begin();
  own.binding.erase(own.binding.begin() + at);
  own.cores.erase(own.cores.begin() + at);
  bind_all(own);
}

}  // namespace ringside::library
