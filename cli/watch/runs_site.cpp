// SPDX-License-Identifier: BSD-3-Clause
#include "cli/watch/runs_site.hpp"

#include <utility>

#include "cli/http/page_assets.hpp"
#include "cli/pool/decoded_journal.hpp"
#include "cli/run_history/history_json.hpp"
#include "cli/runs/run_list.hpp"
#include "cli/watch/report_page.hpp"
#include "common/json/json.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"

namespace ringside {
namespace {

/// The report of one run of a journal. The pool is not opened, so the report does not show what the ring keeps.
SiteAnswer report_answer(const std::string& pool, const std::string& name, const std::string& run_id) {
  RunHistory history;
  std::string damage;
  try {
    const DecodedJournal journal = read_journal(pool);
    for (const wire::Record& record : journal.records) history.learn(record);
    for (const wire::Record& record : journal.records) {
      if (run_id_of(record) == run_id) history.add(record);
    }
    damage = journal.damage;
  } catch (const Error& error) {
    return refusal_answer(404, error.what());
  }
  if (!history.run()) return refusal_answer(404, "this run is no longer in its journal");
  Json report = report_of(history);
  if (!damage.empty()) report["notices"].push_back("The journal is damaged: " + damage);
  report["written_s"] = seconds(realtime_ns());
  report["source"] = name;
  report["version"] = version();
  return {200, "text/html; charset=utf-8", served_page_with_data("/report.html", report)};
}

}  // namespace

void RunsSite::take(const RunFolder& folder) {
  auto taken = std::make_shared<Shown>();
  Json list = {{"version", version()}, {"runs", Json::array()}, {"faults", Json::array()}};
  for (const ListedRun& listed : folder.runs()) {
    Json run = {{"key", listed.key}};
    run.update(to_json(listed));
    list["runs"].push_back(std::move(run));
    taken->runs[listed.key] = {listed.pool, listed.name, listed.run->run_id, listed.run->series.points()};
  }
  for (const JournalFault& fault : folder.faults()) {
    list["faults"].push_back({{"name", fault.name}, {"why", fault.why}});
  }
  list["left_out"] = folder.left_out();
  taken->list = dump(list);
  const std::lock_guard lock(mutex_);
  shown_ = std::move(taken);
}

std::shared_ptr<const RunsSite::Shown> RunsSite::shown() const {
  const std::lock_guard lock(mutex_);
  return shown_;
}

std::optional<SiteAnswer> RunsSite::answer(const SiteRequest& request) const {
  const std::shared_ptr<const Shown> now = shown();
  if (request.path == "/") return page_answer("/runs.html");
  if (request.path == "/api/runs") return json_answer(now->list);
  if (request.path != "/api/course" && request.path != "/report") return std::nullopt;
  const auto found = now->runs.find(request.parameter("run").value_or(""));
  if (found == now->runs.end()) return refusal_answer(404, "run: expected the key of a run, as /api/runs lists them");
  const Run& run = found->second;
  if (request.path == "/report") return report_answer(run.pool, run.name, run.run_id);
  return json_answer(dump({{"key", found->first}, {"course", course_to_json(run.course)}}));
}

}  // namespace ringside
