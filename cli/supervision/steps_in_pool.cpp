// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/steps_in_pool.hpp"

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

void count_in_pool(AttachmentReport& attachment, const std::string& pool) {
  if (!attachment.attached || !attachment.how.empty()) return;
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    for (const KeptSlot& kept : reader.recover().kept) {  // the newest is the last
      if (to_string(kept.header.run_id) != attachment.run_id) continue;
      attachment.iteration = kept.header.iteration;
      attachment.committed = kept.header.step + 1;  // the first step is 0
    }
  } catch (const Error&) {
    attachment.is_counted = false;
  }
}

}  // namespace ringside
