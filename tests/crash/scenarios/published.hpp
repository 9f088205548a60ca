// SPDX-License-Identifier: BSD-3-Clause
// The data that the runs of the scenarios publish. Every word differs from all words of every other iterate and run, so
// that a single wrong word in an image is detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "tests/crash/scenarios/setting.hpp"

namespace ringside::crash {

Id128 run_id_of(std::uint32_t run) noexcept;
/// The step of `iteration` is iteration - 1.
StepDescriptor step_of(std::uint32_t run, std::uint64_t iteration) noexcept;
/// The same as step_of, with further scalars.
StepWithScalars slot_step_of(std::uint32_t run, std::uint64_t iteration) noexcept;

/// Makes each large object only once, because every image is compared with these objects.
class Published {
 public:
  explicit Published(const Setting& setting) : setting_(setting), schema_(schema_of(setting)) {}

  const RunDescription& run(std::uint32_t run);
  const Catalogue& catalogue(std::uint32_t run);
  const std::byte* payload(std::uint32_t run, std::uint64_t iteration);  // as many bytes as the schema's payload_bytes
  /// True if `payload` holds that iterate; the bytes between two variables are not compared.
  bool is_payload(const std::byte* payload, std::uint32_t run, std::uint64_t iteration);
  /// Results that are not computed from the iterate, because only their bits matter here.
  const std::vector<std::uint64_t>& results(std::uint32_t run, std::uint64_t iteration);

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // run, iteration

  const Setting setting_;
  const Schema schema_;
  std::map<std::uint32_t, RunDescription> runs_;
  std::map<std::uint32_t, Catalogue> catalogues_;
  std::map<Key, std::vector<std::byte>> payloads_;
  std::map<Key, std::vector<std::uint64_t>> results_;
};

}  // namespace ringside::crash
