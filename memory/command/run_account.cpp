// SPDX-License-Identifier: BSD-3-Clause
#include "memory/command/run_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "common/json/json.hpp"
#include "common/platform/version.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

double fault_s(const MemoryFigures& figures) {
  return static_cast<double>(figures.stats.fault_ns) * 1e-9;
}

Json to_json(const MemoryFigures& figures) {
  const struct ringside_memory_stats& s = figures.stats;
  return {{"dram_peak_bytes", s.dram_peak_bytes},
          {"dram_limit_bytes", s.dram_limit_bytes},
          {"far_peak_bytes", s.far_peak_bytes},
          {"far_limit_bytes", s.far_limit_bytes},
          {"faults", s.faults},
          {"faults_zero", s.faults_zero},
          {"faults_far", s.faults_far},
          {"faults_probation", s.faults_probation},
          {"faults_write", s.faults_write},
          {"fault_s", fault_s(figures)},
          {"read_bytes", s.read_bytes},
          {"written_bytes", s.written_bytes},
          {"evicted", s.evicted},
          {"evicted_clean", s.evicted_clean},
          {"read_ahead", s.read_ahead},
          {"read_ahead_used", s.read_ahead_used},
          {"large_allocations", figures.large_allocations},
          {"refused_allocations", figures.refused},
          {"small_allocations", figures.small_allocations},
          {"small_peak_bytes", figures.small_peak_bytes},
          {"forks_copied", figures.forks_copied},
          {"forks_copied_bytes", figures.forks_copied_bytes},
          {"forks_without_copy", figures.forks_without_copy}};
}

/// Reads the entry in the state in which its process last completed it. Returns false if the process has never
/// completed it.
bool read_entry(const memory::AccountEntry& entry, MemoryFigures& figures) {
  for (int tries = 0; tries < 1000; ++tries) {
    const std::uint32_t version = entry.version.load(std::memory_order_acquire);
    figures.pid = entry.pid;
    figures.name.assign(entry.name, strnlen(entry.name, sizeof entry.name));
    figures.forked = entry.forked != 0;
    figures.serves_kernel = entry.serves_system_calls != 0;
    static_cast<memory::AccountCounters&>(figures) = entry.counters;
    std::atomic_thread_fence(std::memory_order_acquire);
    // The version stays odd if the process was killed while writing. Then the entry may contain figures of two
    // different moments.
    if ((version % 2 == 0 || tries == 999) && entry.version.load() == version) return figures.pid != 0;
    sched_yield();
  }
  return figures.pid != 0;
}

}  // namespace

void read_account(const memory::AccountPage& page, MemoryRun& run) {
  const std::uint32_t taken = page.taken.load();
  const std::uint32_t listed = std::min(taken, memory::kAccountEntries);
  run.not_listed = taken - listed;
  for (std::uint32_t i = 0; i < listed; ++i) {
    MemoryFigures figures;
    if (read_entry(page.entries[i], figures)) run.processes.push_back(figures);
  }
}

MemoryFigures sum(const MemoryRun& run) {
  MemoryFigures total;
  for (const MemoryFigures& one : run.processes) {
    struct ringside_memory_stats& to = total.stats;
    const struct ringside_memory_stats& from = one.stats;
    to.dram_peak_bytes = std::max(to.dram_peak_bytes, from.dram_peak_bytes);
    to.dram_limit_bytes = std::max(to.dram_limit_bytes, from.dram_limit_bytes);
    to.far_peak_bytes += from.far_peak_bytes;
    to.far_limit_bytes = std::max(to.far_limit_bytes, from.far_limit_bytes);
    to.faults += from.faults;
    to.faults_zero += from.faults_zero;
    to.faults_far += from.faults_far;
    to.faults_probation += from.faults_probation;
    to.faults_write += from.faults_write;
    to.fault_ns += from.fault_ns;
    to.read_bytes += from.read_bytes;
    to.written_bytes += from.written_bytes;
    to.evicted += from.evicted;
    to.evicted_clean += from.evicted_clean;
    to.read_ahead += from.read_ahead;
    to.read_ahead_used += from.read_ahead_used;
    to.mapped = from.mapped;
    to.moves = std::max(to.moves, from.moves);  // 0 in a child that has not started its arena
    total.large_allocations += one.large_allocations;
    total.refused += one.refused;
    total.small_allocations += one.small_allocations;
    total.small_peak_bytes = std::max(total.small_peak_bytes, one.small_peak_bytes);
    total.forks_copied += one.forks_copied;
    total.forks_copied_bytes += one.forks_copied_bytes;
    total.forks_without_copy += one.forks_without_copy;
  }
  return total;
}

std::string account_text(const MemoryRun& run) {
  const MemoryFigures total = sum(run);
  const struct ringside_memory_stats& s = total.stats;
  const std::size_t processes = run.processes.size() + run.not_listed;
  if (processes == 0) return {};  // no process reached main: the library has printed the reason
  const std::string ended =
      run.signal != 0 ? fmt::format("was killed by signal {} ({})", run.signal, strsignal(run.signal))
                      : fmt::format("ended with exit code {}", run.exit_code);
  std::string text = fmt::format("ringside-memory run: {} {} after {:.2f} s; {} process{} with an arena\n",
                                 shortened(run.program.front()), ended, run.wall_s, processes,
                                 processes == 1 ? "" : "es");
  const char* const each = processes == 1 ? "" : " of a process";
  text += fmt::format("  DRAM         peak {}{}, limit {}\n", bytes_text(s.dram_peak_bytes), each,
                      bytes_text(run.dram_limit_bytes));
  text += fmt::format("  far memory   peak {} in {}; {} read, {} written\n", bytes_text(s.far_peak_bytes),
                      shortened(run.far_folder), bytes_text(s.read_bytes), bytes_text(s.written_bytes));
  text += fmt::format(
      "  faults       {}: {} first touches, {} from far memory, {} back from probation, {} first stores\n", s.faults,
      s.faults_zero, s.faults_far, s.faults_probation, s.faults_write);
  text += fmt::format("  read-ahead   {} pages, {:.0f} % of them used\n", s.read_ahead,
                      percent(static_cast<double>(s.read_ahead_used), static_cast<double>(s.read_ahead)));
  text += fmt::format("  time lost    {:.2f} s in faults, {:.1f} % of the run\n", fault_s(total),
                      percent(fault_s(total), run.wall_s));
  text += fmt::format("  allocations  {} of {} or more in the arena; {} smaller ones in DRAM, peak {}{}\n",
                      total.large_allocations, bytes_text(run.min_size_bytes), total.small_allocations,
                      bytes_text(total.small_peak_bytes), each);
  const bool refuses_kernel = std::any_of(run.processes.begin(), run.processes.end(),
                                          [](const MemoryFigures& one) { return !one.serves_kernel; });
  if (refuses_kernel) {
    text +=
        "  system calls fail (EFAULT) on pages that are not in DRAM: use --faults signal, or run as root, give access "
        "to /dev/userfaultfd, or set vm.unprivileged_userfaultfd=1\n";
  }
  if (s.faults > 0 && s.moves == 0)
    text += "  pages are copied, not moved: Linux 6.8 or later moves them (UFFDIO_MOVE), which costs less\n";
  if (total.refused > 0) {
    text += fmt::format("  refused      {} allocation{}: far memory was full\n", total.refused,
                        total.refused == 1 ? "" : "s");
  }
  if (total.forks_copied + total.forks_without_copy > 0) {
    text += fmt::format("  forks        {} with a copy of the arena ({}), {} without\n", total.forks_copied,
                        bytes_text(total.forks_copied_bytes), total.forks_without_copy);
  }
  return text;
}

std::string account_json(const MemoryRun& run) {
  const MemoryFigures total = sum(run);
  Json json = {{"version", version()},
               {"program", run.program},
               {"exit_code", run.exit_code},
               {"signal", run.signal},
               {"wall_s", run.wall_s},
               {"user_s", run.user_s},
               {"system_s", run.system_s},
               {"dram_limit_bytes", run.dram_limit_bytes},
               {"far_folder", run.far_folder},
               {"min_size_bytes", run.min_size_bytes},
               {"faults", run.faults},
               {"processes_with_arena", run.processes.size() + run.not_listed},
               {"processes_not_listed", run.not_listed},
               {"fault_share", percent(fault_s(total), run.wall_s) / 100},
               {"total", to_json(total)},
               {"processes", Json::array()}};
  for (const MemoryFigures& one : run.processes) {
    Json process = {{"pid", one.pid},
                    {"name", printable(one.name)},
                    {"forked", one.forked},
                    {"serves_system_calls", one.serves_kernel}};
    process.update(to_json(one));
    json["processes"].push_back(process);
  }
  return json.dump(2) + "\n";
}

std::string account_metrics(const MemoryRun& run) {
  const MemoryFigures total = sum(run);
  std::string label;  // escaped as a label's value
  for (const char letter : shortened(run.program.front())) {
    if (letter == '\\' || letter == '"') label += '\\';
    label += letter;
  }
  std::string text;
  const auto metric = [&](const char* name, const char* help, double value) {
    text += fmt::format("# HELP ringside_memory_{0} {1}\n# TYPE ringside_memory_{0} gauge\n", name, help);
    text += fmt::format("ringside_memory_{}{{program=\"{}\"}} {}\n", name, label, value);
  };
  const struct ringside_memory_stats& s = total.stats;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  metric("run_exit_code", "Exit code of the run; 128 plus the signal's number if a signal ended it.", run.exit_code);
  metric("run_seconds", "Wall time of the run.", run.wall_s);
  metric("run_processes", "Processes with an arena.", number(run.processes.size() + run.not_listed));
  metric("dram_limit_bytes", "DRAM limit of a process.", number(run.dram_limit_bytes));
  metric("dram_peak_bytes", "Peak of the DRAM that one process used for its arena.", number(s.dram_peak_bytes));
  metric("far_peak_bytes", "Peak of the far memory in use, summed over the processes.", number(s.far_peak_bytes));
  metric("faults", "Faults in the arena.", number(s.faults));
  metric("faults_probation", "Faults served by a page still in DRAM.", number(s.faults_probation));
  metric("faults_far", "Faults served from far memory.", number(s.faults_far));
  metric("faults_zero", "First touches.", number(s.faults_zero));
  metric("fault_seconds", "Time of all threads in faults.", fault_s(total));
  metric("read_bytes", "Bytes read from far memory.", number(s.read_bytes));
  metric("written_bytes", "Bytes written to far memory.", number(s.written_bytes));
  metric("read_ahead_pages", "Pages brought into DRAM before they were touched.", number(s.read_ahead));
  metric("read_ahead_used_pages", "Pages brought into DRAM early that were touched later.", number(s.read_ahead_used));
  metric("small_peak_bytes", "Peak bytes of one process's small allocations, which stay in DRAM.",
         number(total.small_peak_bytes));
  metric("refused_allocations", "Allocations for which far memory had no room.", number(total.refused));
  return text;
}

}  // namespace ringside
