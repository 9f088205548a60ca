// SPDX-License-Identifier: BSD-3-Clause
// Images of a pool's newest step for clients that ask repeatedly, as a page does. A low-priority thread draws them,
// only while clients ask. It draws the kinds of image in turn, each at most once a second. After each image it rests 20
// times as long as it worked, at most 30 s. A client gets the newest finished image and never waits. The number of
// kinds is bounded, so the memory is bounded as well. A place in use is never given to another kind, because two kinds
// could then take it from each other, and neither would get an image.
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
  std::string variable;  // empty: the first variable that can be drawn
  CellShows shows = CellShows::kExtreme;
  bool large = false;  // whether to draw a large field as well
  bool operator==(const FieldQuery&) const = default;
};

class FieldImages {
 public:
  static constexpr std::size_t kMostQueries = 16;  // kinds of all pages together: 2 MB of images and variable lists
  static constexpr std::chrono::seconds kEvery{1};
  static constexpr std::chrono::seconds kAskedWithin{3};
  static constexpr int kRest = 20;  // rests this many times as long as it worked ...
  static constexpr std::chrono::seconds kLongestRest{30};  // ... but at most this long

  /// asked_within: a kind of image loses its place if no client asks for this kind during this time.
  explicit FieldImages(std::chrono::milliseconds asked_within = kAskedWithin);
  ~FieldImages();
  FieldImages(const FieldImages&) = delete;
  FieldImages& operator=(const FieldImages&) = delete;

  /// From now on draws the newest step of `pool`. If `pool` is empty, no pool is available, and `why` is the answer.
  void watch(const std::string& pool, const std::string& why);

  /// A JSON object as text: {variables, image, why}; each is null or empty if it does not exist. `image` is also null
  /// if its commit_seq is `known_commit`: the client already has this image. Returns no value while all places are
  /// taken: the client should repeat its request after kAskedWithin.
  std::optional<std::string> answer(const FieldQuery& query, std::uint64_t known_commit);

  /// How long the thread rests after work. worked: the processor time of the work, not the elapsed time, because a
  /// low-priority thread may wait long for a core.
  static std::chrono::nanoseconds rest_after(std::chrono::nanoseconds worked) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Asked {
    FieldQuery query;
    Clock::time_point last_asked{};
    Clock::time_point drawn_at{};  // the epoch: never drawn
    std::string variables = "[]";  // JSON, like `image`
    std::string image{};           // empty: none
    std::string why{};
    std::uint64_t commit_seq = 0;
    Id128 run_id{};              // run of that step
    bool is_of_nothing = false;  // whether the pool has no such variable
  };
  using Place = std::vector<Asked>::iterator;
  Place place_of(const FieldQuery& query);
  bool make_room(Clock::time_point now);
  void work();
  Asked drawn(Asked asked, const std::string& pool, const std::string& why_no_pool);

  const std::chrono::milliseconds asked_within_;
  WatchedPool pool_;  // used only by the thread
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string path_;  // mutex_ guards this and the members below
  std::string why_no_pool_ = "the pool is not known yet";
  std::uint64_t changes_ = 0;  // counts the changes of path_ and why_no_pool_
  std::vector<Asked> asked_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ringside
