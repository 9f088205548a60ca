// SPDX-License-Identifier: BSD-3-Clause
// How much time do triggers add to the analysis of a step? For fields of several sizes, measured in turn: the
// reductions of a step, and the step's triggers. The triggers are: only that of --on-non-finite; that one and 8
// conditions; that one and the largest permitted number of conditions.
//     bench_trigger_cost
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/platform/clock.hpp"
#include "common/program/program.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/threads/openmp_team.hpp"
#include "common/triggers/trigger_set.hpp"

namespace ringside {
namespace {

constexpr int kRepeats = 101;
constexpr int kEvaluations = 100;  // per measurement, because one evaluation is below the clock's resolution

std::vector<std::string> conditions(std::size_t count) {
  const std::vector<std::string> kinds = {
      "x.change_l1 > 10 * prev(x.change_l1): mark", "iteration % 500 == 0: mark", "x.linf > 1e6 || x.min < -1e6: mark",
      "producer_idle > 0.2 && time > 3600: mark"};
  std::vector<std::string> made;
  for (std::size_t c = 0; c < count; ++c) made.push_back(kinds[c % kinds.size()]);
  return made;
}

Json measure(std::uint64_t entries) {
  const Schema schema = Schema::x_only(entries);
  std::vector<double> x(schema.payload_bytes() / sizeof(double));
  for (std::uint64_t i = 0; i < entries; ++i) x[i] = 1e-6 * (1 + std::sin(static_cast<double>(i) * 1e-4));
  OpenMpTeam team;
  StepReducer reducer(schema, team);
  const auto layout = std::make_shared<const RecordLayout>(schema, reducer.catalogue());
  std::vector<std::uint64_t> words(layout->words());
  const std::vector<std::size_t> counts = {0, 8, kMostTriggers};
  std::vector<std::unique_ptr<TriggerSet>> sets;
  for (const std::size_t count : counts) {
    sets.push_back(std::make_unique<TriggerSet>(parse_triggers(conditions(count), "mark"), layout));
  }
  std::vector<double> reduce_ns;
  std::vector<std::vector<double>> added_ns(sets.size());
  StepFigures figures{};
  std::uint64_t fired = 0;
  for (int repeat = 0; repeat <= kRepeats; ++repeat) {
    const std::int64_t begin = now_ns();
    const auto results = reducer.reduce(x.data(), x.data(), 1);
    const std::int64_t reduced = now_ns();
    layout->gather(results, nullptr, words);
    if (repeat > 0) reduce_ns.push_back(static_cast<double>(reduced - begin));
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::int64_t from = now_ns();
      for (int i = 0; i < kEvaluations; ++i) {
        ++figures.step.iteration;
        fired += sets[s]->evaluate(words, figures).fired;
      }
      if (repeat > 0) added_ns[s].push_back(static_cast<double>(now_ns() - from) / kEvaluations);  // 0 is the warm-up
    }
  }
  Json result{{"entries", entries}, {"reduce", bench::spread(reduce_ns, "ns")}, {"fired", fired}};
  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::vector<double> share;
    for (std::size_t r = 0; r < reduce_ns.size(); ++r) share.push_back(added_ns[s][r] / reduce_ns[r]);
    result["conditions"].push_back({{"count", counts[s]},
                                    {"a_step", bench::spread(added_ns[s], "ns")},
                                    {"share_of_analyze", bench::spread(share, "")}});
  }
  return result;
}

int run(int, char**) {
  Json result = bench::machine_header();
  result["threads"] = OpenMpTeam().threads();
  for (const std::uint64_t entries : {10'000u, 100'000u, 1'000'000u, 4'000'000u}) result["fields"].push_back(measure(entries));
  std::puts(result.dump_sorted(2).c_str());
  return 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  return ringside::run_program([&] { return ringside::run(argc, argv); });
}
