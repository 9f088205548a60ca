// A step's figures as the message that the journal keeps and telemetry publishes, and back to what replay compares.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/journal/missing_steps.hpp"
#include "common/kernels/hash.hpp"
#include "common/telemetry/step_figures.hpp"

namespace ringside::wire {
class RecordsMissing;
class StepRecord;
}

namespace ringside {

/// 16 bytes, most significant first; and back, nothing if there are not 16.
std::string bytes_of(const Id128& id);
std::optional<Id128> id_of(std::string_view bytes) noexcept;

/// What a message may hold as a string: `text` with a `?` for each byte that is no UTF-8. Names of files may hold any.
std::string utf8_text(std::string_view text);

/// Sets every field of `record`; its strings' memory is used again.
void fill(wire::StepRecord& record, const StepFigures& figures);
void fill(wire::RecordsMissing& record, const MissingSteps& missing);

/// What `fill` was given. Nothing if the record names no run.
std::optional<StepFigures> figures_of(const wire::StepRecord& record);

}  // namespace ringside
