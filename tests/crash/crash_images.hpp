// What may be in a pool after power was cut, or its owner killed, at one moment of a trace (docs/crash_testing.md says
// why). All models are one idea: the pool is cut into cells; a cell holds the value that is certain, and the stores to
// it that are not certain yet, in order; what is left of it is any prefix of them, each cell on its own.
//
//   model            a cell is                               its stores become certain when
//   kDax             a line of 64 bytes; a word of 8 bytes   the thread that flushed the line, or copied the word,
//                    where it was copied past the cache      has drained since
//   kPageCache       a sector of 512 bytes                   a sync that began after them has returned
//   kTornPageCache   a word of 8 bytes                       the same
//   kProcessDeath    –                                       at once: the stores of a killed process are seen by all
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "tests/crash/pool_bytes.hpp"
#include "tests/crash/random.hpp"
#include "tests/crash/trace.hpp"

namespace ringside::crash {

enum class Model : std::uint8_t { kDax, kPageCache, kTornPageCache, kProcessDeath };

std::string_view to_string(Model model) noexcept;

/// How many of an event's images are looked at.
struct Sampling {
  std::uint64_t exhaustive = 256;  // all of them, up to this many; above, chosen ones:
  std::uint64_t one_each = 32;     // one cell missing, one cell only: that many of each
  std::uint64_t random = 8;        // and that many by chance
};

class CrashImages {
 public:
  /// `pool` holds what is certain, and must not be changed by others between calls.
  CrashImages(Model model, PoolBytes& pool) : model_(model), pool_(pool) {}

  /// The next event of the trace.
  void apply(const Event& event);
  /// Makes everything stored so far certain.
  void settle_all();

  /// True if there are images at this moment that were not there, or not judged by the same acknowledgements, before
  /// the event applied last: a store adds some, an acknowledgement demands more of those that are there, a fence only
  /// takes some away.
  bool adds_images() const noexcept { return adds_images_; }

  /// Puts one image after another into the pool, calls `look` on it and takes it out again. After a store only images
  /// that hold the store are made: the others were looked at before it.
  void for_each(const Sampling& sampling, Random random, const std::function<void()>& look);

 private:
  struct Store {
    std::uint64_t offset;
    std::uint64_t value;
    std::uint64_t time;  // counts events
  };
  using Cell = std::vector<Store>;  // in program order
  /// The stores to `cell` up to that moment become certain with the drain or sync that is waited for.
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
  std::map<std::uint64_t, Cell> cells_;          // by offset, those with stores that are not certain
  std::map<int, std::vector<Awaited>> flushed_;  // by thread, for its next drain
  std::vector<Awaited> syncing_;
  bool adds_images_ = false;
  bool has_newest_ = false;        // the event applied last was one store ...
  std::uint64_t newest_cell_ = 0;  // ... to this cell
  std::uint64_t time_ = 0;
  std::uint64_t boundaries_[8] = {};  // when the last fences and acknowledgements were
  std::size_t next_boundary_ = 0;
};

}  // namespace ringside::crash
