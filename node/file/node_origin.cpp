// SPDX-License-Identifier: BSD-3-Clause
// Checks that this program measured the figures on this machine.
#include "common/platform/error.hpp"
#include "node/file/node_file.hpp"

namespace ringside {

void refuse_foreign(const Node& node, const std::string& path, const Fingerprint& here) {
  constexpr std::string_view kAgain = "`ringside calibrate` measures this node";
  if (!node.fingerprint) throw usage_error("{}: this file was written by hand, not measured here; {}", path, kAgain);
  const Fingerprint& there = *node.fingerprint;
  const auto differs = [&](std::string_view what, const auto& found, const auto& expected) {
    if (found == expected) return;
    throw usage_error("{}: measured elsewhere: {}: found {}, here it is {}; {}", path, what, found, expected, kAgain);
  };
  differs("processor", there.cpu, here.cpu);
  differs("number of cores", there.cores, here.cores);
  differs("list of cores", there.cpus, here.cpus);
  differs("bytes of memory", there.memory_bytes, here.memory_bytes);
  differs("release of the system", there.kernel, here.kernel);
  differs("build of Ringside", there.build, here.build);
}

}  // namespace ringside
