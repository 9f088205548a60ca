// SPDX-License-Identifier: BSD-3-Clause
// The plug-ins that reduced a pool's runs (docs/use/questions.md), loaded again for `replay`. The ring keeps the
// plug-in's id beside each of its results; the journal keeps the path of its library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/reductions/plug_ins/plug_in_set.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

struct RecordedPlugIns {
  std::unique_ptr<PlugInSet> set;  // those that were loaded and have the recorded id
  std::vector<std::string> missing;  // one line for each other plug-in: its results, and why it is missing
};

/// given: --reduce-with; these plug-ins must load, and take precedence over the journal's. A library that only the
/// journal names runs as this user, so it is loaded only if no other user can have written it. Throws Error as
/// PlugIn::load does, for the given ones.
RecordedPlugIns load_recorded(const std::string& pool, const RingView& ring, const std::vector<std::string>& given,
                              double timeout_s);

}  // namespace ringside
