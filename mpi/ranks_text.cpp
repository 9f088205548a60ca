// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/ranks_text.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/files/beside_pool.hpp"
#include "common/handoff/handoff_environment.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/platform/names.hpp"
#include "common/platform/process.hpp"
#include "common/ranks/node_address.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside::mpi {
namespace {

/// The address of the node's analyzer. Empty if the analyzer takes part in no round, or if the address cannot be read;
/// in both cases, there is no round.
std::optional<NodeAddress> node_address_at(const std::string& socket) {
  try {
    return read_node_address(socket);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string ranks_text(const Job& job, const RankOptions& options, std::span<const Box> boxes) {
  struct Place {
    char host[256] = {};
    char pool[4096] = {};
    char address[320] = {};
    char key[41] = {};
  };
  std::string host;
  job.all.together(job.node_name(), [&] {
    if (job.node.is_first()) host = host_name();
  });
  std::vector<int> nodes(static_cast<std::size_t>(job.all.is_first() ? job.all.size() : 0));
  check(MPI_Gather(&job.node_index, 1, MPI_INT, nodes.data(), 1, MPI_INT, 0, job.all.get()), "MPI_Gather");
  std::vector<Place> places(static_cast<std::size_t>(job.all.is_first() ? job.nodes : 0));
  if (job.node.is_first()) {
    Place own;
    if (const std::optional<NodeAddress> address = node_address_at(options.handoff.socket)) {
      assign(own.address, address->address);
      assign(own.key, address->public_key);
    }
    assign(own.host, host);
    if (const char* pool = environment_value(kPoolVariable)) assign(own.pool, absolute_path(pool));
    constexpr int kBytes = sizeof own;
    check(MPI_Gather(&own, kBytes, MPI_BYTE, places.data(), kBytes, MPI_BYTE, 0, job.firsts.get()), "MPI_Gather");
  }
  std::string text;
  job.all.together("", [&] {
    if (!job.all.is_first()) return;
    RanksFile file{.run_id = {}, .problem_id = options.run.problem_id, .variables = options.variables, .nodes = {}};
    for (const Place& place : places) {
      file.nodes.push_back({std::string(text_of(place.host)), std::string(text_of(place.pool)), {}});
    }
    if (std::ranges::all_of(places, [](const Place& place) { return place.address[0] != '\0'; })) {
      RanksFile::Round& round = file.round.emplace();
      round.attachment = random_id();
      for (const Place& place : places) {
        round.places.push_back({std::string(text_of(place.address)), std::string(text_of(place.key))});
      }
    }
    const std::size_t count = options.variables.size();
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      const auto begin = boxes.begin() + static_cast<std::ptrdiff_t>(rank * count);
      file.nodes[static_cast<std::size_t>(nodes[rank])].ranks.push_back(
          {static_cast<std::uint32_t>(rank), {begin, begin + static_cast<std::ptrdiff_t>(count)}});
    }
    text = to_text(file);
  });
  const std::string passed = job.node.is_first() ? job.firsts.text_of_first(text) : std::string();
  std::string own;
  job.all.together(job.node_name(), [&] {
    if (!job.node.is_first()) return;
    RanksFile file = parse_ranks(passed, "ranks");
    file.node = static_cast<std::uint32_t>(job.node_index);
    own = to_text(file);
  });
  return own;
}

}  // namespace ringside::mpi
