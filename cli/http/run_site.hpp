// SPDX-License-Identifier: BSD-3-Clause
// The site of one run: the page, /metrics, /api/status, /api/steps, /api/image.
#pragma once

#include <optional>
#include <string>

#include "cli/http/site.hpp"
#include "cli/pool_view/field_images.hpp"
#include "cli/run_history/watched_run.hpp"

namespace ringside {

class RunSite final : public Site {
 public:
  /// run and images must outlive this object. images: null if no images are drawn.
  explicit RunSite(const WatchedRun& run, FieldImages* images = nullptr) : run_(run), images_(images) {}
  std::optional<SiteAnswer> answer(const SiteRequest& request) const override;
  std::string paths() const override;

 private:
  SiteAnswer answer_steps(const SiteRequest& request) const;
  SiteAnswer answer_image(const SiteRequest& request) const;
  const WatchedRun& run_;
  FieldImages* images_;
};

}  // namespace ringside
