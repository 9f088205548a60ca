// SPDX-License-Identifier: BSD-3-Clause
// Records as messages, and back: a step with its figures and results, and what a run says once of its variables and
// results. Journal and telemetry hold these messages. (plain_record decodes them for libringside, and
// the descriptions for all.)
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

/// An id as 16 bytes, most significant first, and back; id_of returns nothing for any other number of bytes.
std::string bytes_of(const Id128& id);
std::optional<Id128> id_of(std::string_view bytes) noexcept;

/// The id of the run that a record belongs to, 16 bytes; empty if it belongs to none.
const std::string& run_id_of(const wire::Record& record);

/// Sets every field of `record`, except those of earlier versions, and reuses its memory. values: its layout.words()
/// words.
void fill(wire::StepRecord& record, const StepFigures& figures, const RecordLayout& layout,
          std::span<const std::uint64_t> values);
void fill(wire::StepRecord& record, const RecordedStep& step);
void fill(wire::RecordsMissing& record, const MissingSteps& missing);

/// The arguments of `fill`, except the step descriptor's scalars, which are among the results. Empty if the record
/// names no run.
std::optional<RecordedStep> step_of(const wire::StepRecord& record, const ResultNames& names);

/// Sets every field of `message`, and reuses its memory. words: layout.words() of them.
void fill(wire::Results& message, const RecordLayout& layout, std::span<const std::uint64_t> words);
/// The values of a message, which may be hostile, without names. Nothing as StepResults::of_columns.
std::optional<StepResults> columns_of(const wire::Results& message);

/// Sets `schema`, `results` and `payload_bytes`.
void describe(wire::RunStarted& message, const RecordLayout& layout);
/// run_id: 16 bytes.
wire::RunDescribed describe_run(const std::string& run_id, const RecordLayout& layout);

/// Null if the message says nothing of results (it is older than results by name), or nothing that can be.
SharedLayout layout_of(const wire::RunStarted& message);
SharedLayout layout_of(const wire::RunDescribed& message);

}  // namespace ringside
