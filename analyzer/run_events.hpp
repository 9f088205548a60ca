// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of a run, as its records, reports and log lines describe them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/account.hpp"
#include "analyzer/analyzer.hpp"
#include "analyzer/recorder/recorder.hpp"
#include "common/handoff/handoff_reader.hpp"
#include "common/json/json.hpp"

namespace ringside {

const char* to_text(ServeEnd end);
const char* to_text(Outcome outcome);

/// The start of a run for the report: the keys of `--summary` that describe the start. note: the note that was sent to
/// the producer.
Json describe_attachment(const HandoffReader& handoff, const Attachment& attachment, const std::string& note);

/// [{name, spec, deaths, left_out, why}], in the order of the command line.
Json plug_ins_json(const PlugInSet& plug_ins);

/// [{name, condition, actions, fired, first_iteration, last_iteration}]: the trigger of --on-non-finite is first.
Json triggers_json(const RunTriggers& triggers);

/// Events that an earlier analyzer of this run could not record: plug-ins that ended that analyzer, and triggers of its
/// last step.
std::vector<wire::Record> marks_at_start(const Attachment& attachment);
/// Events found after the last step. Call after `finish`.
std::vector<wire::Record> marks_at_end(const Attachment& attachment);

/// The start of a run, for the recorder. Call it before `attachment` is served, while no thread writes to the ring yet.
RunToRecord describe_start(const HandoffReader& handoff, Attachment& attachment, const AnalyzerOptions& options);

/// The end of a run, for the recorder. error: the outcome that the producer received.
wire::RunEnded describe_end(const Attachment& attachment, const AnalyzerAccount& account, ServeEnd end, Outcome outcome,
                            const Error& error);

}  // namespace ringside
