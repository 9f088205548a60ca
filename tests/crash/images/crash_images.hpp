// SPDX-License-Identifier: BSD-3-Clause
// The possible contents of a pool after the power was cut, or the pool's owner was killed, at one moment of a trace
// (docs/inside/crash_testing.md gives the reasons). All models have the same form. The pool is divided into cells; a
// cell has a certain value and a sequence of stores that are not certain yet. In an image, any prefix of these stores
// has been made to a cell, independently of the other cells.
//
//   model            a cell is                               its stores become certain when
//   kDax             a line of 64 bytes; a word of 8 bytes   the thread that flushed the line, or copied the word,
//                    that a non-temporal store wrote         has drained since
//   kPageCache       a sector of 512 bytes                   a sync that began after them has returned
//   kTornPageCache   a word of 8 bytes                       the same
//   kProcessDeath    –                                       at once: all processes see a killed process's stores
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "tests/crash/images/pool_bytes.hpp"
#include "tests/crash/images/random.hpp"
#include "tests/crash/images/trace.hpp"

namespace ringside::crash {

enum class Model : std::uint8_t { kDax, kPageCache, kTornPageCache, kProcessDeath };

std::string_view to_string(Model model) noexcept;

/// How many of the images after an event are checked.
struct Sampling {
  std::uint64_t exhaustive = 256;  // up to this many images, all are checked; otherwise:
  std::uint64_t one_each = 32;     // this many without one cell's stores, and this many with only one cell's stores
  std::uint64_t random = 8;        // this many random images
};

class CrashImages {
 public:
  /// `pool` holds the certain values. Other code must not change `pool` between calls.
  CrashImages(Model model, PoolBytes& pool) : model_(model), pool_(pool) {}

  /// Applies the next event of the trace.
  void apply(const Event& event);
  /// Makes all stores up to now certain.
  void settle_all();

  /// True if images must be checked after the event that was applied last. A store adds images, an acknowledgement adds
  /// requirements for the existing images, and a fence only removes images.
  bool adds_images() const noexcept { return adds_images_; }

  /// Puts one image after another into the pool, calls `look` and removes the image again. After a store, only the
  /// images that contain the store are made, because the others were checked before it.
  void for_each(const Sampling& sampling, Random random, const std::function<void()>& look);

 private:
  struct Store {
    std::uint64_t offset;
    std::uint64_t value;
    std::uint64_t time;  // counts events
  };
  using Cell = std::vector<Store>;  // in program order
  /// When the awaited drain or sync ends, the stores to `cell` up to this time become certain.
  struct Awaited {
    std::uint64_t cell;
    std::uint64_t time;
  };

  std::uint64_t cell_of(std::uint64_t offset, EventKind kind) const noexcept;
  void store(const Event& event);
  void settle(std::vector<Awaited>& awaited);
  void look_at(const std::vector<const Cell*>& cells, const std::vector<std::size_t>& prefixes,
               const std::function<void()>& look);
  void look_at_all(const std::vector<const Cell*>& cells, std::size_t pinned, const std::function<void()>& look);
  void look_at_some(const std::vector<const Cell*>& cells, std::size_t pinned, const Sampling& sampling, Random& random,
                    const std::function<void()>& look);

  void cut_in_time(const std::vector<const Cell*>& cells, Random& random, std::vector<std::size_t>& prefixes) const;

  const Model model_;
  PoolBytes& pool_;
  std::map<std::uint64_t, Cell> cells_;          // by offset: the cells with uncertain stores
  std::map<int, std::vector<Awaited>> flushed_;  // by thread: the cells that its next drain makes certain
  std::vector<Awaited> syncing_;
  bool adds_images_ = false;
  bool has_newest_ = false;        // the event applied last was one store ...
  std::uint64_t newest_cell_ = 0;  // ... to this cell
  std::uint64_t time_ = 0;
  std::uint64_t boundaries_[8] = {};  // times of the last fences and acknowledgements
  std::size_t next_boundary_ = 0;
};

}  // namespace ringside::crash
