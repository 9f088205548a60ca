// How a run begins and ends, in the words of its records, reports and log lines.
#pragma once

#include "analyzer/account.hpp"
#include "analyzer/analyzer.hpp"
#include "analyzer/recorder/recorder.hpp"
#include "common/handoff/handoff_reader.hpp"

namespace ringside {

const char* to_text(ServeEnd end);
const char* to_text(Outcome outcome);

/// What the recorder is told before `attachment` is served: nobody writes to the ring yet.
RecordedRun describe_start(const HandoffReader& handoff, Attachment& attachment, const AnalyzerOptions& options);

/// And when it is over. error: what the producer was told.
wire::RunEnded describe_end(const Attachment& attachment, const AnalyzerAccount& account, ServeEnd end, Outcome outcome,
                            const Error& error);

}  // namespace ringside
