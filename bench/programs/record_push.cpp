// SPDX-License-Identifier: BSD-3-Clause
// What does it cost the analyzer's main thread to leave a step's figures in the recorder's queue? The program measures
// nanoseconds per push: for one push while the queue's lines are cold, as after a step, and for a burst of 64, as many
// as a recorder finds that looks every 10 ms.
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "analyzer/recorder/record_queue.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/platform/clock.hpp"

int main() {
  using namespace ringside;
  RecordQueue queue;
  std::vector<char> other(64 << 20);  // what a step leaves in the caches
  std::vector<double> warm;
  std::vector<double> cold;
  std::vector<QueuedItem> items;
  StepFigures figures;
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (std::size_t i = 0; i < other.size(); i += 64) other[i] = static_cast<char>(repeat);
    const std::int64_t begin = now_ns();
    queue.push(figures);
    const std::int64_t first = now_ns();
    for (int i = 0; i < 64; ++i) queue.push(figures);
    warm.push_back(static_cast<double>(now_ns() - first) / 64);
    cold.push_back(static_cast<double>(first - begin));
    items.clear();
    queue.pop(items, RecordQueue::kCapacity);
  }
  nlohmann::json result = bench::machine_header();
  result["push_cold"] = bench::spread(cold, "ns");
  result["push_warm"] = bench::spread(warm, "ns");
  std::puts(result.dump(2).c_str());
}
