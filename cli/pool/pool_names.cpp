// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/pool_names.hpp"

#include <chrono>

#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/known_runs.hpp"

namespace ringside {

std::vector<SharedLayout> layouts_in(const std::string& pool) {
  std::vector<SharedLayout> layouts;
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    for (const KnownRun& run : described_runs(reader.ring())) layouts.push_back(run.layout);
  } catch (const Error&) {  // the journal is shown without the pool, too
  }
  return layouts;
}

}  // namespace ringside
