// SPDX-License-Identifier: BSD-3-Clause
// How much time does the analyzer's main thread need to put a step's figures into the recorder's queue? The program
// measures nanoseconds per push: for one push while the lines of the queue are not cached, as after a step, and for a
// burst of 64, the number of items that a recorder finds if it looks every 10 ms.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "analyzer/recorder/record_queue.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/platform/clock.hpp"

namespace {

/// Discards every record.
class Dropped : public ringside::RecordSink {
 public:
  void take(const ringside::StepFigures&, std::span<const std::uint64_t>, const ringside::StepMarks&) override {}
  void take(const ringside::MissingSteps&) override {}
  void take(ringside::wire::Record) override {}
};

}  // namespace

int main() {
  using namespace ringside;
  RecordQueue queue;
  const std::vector<std::uint64_t> values(14);  // as many words as those of a run with one variable
  queue.begin_run(values.size());
  Dropped dropped;
  std::vector<char> other(64 << 20);  // takes the place of a step's data in the caches
  std::vector<double> warm;
  std::vector<double> cold;
  StepFigures figures;
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (std::size_t i = 0; i < other.size(); i += 64) other[i] = static_cast<char>(repeat);
    const std::int64_t begin = now_ns();
    queue.push(figures, values);
    const std::int64_t first = now_ns();
    for (int i = 0; i < 64; ++i) queue.push(figures, values);
    warm.push_back(static_cast<double>(now_ns() - first) / 64);
    cold.push_back(static_cast<double>(first - begin));
    queue.pop(dropped);
  }
  Json result = bench::machine_header();
  result["push_cold"] = bench::spread(cold, "ns");
  result["push_warm"] = bench::spread(warm, "ns");
  std::puts(result.dump_sorted(2).c_str());
}
