// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/one_pool.hpp"

#include "common/journal/journal_files.hpp"
#include "common/platform/error.hpp"
#include "common/ranks/node_address.hpp"
#include "common/rings/ring_set.hpp"

namespace ringside {
namespace {

/// journal: where a journal is meant, which the whole run may have.
std::string one_of(const std::string& name, bool journal) {
  if (!names_rings(name)) return name;
  const RingSet set = RingSet::open(name);
  if (set.nodes().size() == 1) {
    set.expect_all();
    return set.nodes().front().path;
  }
  std::string pools;
  for (const NodeRing& node : set.nodes()) {
    const std::string whole = node.path + kGlobalSuffix;
    if (journal && !journal_files_there(whole).empty()) return whole;
    pools += (pools.empty() ? "" : ", ") + node.path;
  }
  throw usage_error("{}: found the rings of {} nodes{}, expected one of their pools: {}", name, set.nodes().size(),
                    journal ? " without a journal of the whole run" : "", pools);
}

}  // namespace

std::string one_pool_of(const std::string& name) {
  return one_of(name, false);
}

std::string one_journal_of(const std::string& name) {
  return one_of(name, true);
}

}  // namespace ringside
