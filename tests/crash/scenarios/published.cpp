// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/published.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace ringside::crash {
namespace {

/// A word that is different for every run, iteration and place. As a double, the word is finite.
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

StepWithScalars slot_step_of(std::uint32_t run, std::uint64_t iteration) noexcept {
  StepWithScalars step{.descriptor = step_of(run, iteration)};
  std::uint64_t at = 3;
  for (std::uint64_t& word : step.further) word = tag(run, iteration, at++);
  return step;
}

const RunDescription& Published::run(std::uint32_t run) {
  const auto [made, is_new] = runs_.try_emplace(run);
  RunDescription& description = made->second;
  if (!is_new) return description;
  description.run_id = run_id_of(run);
  description.problem_id = {run + 100, run + 200};
  description.entries = setting_.rows;
  description.schema_id = schema_.id();
  description.nonzeros = 8 * setting_.rows + run;
  description.started_realtime_ns = 1'000'000 + run;
  assign(description.solver, fmt::format("solver {:08}", run));
  // The fields are filled completely, so that the descriptions of two runs differ in every word, and a mixture of both
  // is equal to neither.
  const auto fill = [&](auto& field) {
    std::string text;
    while (text.size() + 8 < sizeof(field)) text += fmt::format("{:03}/{:04}", run % 1000, text.size());
    assign(field, text);
  };
  fill(description.matrix);
  fill(description.parameters);
  return description;
}

const Catalogue& Published::catalogue(std::uint32_t run) {
  const auto found = catalogues_.find(run);
  return found != catalogues_.end() ? found->second
                                    : catalogues_.emplace(run, catalogue_of(setting_, run)).first->second;
}

const std::byte* Published::payload(std::uint32_t run, std::uint64_t iteration) {
  std::vector<std::byte>& made = payloads_[{run, iteration}];
  if (made.empty()) {
    made.resize(schema_.payload_bytes());
    for (std::size_t v = 0; v < schema_.size(); ++v) {
      const VariablePlace& place = schema_.place(v);
      for (std::uint64_t word = 0; word < place.stored_bytes / sizeof(word); ++word) {
        const std::uint64_t bits = tag(run, iteration, (0x20 + v) << 12 | word);
        std::memcpy(made.data() + place.offset + word * sizeof(bits), &bits, sizeof(bits));
      }
    }
  }
  return made.data();
}

bool Published::is_payload(const std::byte* payload, std::uint32_t run, std::uint64_t iteration) {
  const std::byte* expected = this->payload(run, iteration);
  for (std::size_t v = 0; v < schema_.size(); ++v) {
    const VariablePlace& place = schema_.place(v);
    if (std::memcmp(payload + place.offset, expected + place.offset, place.stored_bytes) != 0) return false;
  }
  return true;
}

const std::vector<std::uint64_t>& Published::results(std::uint32_t run, std::uint64_t iteration) {
  std::vector<std::uint64_t>& made = results_[{run, iteration}];
  if (made.empty()) {
    made.resize(catalogue(run).words());
    for (std::uint64_t at = 0; at < made.size(); ++at) made[at] = tag(run, iteration, 0x10000 + at);
  }
  return made;
}

}  // namespace ringside::crash
