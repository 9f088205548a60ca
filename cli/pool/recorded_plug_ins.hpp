// SPDX-License-Identifier: BSD-3-Clause
// The plug-ins that reduced a pool's runs (docs/use/questions.md), loaded again for `replay`. For each result of a
// plug-in, the ring keeps the plug-in's id; the journal keeps the path of the plug-in's library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/reductions/plug_ins/plug_in_set.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

struct RecordedPlugIns {
  std::unique_ptr<PlugInSet> set;  // the plug-ins that were loaded and have a recorded id
  std::vector<std::string> missing;  // one line for each plug-in that is missing: its results, and the reason
};

/// given: the plug-ins of --reduce-with. These plug-ins must load, and take precedence over those in the journal. If
/// only the journal names a library, the library is loaded only if no other user can have written it, because its code
/// runs as this user. If a given plug-in cannot be loaded, throws Error as PlugIn::load does.
RecordedPlugIns load_recorded(const std::string& pool, const RingView& ring, const std::vector<std::string>& given,
                              double timeout_s);

}  // namespace ringside
