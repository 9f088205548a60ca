// SPDX-License-Identifier: BSD-3-Clause
// Encodes the record of a step. Nearly all records of a run are records of steps, so they are not filled into a message
// first. The bytes are those that wire::Record::SerializeToString returns for the same record.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/records/record_layout.hpp"
#include "common/records/step_figures.hpp"

namespace ringside {

class StepEncoder {
 public:
  /// values: the layout.words() words of the step. The result is valid until the next call. Allocates only if the
  /// layout has more words than any layout before.
  std::string_view encode(std::uint64_t seq, std::int64_t unix_ns, const StepFigures& figures,
                          const RecordLayout& layout, std::span<const std::uint64_t> values);

 private:
  std::vector<char> buffer_;
};

}  // namespace ringside
