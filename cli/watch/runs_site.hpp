// SPDX-License-Identifier: BSD-3-Clause
// The site of all runs below a folder: the page that lists them, their courses, and a report of each. One thread reads
// new runs and records; the server's thread answers requests. A request names a run only by its key, never by a path.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/http/site.hpp"
#include "cli/runs/run_folder.hpp"

namespace ringside {

class RunsSite final : public Site {
 public:
  /// From now on shows the runs of `folder`.
  void take(const RunFolder& folder);

  std::optional<SiteAnswer> answer(const SiteRequest& request) const override;
  std::string paths() const override { return "/, /api/runs, /api/course?run=KEY and /report?run=KEY"; }

 private:
  struct Run {
    std::string pool;
    std::string name;
    std::string run_id;  // 16 bytes
    std::vector<CoursePoint> course;
  };
  struct Shown {
    std::string list;  // JSON
    std::map<std::string, Run> runs;
  };
  std::shared_ptr<const Shown> shown() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Shown> shown_ = std::make_shared<const Shown>();
};

}  // namespace ringside
