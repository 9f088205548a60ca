// SPDX-License-Identifier: BSD-3-Clause
// Converts records to messages and back. A record has a step's figures and results, or describes the variables and
// results of a run once. Journal and telemetry contain these messages. (plain_record decodes them for libringside, and
// decodes the descriptions for all programs.)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/records/record_layout.hpp"
#include "common/records/result_names.hpp"
#include "common/records/step_results.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// bytes_of: an id as 16 bytes, most significant first. id_of: the reverse, or nothing for any other number of bytes.
std::string bytes_of(const Id128& id);
std::optional<Id128> id_of(std::string_view bytes) noexcept;

/// The 16 bytes of the id of the run to which a record belongs; empty if it belongs to no run.
const std::string& run_id_of(const wire::Record& record);

/// Sets every field of `record`, except the fields of earlier versions, and reuses its memory. values: the
/// layout.words() words of the step.
void fill(wire::StepRecord& record, const StepFigures& figures, const RecordLayout& layout,
          std::span<const std::uint64_t> values);
void fill(wire::StepRecord& record, const RecordedStep& step);
void fill(wire::RecordsMissing& record, const MissingSteps& missing);

/// The reverse of `fill`: returns its arguments, except the step descriptor's scalars, which are among the results.
/// Nothing if the record has no run id.
std::optional<RecordedStep> step_of(const wire::StepRecord& record, const ResultNames& names);

/// Sets every field of `message`, and reuses its memory. words: layout.words() words.
void fill(wire::Results& message, const RecordLayout& layout, std::span<const std::uint64_t> words);
/// The values of a message, which may be hostile, without names. Returns nothing in the cases in which
/// StepResults::of_columns does.
std::optional<StepResults> columns_of(const wire::Results& message);

/// Sets `schema`, `results` and `payload_bytes`.
void describe(wire::RunStarted& message, const RecordLayout& layout);
/// run_id: 16 bytes long.
wire::RunDescribed describe_run(const std::string& run_id, const RecordLayout& layout);

/// Null if the message does not describe results (it was written before results had names), or if the description is
/// invalid.
SharedLayout layout_of(const wire::RunStarted& message);
SharedLayout layout_of(const wire::RunDescribed& message);

}  // namespace ringside
