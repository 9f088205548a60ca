// Design §9's invariants, asked of one image by the real recovery code. What is violated is said in one line that
// begins with the invariant's number.
#pragma once

#include <string>
#include <vector>

#include "tests/crash/crash_images.hpp"
#include "tests/crash/history.hpp"
#include "tests/crash/owner.hpp"
#include "tests/crash/published.hpp"

namespace ringside::crash {

/// What a storage and durability promise of an image that a model makes.
struct Promise {
  bool committed_is_kept = false;  // every acknowledged commit is there
  bool persisted_is_kept = false;  // every one that was reported persisted is
  bool leaves_no_damage = false;   // and nothing that `verify` would report as damaged
  /// An iterate is returned under the number its commit was acknowledged with. Not on a page cache: one whose payload a
  /// first cut had lost, and which was then committed again, may be there under its first header; it is that iterate.
  bool numbers_hold = false;
  bool hashes_hold = true;  // checksums are on: reductions can be told from those of another commit
};

Promise promise_of(Model model, const Setting& setting) noexcept;

struct Verdict {
  std::string violation;      // empty: none
  bool is_ring = false;       // the creation of the pool was finished
  std::vector<Found> intact;  // by ascending commit_seq
};

/// Reopens the image in `pool`, reading only.
Verdict check_image(const PoolBytes& pool, const History& history, const Promise& promise, Published& published);

/// Reopens the image as an owner: opens it, begins the newest run again and commits its next iterate. The pool is as
/// before when it returns; what was done to it is in `trace`. Returns the violation, or nothing. found: what the image
/// holds; history: with it (History::cut_off).
std::string check_going_on(PoolBytes& pool, const History& history, const Promise& promise, const Setting& setting,
                           const std::vector<Found>& found, Published& published, Trace& trace);

}  // namespace ringside::crash
