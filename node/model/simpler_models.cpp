// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/simpler_models.hpp"

#include <limits>

namespace ringside {

std::string_view to_string(SimplerModel simpler) noexcept {
  switch (simpler) {
    case SimplerModel::kBandwidthAlone: return "bandwidth alone";
    case SimplerModel::kNoContention: return "no contention";
    case SimplerModel::kProportionalShares: return "proportional shares";
    case SimplerModel::kHardLimits: break;
  }
  return "hard limits";
}

NodeModel simplified(NodeModel model, SimplerModel to) {
  constexpr double kHard = 60;  // an exponent at which the soft sum is the larger term
  model.pairs.clear();          // otherwise measured pairs replace the terms
  switch (to) {
    case SimplerModel::kBandwidthAlone:
      for (auto& kernel : model.kernels) {
        if (!kernel) continue;
        double seconds = 0;
        for (std::size_t g = 0; g < kernel->bytes.size(); ++g) seconds += kernel->bytes[g] / model.capacity_bytes_s[g];
        if (seconds > 0) kernel->seconds.points = {{.threads = 1, .figure = {.value = seconds}}};
      }
      break;
    case SimplerModel::kNoContention:
      for (auto& kernel : model.kernels) {
        if (kernel) kernel->bytes.assign(kernel->bytes.size(), 0);
      }
      break;
    case SimplerModel::kProportionalShares: model.sharing = Sharing::kProportional; break;
    case SimplerModel::kHardLimits: model.exponent = kHard; break;
  }
  return model;
}

}  // namespace ringside
