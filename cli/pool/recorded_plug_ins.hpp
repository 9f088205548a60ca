// SPDX-License-Identifier: BSD-3-Clause
// The plug-ins that a pool's runs were reduced with (docs/use/questions.md), loaded again for `replay`. The ring keeps
// the id of the plug-in beside each of its results; the journal keeps where its library lay.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/reductions/plug_ins/plug_in_set.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

struct RecordedPlugIns {
  std::unique_ptr<PlugInSet> set;  // of those that could be loaded and have the recorded id
  std::vector<std::string> missing;  // a line for each of the others: its results, and why it is not there
};

/// given: --reduce-with; such a plug-in must load, and takes precedence over the journal's. A library that only the
/// journal names is loaded only if no other user can have written it, because it runs as this user. Throws Error as
/// PlugIn::load does, for those given.
RecordedPlugIns load_recorded(const std::string& pool, const RingView& ring, const std::vector<std::string>& given,
                              double timeout_s);

}  // namespace ringside
