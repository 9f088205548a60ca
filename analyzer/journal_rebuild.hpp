// What the ring still knows and the journal does not: an analyzer that starts writes it anew, so that within the ring's
// window the journal has no gap and no duplicate, whatever became of its logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ring_view.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Records with `rebuilt` set, by ascending commit_seq: of each slot kept with a commit_seq of at most `committed`
/// whose run and iteration no step record of the pool's journal names. The payloads are not read. Also while the ring
/// is written: a slot that takes another commit meanwhile is left out.
std::vector<wire::StepRecord> missing_in_journal(const std::string& pool, const RingView& ring,
                                                 std::uint64_t committed);

}  // namespace ringside
