// SPDX-License-Identifier: BSD-3-Clause
// The model without one of its terms, so that a comparison shows the contribution of each term (docs/inside/model.md).
#pragma once

#include <array>
#include <string_view>

#include "node/model/node_model.hpp"

namespace ringside {

enum class SimplerModel {
  kBandwidthAlone,      // a kernel takes its bytes divided by the saturated bandwidth, with any number of threads
  kNoContention,        // a kernel takes as long beside others as alone
  kProportionalShares,  // all threads have equal shares, and unused shares are lost
  kHardLimits           // the larger of the times in the core and in memory, not their soft sum
};
inline constexpr std::array kSimplerModels = {SimplerModel::kBandwidthAlone, SimplerModel::kNoContention,
                                              SimplerModel::kProportionalShares, SimplerModel::kHardLimits};
/// "bandwidth alone", ...
std::string_view to_string(SimplerModel simpler) noexcept;

NodeModel simplified(NodeModel model, SimplerModel to);

}  // namespace ringside
