// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/common_step.hpp"

#include <algorithm>
#include <limits>

#include "common/text/fixed_text.hpp"

namespace ringside::mpi {
namespace {

/// What a node reports about its ring.
struct Found {
  Id128 run_id;
  std::uint64_t empty = 1;
  char line[488] = {};
};

std::vector<Found> found_on_all(const Job& job, const Found& own) {
  std::vector<Found> all(static_cast<std::size_t>(job.firsts.size()));
  constexpr int kBytes = sizeof(Found);
  check(MPI_Allgather(&own, kBytes, MPI_BYTE, all.data(), kBytes, MPI_BYTE, job.firsts.get()), "MPI_Allgather");
  return all;
}

/// Throws Error unless all rings hold steps, and all these steps belong to the same run.
void check_same_run(const std::vector<Found>& all) {
  const auto line = [&](std::size_t node) { return std::string(text_of(all[node].line)); };
  const auto first = static_cast<std::size_t>(
      std::ranges::find_if(all, [](const Found& found) { return found.empty == 0; }) - all.begin());
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all[n].empty != 0) {
      throw usage_error("--resume: {}; but {}; expected steps in every ring, or --overwrite to begin anew", line(n),
                        line(first));
    }
    if (all[n].run_id == all[first].run_id) continue;
    throw usage_error("--resume: {} of run {}; but {} of run {}; expected rings of one run", line(n),
                      to_string(all[n].run_id), line(first), to_string(all[first].run_id));
  }
}

}  // namespace

std::optional<KeptSlot> newest_intact(const RingReader& reader, const Id128& run_id, std::uint64_t most) {
  const Recovery found = reader.recover();
  for (auto kept = found.kept.rbegin(); kept != found.kept.rend(); ++kept) {
    const SlotHeader& header = kept->header;
    if (header.run_id == run_id && header.iteration <= most && reader.verify(*kept).intact()) return *kept;
  }
  return std::nullopt;
}

KeptIterations::KeptIterations(const std::string& path) : path_(path) {
  const Recovery found = [&]() -> Recovery {
    try {
      return RingReader::open(path).recover();
    } catch (const Error& error) {
      // The file does not exist, the pool is unfinished, or the file is no pool; in the last case, the analyzer will
      // refuse the file.
      if (error.code() == ExitCode::kUsage) return {};
      throw;
    }
  }();
  if (found.kept.empty()) return;
  run_id_ = found.kept.back().header.run_id;
  for (const KeptSlot& kept : found.kept) {
    if (kept.header.run_id == run_id_) iterations_.push_back(kept.header.iteration);
  }
}

std::uint64_t KeptIterations::newest_intact(std::uint64_t most) const {
  if (empty()) return 0;
  const std::optional<KeptSlot> found = mpi::newest_intact(RingReader::open(path_), run_id_, most);
  return found ? found->header.iteration : 0;
}

std::string KeptIterations::text() const {
  if (empty()) return path_ + " holds no step";
  return formatted("{} holds iterations {} to {}", path_, iterations_.front(), iterations_.back());
}

std::uint64_t least_agreed(const Job& job, const std::string& name,
                           const std::function<std::uint64_t(std::uint64_t limit)>& newest_intact) {
  // The first limit is below 2^63, and iterations are compared as signed numbers, because MPICH 4.0 compares even
  // MPI_UINT64_T as signed.
  for (std::uint64_t limit = std::numeric_limits<std::int64_t>::max();;) {
    std::uint64_t proposed = limit;
    job.all.together(name, [&] { proposed = newest_intact(limit); });
    std::uint64_t least = 0;
    check(MPI_Allreduce(&proposed, &least, 1, MPI_INT64_T, MPI_MIN, job.all.get()), "MPI_Allreduce");
    if (least == limit || least == 0) return least;
    limit = least;
  }
}

std::uint64_t newest_common_iteration(const Job& job, const std::string& pool) {
  std::optional<KeptIterations> own;
  job.all.together(job.node_name(), [&] {
    if (job.node.is_first()) own.emplace(pool);
  });
  std::vector<Found> all;
  if (job.node.is_first()) {
    Found found{.run_id = own->run_id(), .empty = own->empty() ? 1u : 0u, .line = {}};
    assign(found.line, formatted("{}: {}", job.node_name(), own->text()));
    all = found_on_all(job, found);
  }
  const auto holds_nothing = [&] { return std::ranges::all_of(all, [](const Found& one) { return one.empty != 0; }); };
  if (job.all.value_of_first(job.all.is_first() && holds_nothing() ? 1 : 0) != 0) return 0;
  job.all.together("", [&] {
    if (job.node.is_first()) check_same_run(all);
  });
  const std::uint64_t agreed = least_agreed(job, job.node_name(), [&](std::uint64_t limit) {
    return job.node.is_first() ? own->newest_intact(limit) : limit;
  });
  job.all.together("", [&] {
    if (agreed != 0) return;
    std::string lines;
    for (const Found& one : all) {
      if (lines.size() < 600) lines += formatted("{}{}", lines.empty() ? "" : ", ", text_of(one.line));
    }
    throw usage_error(
        "--resume: no iteration is held intact by every ring: {}; expected at least one such iteration, or --overwrite "
        "to begin anew",
        lines);
  });
  return agreed;
}

}  // namespace ringside::mpi
