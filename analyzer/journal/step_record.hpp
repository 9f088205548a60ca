// SPDX-License-Identifier: BSD-3-Clause
// Converts a step into the message of journal and telemetry, and back into the form that replay compares.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/journal/missing_steps.hpp"
#include "common/kernels/hash.hpp"
#include "common/records/recorded_step.hpp"
#include "common/records/result_names.hpp"

namespace ringside::wire {
class RecordsMissing;
class StepRecord;
}  // namespace ringside::wire

namespace ringside {

/// An id as 16 bytes, most significant first, and back; id_of returns nothing for any other number of bytes.
std::string bytes_of(const Id128& id);
std::optional<Id128> id_of(std::string_view bytes) noexcept;

/// `text` as a string of a message: with a `?` for each byte that is not UTF-8. Names of files may hold any bytes.
std::string utf8_text(std::string_view text);

/// Sets every field of `record`, except those of earlier versions, and reuses its memory. values: its layout.words()
/// words.
void fill(wire::StepRecord& record, const StepFigures& figures, const RecordLayout& layout,
          std::span<const std::uint64_t> values);
void fill(wire::StepRecord& record, const RecordedStep& step);
void fill(wire::RecordsMissing& record, const MissingSteps& missing);

/// The arguments of `fill`, except the step descriptor's scalars, which are among the results. Empty if the record
/// names no run.
std::optional<RecordedStep> step_of(const wire::StepRecord& record, const ResultNames& names);

}  // namespace ringside
