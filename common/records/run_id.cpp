// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/run_id.hpp"

namespace ringside {

const std::string& run_id_of(const wire::Record& record) {
  switch (record.what_case()) {
    case wire::Record::kStep: return record.step().run_id();
    case wire::Record::kRunStarted: return record.run_started().run_id();
    case wire::Record::kRunEnded: return record.run_ended().run_id();
    case wire::Record::kRecordsMissing: return record.records_missing().run_id();
    case wire::Record::kRunDescribed: return record.run_described().run_id();
    case wire::Record::kAnalysisResults: return record.analysis_results().run_id();
    default: break;
  }
  static const std::string none;
  return none;
}

}  // namespace ringside
