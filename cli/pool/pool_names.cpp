// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/pool_names.hpp"

#include <chrono>
#include <memory>

#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

std::vector<SharedLayout> layouts_in(const std::string& pool) {
  std::vector<SharedLayout> layouts;
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    const Schema& schema = reader.ring().geometry().schema();
    for (const RunReading& reading : reader.ring().runs()) {
      try {
        layouts.push_back(
            std::make_shared<const RecordLayout>(schema, Catalogue::decode(schema, reading.catalogue, pool)));
      } catch (const Error&) {  // no analyzer wrote this description
      }
    }
  } catch (const Error&) {  // the journal is shown without the pool, too
  }
  return layouts;
}

}  // namespace ringside
