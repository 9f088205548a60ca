// SPDX-License-Identifier: BSD-3-Clause
#include "node/streams/cores.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/platform/error.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {

std::vector<int> cpus_in_order(const Machine& machine, int numa_node) {
  std::map<int, int> used_of_core;
  std::vector<std::pair<int, int>> by_round;  // the number of the hardware thread in its core, and the CPU
  for (const HardwareThread& thread : machine.threads) {
    if (!thread.allowed || (numa_node >= 0 && thread.numa_node != numa_node)) continue;
    by_round.emplace_back(used_of_core[thread.core]++, thread.cpu);
  }
  std::sort(by_round.begin(), by_round.end());
  std::vector<int> cpus;
  for (const auto& [round, cpu] : by_round) cpus.push_back(cpu);
  return cpus;
}

std::vector<int> cpus_for(const std::vector<int>& in_order, int threads, const std::string& option) {
  if (threads < 1 || static_cast<std::size_t>(threads) > in_order.size()) {
    throw system_error("{}: found {} thread(s), but this process may use {} processor(s); expected 1 to {}", option,
                       threads, in_order.size(), in_order.size());
  }
  return {in_order.begin(), in_order.begin() + threads};
}

std::vector<int> usual_thread_counts(int most) {
  std::vector<int> counts;
  for (int power = 1; power <= most; power *= 2) {
    counts.push_back(power);
    const int between = power + power / 2;
    if (power > 1 && between <= most) counts.push_back(between);
  }
  if (counts.empty() || counts.back() != most) counts.push_back(most);
  return counts;
}

std::vector<int> numa_nodes_with_memory(const std::string& root) {
  const std::optional<std::string> listed = first_line(root + "/sys/devices/system/node/has_memory");
  if (!listed || listed->empty()) return {0};
  return parse_core_list(*listed, "/sys/devices/system/node/has_memory").cpus;
}

std::uint64_t last_level_cache_bytes(const Machine& machine) noexcept {
  return machine.l3_bytes * static_cast<std::uint64_t>(std::max(machine.l3_caches, 1));
}

}  // namespace ringside
