// SPDX-License-Identifier: BSD-3-Clause
// The node file's words for kinds of memory and for kernels, which messages and other outputs also use; and the name of
// the file's format.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "node/model/node.hpp"

namespace ringside {

inline constexpr std::string_view kNodeFormat = "ringside.node";

inline constexpr std::array<std::pair<TierKind, std::string_view>, 4> kTierKinds = {
    {{TierKind::kDram, "dram"},
     {TierKind::kDax, "dax"},
     {TierKind::kPageCache, "page_cache"},
     {TierKind::kTmpfs, "tmpfs"}}};
inline constexpr std::array<std::pair<KernelKind, std::string_view>, 6> kKernelKinds = {
    {{KernelKind::kGenerate, "generate"},
     {KernelKind::kTransfer, "transfer"},
     {KernelKind::kTransferReduced, "transfer_reduced"},
     {KernelKind::kAnalyze, "analyze"},
     {KernelKind::kSweep, "sweep"},
     {KernelKind::kCommit, "commit"}}};

/// "page_cache", "transfer_reduced".
constexpr std::string_view to_string(TierKind kind) noexcept {
  return kTierKinds[static_cast<std::size_t>(kind)].second;
}
constexpr std::string_view to_string(KernelKind kernel) noexcept {
  return kKernelKinds[static_cast<std::size_t>(kernel)].second;
}

}  // namespace ringside
