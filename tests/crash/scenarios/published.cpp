// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/published.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string>

namespace ringside::crash {
namespace {

/// Distinct for every run, iteration and place. As a double it is finite.
std::uint64_t tag(std::uint32_t run, std::uint64_t iteration, std::uint64_t at) noexcept {
  return std::uint64_t{0x3f} << 56 | std::uint64_t{run} << 44 | iteration << 32 | (at + 1);
}

}  // namespace

Id128 run_id_of(std::uint32_t run) noexcept {
  return {0x5a5a0000 + run, 0xa5a50000 + run};
}

StepDescriptor step_of(std::uint32_t run, std::uint64_t iteration) noexcept {
  StepDescriptor step;
  step.step = iteration - 1;
  step.iteration = iteration;
  step.residual_l1 = 1.0 / static_cast<double>(iteration + 16 * run);
  step.residual_linf = 0.5 / static_cast<double>(iteration + 16 * run);
  step.generate_ns = static_cast<std::int64_t>(tag(run, iteration, 0));
  step.producer_idle_ns = static_cast<std::int64_t>(tag(run, iteration, 1));
  step.published_at_ns = static_cast<std::int64_t>(tag(run, iteration, 2));
  return step;
}

const RunDescription& Published::run(std::uint32_t run) {
  const auto [made, is_new] = runs_.try_emplace(run);
  RunDescription& description = made->second;
  if (!is_new) return description;
  description.run_id = run_id_of(run);
  description.problem_id = {run + 100, run + 200};
  description.rows = rows_;
  description.nonzeros = 8 * rows_ + run;
  description.started_realtime_ns = 1'000'000 + run;
  assign(description.solver, fmt::format("solver {:08}", run));
  // Filled to the end: the descriptions of two runs then differ in every word, and a mixture of both is neither of
  // them.
  const auto fill = [&](auto& field) {
    std::string text;
    while (text.size() + 8 < sizeof(field)) text += fmt::format("{:03}/{:04}", run % 1000, text.size());
    assign(field, text);
  };
  fill(description.matrix);
  fill(description.parameters);
  return description;
}

const double* Published::iterate(std::uint32_t run, std::uint64_t iteration) {
  std::vector<double>& made = iterates_[{run, iteration}];
  if (made.empty()) {
    made.resize(rows_);
    for (std::uint64_t row = 0; row < rows_; ++row) {
      const std::uint64_t bits = tag(run, iteration, 0x20000 + row);
      std::memcpy(&made[row], &bits, sizeof(bits));
    }
  }
  return made.data();
}

const Reductions& Published::reductions(std::uint32_t run, std::uint64_t iteration) {
  const auto [made, is_new] = reductions_.try_emplace({run, iteration});
  if (is_new) {
    std::uint64_t words[sizeof(Reductions) / sizeof(std::uint64_t)];
    for (std::uint64_t at = 0; at < std::size(words); ++at) words[at] = tag(run, iteration, 0x10000 + at);
    std::memcpy(static_cast<void*>(&made->second), words, sizeof(words));
  }
  return made->second;
}

}  // namespace ringside::crash
