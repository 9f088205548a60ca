// SPDX-License-Identifier: BSD-3-Clause
// The invariants of docs/inside/crash_testing.md (section 3), checked on one image by the real recovery code. A
// violation is one line that begins with the invariant's number.
#pragma once

#include <string>
#include <vector>

#include "tests/crash/images/crash_images.hpp"
#include "tests/crash/scenarios/history.hpp"
#include "tests/crash/scenarios/owner.hpp"
#include "tests/crash/scenarios/published.hpp"

namespace ringside::crash {

/// What a storage and a durability promise for the images that a model allows.
struct Promise {
  bool committed_is_kept = false;  // every acknowledged commit is in the image
  bool persisted_is_kept = false;  // every commit that was reported as persisted is in the image
  bool leaves_no_damage = false;   // `verify` would report nothing as damaged
  /// An iterate is returned under the number with which its commit was acknowledged. On a page cache, the number may be
  /// another one: if a first cut lost an iterate's payload and the iterate was committed again, the image may contain
  /// the iterate with its first header. The iterate is the same in both cases.
  bool numbers_hold = false;
  bool hashes_hold = true;  // checksums are on, so that reductions of another commit are recognised
};

Promise promise_of(Model model, const Setting& setting) noexcept;

struct Verdict {
  std::string violation;      // empty: no promise is broken
  bool is_ring = false;       // the creation of the pool was finished
  std::vector<Found> intact;  // by ascending commit_seq
};

/// Reopens the image in `pool` as a reader.
Verdict check_image(const PoolBytes& pool, const History& history, const Promise& promise, Published& published);

/// Reopens the image as an owner: opens it, begins the newest run again and commits its next iterate. Then restores the
/// pool; `trace` has the owner's operations on the pool. Returns the violation, or an empty text. found: the iterates
/// in the image. history: History::cut_off was already called with `found`.
std::string check_continuation(PoolBytes& pool, const History& history, const Promise& promise, const Setting& setting,
                               const std::vector<Found>& found, Published& published, Trace& trace);

}  // namespace ringside::crash
