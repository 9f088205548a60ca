// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/run_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/http/page_assets.hpp"
#include "common/text/decimal.hpp"

namespace ringside {
namespace {

constexpr std::size_t kDefaultSteps = 1000;
constexpr std::size_t kMostSteps = 2000;  // the most steps in one answer, which then has about a megabyte
constexpr std::size_t kMostResults = 8;   // the most results in one request; with them, an answer is 1.5 times as large

/// "x.l2,y.l2" as two names; skips empty names.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

}  // namespace

std::optional<SiteAnswer> RunSite::answer(const SiteRequest& request) const {
  if (request.path == "/metrics") {
    return SiteAnswer{200, "text/plain; version=0.0.4; charset=utf-8", run_.metrics_text()};
  }
  if (request.path == "/api/status") return json_answer(run_.status_json());
  if (request.path == "/api/steps") return answer_steps(request);
  if (request.path == "/api/image") return answer_image(request);
  if (request.path != "/") return std::nullopt;
  return page_answer("/index.html");
}

std::string RunSite::paths() const {
  return "/, /metrics, /api/status, /api/steps?from=SEQ&limit=N&results=NAMES and "
         "/api/image?variable=NAME&cell=extreme|mean&large=0|1&known=COMMIT";
}

SiteAnswer RunSite::answer_steps(const SiteRequest& request) const {
  const auto number = [&request](const char* name, std::uint64_t otherwise) {
    const std::optional<std::string> given = request.parameter(name);
    return given ? whole_number(*given) : otherwise;
  };
  const std::optional<std::uint64_t> from = number("from", 0);
  const std::optional<std::uint64_t> limit = number("limit", kDefaultSteps);
  if (!from || !limit || *limit < 1 || *limit > kMostSteps) {
    return refusal_answer(400, fmt::format("expected from=SEQ (a number) and limit=N (1 to {})", kMostSteps));
  }
  const std::vector<std::string> results = names_in(request.parameter("results").value_or(""));
  if (results.size() > kMostResults) {
    return refusal_answer(400, fmt::format("expected results=NAME,NAME,... with at most {} names", kMostResults));
  }
  return json_answer(run_.steps_json(*from, *limit, results));
}

SiteAnswer RunSite::answer_image(const SiteRequest& request) const {
  const std::optional<CellShows> shows = cell_shows_named(request.parameter("cell").value_or("extreme"));
  const std::string large = request.parameter("large").value_or("0");
  const std::optional<std::uint64_t> known = whole_number(request.parameter("known").value_or("0"));
  const std::string variable = request.parameter("variable").value_or("");
  if (!shows || !known || (large != "0" && large != "1") || variable.size() >= kNameBytes) {
    return refusal_answer(
        400, "expected variable=NAME, cell=extreme or cell=mean, large=0 or large=1, and known=COMMIT, a number");
  }
  if (images_ == nullptr) return json_answer(R"({"variables":[],"image":null,"why":"no pool is shown here"})");
  if (std::optional<std::string> made = images_->answer({variable, *shows, large == "1"}, *known)) {
    return json_answer(std::move(*made));
  }
  SiteAnswer refusal = refusal_answer(503, fmt::format("the server is making images of {} other kinds (variable, cell, "
                                                       "large), and can make no more at once; try again later",
                                                       FieldImages::kMostQueries));
  refusal.retry_after = FieldImages::kAskedWithin;
  return refusal;
}

}  // namespace ringside
