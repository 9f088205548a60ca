// SPDX-License-Identifier: BSD-3-Clause
// The site of one run: the page, /metrics, /api/status, /api/steps.
#pragma once

#include <optional>
#include <string>

#include "cli/history/watched_run.hpp"
#include "cli/http/site.hpp"

namespace ringside {

class RunSite final : public Site {
 public:
  /// run: outlives this object.
  explicit RunSite(const WatchedRun& run) : run_(run) {}
  std::optional<SiteAnswer> answer(const SiteRequest& request) const override;
  std::string paths() const override;

 private:
  SiteAnswer answer_steps(const SiteRequest& request) const;
  const WatchedRun& run_;
};

}  // namespace ringside
