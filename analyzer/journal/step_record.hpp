// SPDX-License-Identifier: BSD-3-Clause
// Converts a step's figures into the message that the journal keeps and telemetry publishes, and back into the figures
// that replay compares.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/journal/missing_steps.hpp"
#include "common/kernels/hash.hpp"
#include "common/records/step_figures.hpp"

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

/// Sets every field of `record`; reuses the memory of its strings.
void fill(wire::StepRecord& record, const StepFigures& figures);
void fill(wire::RecordsMissing& record, const MissingSteps& missing);

/// The figures that `fill` was given. Nothing if the record names no run.
std::optional<StepFigures> figures_of(const wire::StepRecord& record);

}  // namespace ringside
