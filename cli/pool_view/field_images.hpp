// SPDX-License-Identifier: BSD-3-Clause
// Images of a pool's newest step for those who ask again and again, as a page does. A thread of low priority makes
// them, only while somebody asks: of each kind at most one a second, all kinds in turn, and then it rests 20 times as
// long as it worked, or 30 s. Who asks gets the newest one that is made, and never waits. The memory is bounded, because the number of
// kinds is: a place that is still asked for is never given to another kind, for two that took it from each other would
// both get nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/pool_view/field_image.hpp"
#include "cli/pool_view/watched_pool.hpp"

namespace ringside {

struct FieldQuery {
  std::string variable;  // empty: the first that can be drawn
  CellShows shows = CellShows::kExtreme;
  bool large = false;  // draw a large field as well
  bool operator==(const FieldQuery&) const = default;
};

class FieldImages {
 public:
  static constexpr std::size_t kMostQueries = 16;  // kinds at once, of all pages: 2 MB of images and lists of variables
  static constexpr std::chrono::seconds kEvery{1};
  static constexpr std::chrono::seconds kAskedWithin{3};
  static constexpr int kRest = 20;  // rests so many times as long as it worked ...
  static constexpr std::chrono::seconds kLongestRest{30};  // ... but not longer

  /// asked_within: a kind that nobody has asked for in this time loses its place.
  explicit FieldImages(std::chrono::milliseconds asked_within = kAskedWithin);
  ~FieldImages();
  FieldImages(const FieldImages&) = delete;
  FieldImages& operator=(const FieldImages&) = delete;

  /// From now on draws the newest step of that pool; empty: there is none here, and `why` is what is answered.
  void watch(const std::string& pool, const std::string& why);

  /// A JSON object as text: {variables, image, why}, each null or empty where there is none. image: null as well if
  /// its commit_seq is `known_commit`, which the client has. Nothing while as many other kinds are asked for as are
  /// made: to be asked again after kAskedWithin.
  std::optional<std::string> answer(const FieldQuery& query, std::uint64_t known_commit);

  /// After it worked for so long. worked: of a processor; a thread of the lowest priority may wait long for one.
  static std::chrono::nanoseconds rest_after(std::chrono::nanoseconds worked) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Asked {
    FieldQuery query;
    Clock::time_point last_asked{};
    Clock::time_point drawn_at{};  // never: the epoch
    std::string variables = "[]";  // JSON, like `image`
    std::string image{};           // empty: none
    std::string why{};
    std::uint64_t commit_seq = 0;
    Id128 run_id{};              // of the step
    bool is_of_nothing = false;  // the pool has no such variable
  };
  using Place = std::vector<Asked>::iterator;
  Place place_of(const FieldQuery& query);
  bool make_room(Clock::time_point now);
  void work();
  Asked drawn(Asked asked, const std::string& pool, const std::string& why_no_pool);

  const std::chrono::milliseconds asked_within_;
  WatchedPool pool_;  // of the thread
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string path_;  // this and the rest: guarded by mutex_
  std::string why_no_pool_ = "the pool is not known yet";
  std::uint64_t changes_ = 0;  // of those two
  std::vector<Asked> asked_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ringside
