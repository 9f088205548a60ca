// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/field_images.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "cli/pool_view/field_image_json.hpp"
#include "common/json/json.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

std::string dumped(const Json& object) {
  return object.dump();
}

/// The processor time of this thread.
std::chrono::nanoseconds processor_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// The grid to draw; null if there is none.
const FieldGrid* chosen(const std::vector<FieldGrid>& grids, const std::string& name) {
  if (name.empty()) return grids.empty() ? nullptr : &grids.front();
  const auto found = std::find_if(grids.begin(), grids.end(), [&](const FieldGrid& grid) { return grid.name == name; });
  return found == grids.end() ? nullptr : &*found;
}

}  // namespace

std::chrono::nanoseconds FieldImages::rest_after(std::chrono::nanoseconds worked) noexcept {
  return std::min<std::chrono::nanoseconds>(kLongestRest, kRest * worked);
}

FieldImages::FieldImages(std::chrono::milliseconds asked_within)
    : asked_within_(asked_within), thread_([this] { work(); }) {}

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
  ++changes_;
  for (Asked& asked : asked_) asked = {.query = asked.query, .last_asked = asked.last_asked};
}

std::optional<std::string> FieldImages::answer(const FieldQuery& query, std::uint64_t known_commit) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  Place found = place_of(query);
  if (found == asked_.end()) {
    if (!make_room(now)) return std::nullopt;
    found = asked_.insert(asked_.end(), {.query = query});
  }
  found->last_asked = now;
  wake_.notify_all();
  const bool has_news = !found->image.empty() && found->commit_seq != known_commit;
  return "{\"variables\":" + found->variables + ",\"image\":" + (has_news ? found->image : "null") +
         ",\"why\":" + dumped(found->why) + "}";
}

FieldImages::Place FieldImages::place_of(const FieldQuery& query) {
  return std::find_if(asked_.begin(), asked_.end(), [&](const Asked& asked) { return asked.query == query; });
}

/// If all places are taken, frees the places for which no client asks any more. If there is no such place, frees a
/// place that is taken for a variable that does not exist, so that existing variables keep their places. Returns
/// whether a place is free.
bool FieldImages::make_room(Clock::time_point now) {
  if (asked_.size() < kMostQueries) return true;
  std::erase_if(asked_, [&](const Asked& asked) { return now - asked.last_asked > asked_within_; });
  if (asked_.size() < kMostQueries) return true;
  const auto nothing = std::find_if(asked_.begin(), asked_.end(), [](const Asked& asked) { return asked.is_of_nothing; });
  if (nothing == asked_.end()) return false;
  asked_.erase(nothing);
  return true;
}

void FieldImages::work() {
  constexpr int kNice = 19;
  setpriority(PRIO_PROCESS, 0, kNice);  // for this thread only: drawing is not urgent
  Clock::time_point rest_until{};
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const Clock::time_point now = Clock::now();
    std::erase_if(asked_, [&](const Asked& asked) { return now - asked.last_asked > asked_within_; });
    const Place next = std::min_element(
        asked_.begin(), asked_.end(), [](const Asked& a, const Asked& b) { return a.drawn_at < b.drawn_at; });
    if (next == asked_.end()) {
      wake_.wait(lock);
      continue;
    }
    const bool is_first = next->drawn_at == Clock::time_point{};
    const Clock::time_point due = std::max(rest_until, is_first ? now : next->drawn_at + kEvery);
    if (now < due) {
      wake_.wait_until(lock, due);
      continue;
    }
    const Asked asked = *next;
    const std::string path = path_;
    const std::string why = why_no_pool_;
    const std::uint64_t changes = changes_;
    lock.unlock();
    const std::chrono::nanoseconds began = processor_time();
    Asked made = drawn(asked, path, why);
    const std::chrono::nanoseconds worked = processor_time() - began;
    lock.lock();
    made.drawn_at = Clock::now();
    rest_until = made.drawn_at + rest_after(worked);
    const Place place = place_of(made.query);
    if (place == asked_.end() || changes != changes_) continue;
    made.last_asked = place->last_asked;
    *place = std::move(made);
  }
}

FieldImages::Asked FieldImages::drawn(Asked asked, const std::string& path, const std::string& why_no_pool) {
  const FieldQuery& query = asked.query;
  asked.is_of_nothing = false;
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
    Json list = Json::array();
    for (const FieldGrid& grid : grids) list.push_back(to_json(grid));
    asked.variables = dumped(list);
    const FieldGrid* const grid = chosen(grids, query.variable);
    if (grid == nullptr) {
      asked.is_of_nothing = !query.variable.empty();
      return without_image(grids.empty() ? "no variable has two dimensions" : "no such variable");
    }
    if (grid->is_large() && !query.large) return without_image("");
    const std::optional<KeptSlot> newest = reader->find(kNewestCommit);
    // The run is compared as well, because a new pool at this path may repeat the commit numbers of the previous pool.
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
