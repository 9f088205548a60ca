// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/field_images.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/pool_view/field_image_json.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

using nlohmann::ordered_json;

std::string dumped(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// The one to draw; null: none.
const FieldGrid* chosen(const std::vector<FieldGrid>& grids, const std::string& name) {
  if (name.empty()) return grids.empty() ? nullptr : &grids.front();
  const auto found = std::find_if(grids.begin(), grids.end(), [&](const FieldGrid& grid) { return grid.name == name; });
  return found == grids.end() ? nullptr : &*found;
}

}  // namespace

FieldImages::FieldImages() : thread_([this] { work(); }) {}

FieldImages::~FieldImages() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void FieldImages::watch(const std::string& pool, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (pool == path_ && why == why_no_pool_) return;
  path_ = pool;
  why_no_pool_ = why;
  for (Asked& asked : asked_) asked = {asked.query, asked.last_asked, "[]", "", "", 0, {}};
}

std::string FieldImages::answer(const FieldQuery& query, std::uint64_t known_commit) {
  const std::lock_guard lock(mutex_);
  auto found = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& asked) { return asked.query == query; });
  if (found == asked_.end()) {
    if (asked_.size() == kMostQueries) {
      asked_.erase(std::min_element(asked_.begin(), asked_.end(),
                                    [](const Asked& a, const Asked& b) { return a.last_asked < b.last_asked; }));
    }
    found = asked_.insert(asked_.end(), {query, {}, "[]", "", "", 0, {}});
  }
  found->last_asked = Clock::now();
  wake_.notify_all();
  const bool has_news = !found->image.empty() && found->commit_seq != known_commit;
  return "{\"variables\":" + found->variables + ",\"image\":" + (has_news ? found->image : "null") +
         ",\"why\":" + dumped(found->why) + "}";
}

void FieldImages::work() {
  constexpr int kNice = 19;
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread; what it draws can wait
  Clock::time_point rest_until{};
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const Clock::time_point now = Clock::now();
    std::erase_if(asked_, [now](const Asked& asked) { return now - asked.last_asked > kAskedWithin; });
    if (asked_.empty()) {
      wake_.wait(lock);
      continue;
    }
    if (now < rest_until) {
      wake_.wait_until(lock, rest_until);
      continue;
    }
    const std::vector<Asked> round = asked_;
    const std::string path = path_;
    const std::string why = why_no_pool_;
    lock.unlock();
    std::vector<Asked> made;
    for (const Asked& asked : round) made.push_back(drawn(asked, path, why));
    const auto worked = Clock::now() - now;
    lock.lock();
    rest_until = Clock::now() + std::max<Clock::duration>(kEvery, kRest * worked);
    if (path != path_) continue;
    for (Asked& done : made) {
      for (Asked& asked : asked_) {
        if (!(asked.query == done.query)) continue;
        done.last_asked = asked.last_asked;
        asked = std::move(done);
        break;
      }
    }
  }
}

FieldImages::Asked FieldImages::drawn(Asked asked, const std::string& path, const std::string& why_no_pool) {
  const FieldQuery& query = asked.query;
  const auto without_image = [&asked](std::string why) {
    asked.image.clear();
    asked.commit_seq = 0;
    asked.why = std::move(why);
    return asked;
  };
  if (path.empty()) return without_image(why_no_pool);
  const RingReader* const reader = pool_.at(path);
  if (reader == nullptr) return without_image(pool_.why());
  try {
    const std::vector<FieldGrid> grids = grids_in(*reader);
    ordered_json list = ordered_json::array();
    for (const FieldGrid& grid : grids) list.push_back(to_json(grid));
    asked.variables = dumped(list);
    const FieldGrid* const grid = chosen(grids, query.variable);
    if (grid == nullptr) {
      return without_image(grids.empty() ? "no variable has a shape of two dimensions" : "no such variable");
    }
    if (grid->is_large() && !query.large) return without_image("");
    const std::optional<KeptSlot> newest = reader->find(kNewestCommit);
    // A pool that was replaced may number its commits as the one before did.
    const bool is_drawn = newest && newest->header.commit_seq == asked.commit_seq && newest->header.run_id == asked.run_id;
    if (is_drawn) return asked;
    const DrawnField drawn = draw_newest(*reader, *grid, query.shows);
    if (!drawn.image) return without_image(drawn.why);
    asked.image = dumped(to_json(*grid, drawn, query.shows));
    asked.commit_seq = drawn.commit_seq;
    asked.run_id = newest ? newest->header.run_id : Id128();
    asked.why.clear();
  } catch (const std::exception& error) {
    return without_image(error.what());
  }
  return asked;
}

}  // namespace ringside
