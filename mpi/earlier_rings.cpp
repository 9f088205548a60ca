// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/earlier_rings.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "common/pool_reader/pool_look.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/text/fixed_text.hpp"
#include "mpi/common_step.hpp"

namespace ringside::mpi {
namespace {

/// Joins several texts to one text. Each text ends with a NUL, which no path contains.
std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + '\0';
  return all;
}

std::vector<std::string> unpacked(const std::string& all) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\0', begin);
    texts.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

/// The number that a file has in its file system, which is the same on all machines that share this file system; "" if
/// the file does not exist.
std::string number_of(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? std::to_string(found.st_ino) : "";
}

/// Throws Error (exit code 2) unless the rings keep what this job publishes.
void check_same_problem(const RingSet& set, const RankOptions& options) {
  const RanksFile& ranks = set.ranks();
  const std::vector<Variable>& own = options.variables;
  if (ranks.variables.size() != own.size()) {
    throw usage_error("{}: its steps have {} variables, but those of this run have {}; expected the same", set.path(),
                      ranks.variables.size(), own.size());
  }
  for (std::size_t v = 0; v < own.size(); ++v) {
    if (ranks.variables[v] == own[v]) continue;
    throw usage_error("{}: its steps have '{}' as variable {}, but those of this run have '{}'; expected the same",
                      set.path(), to_text(ranks.variables[v]), v, to_text(own[v]));
  }
  if (ranks.problem_id == options.run.problem_id) return;
  const std::optional<RunDescription> kept = set.nodes()[0].reader->ring().run(ranks.run_id);
  throw usage_error(
      "{}: its run has another problem: found '{}' with parameters '{}', expected '{}' with '{}' (if these are equal, "
      "the content of a file or of problem_bytes differs)",
      set.path(), text_of(kept->matrix), text_of(kept->parameters), text_of(options.run.matrix),
      text_of(options.run.parameters));
}

Error overwritten(const std::string& pool, std::uint64_t iteration) {
  return system_error("{}: iteration {} was overwritten while it was read; expected a ring of a run that has ended", pool,
                      iteration);
}

}  // namespace

EarlierRings::EarlierRings(const Job& job, const std::string& path, const std::string& own_pool,
                           const RankOptions& options) {
  find_rings(job, path, own_pool, options);
  agree(job);
  take_scalars(job, options.scalars);
}

/// The first rank opens all rings. The other ranks receive the description of the rings, and open only those that they
/// need.
void EarlierRings::find_rings(const Job& job, const std::string& path, const std::string& own_pool,
                              const RankOptions& options) {
  std::string text;
  std::vector<std::string> pools;
  std::vector<std::string> numbers;
  job.all.together("--resume-from", [&] {
    if (!job.all.is_first()) return;
    set_.emplace(RingSet::open(path));
    set_->expect_all();
    for (const NodeRing& ring : set_->nodes()) {
      if (owner_of(ring.path)) throw system_error("{}: {}", ring.name, in_use(ring.path).what());
      pools.push_back(ring.path);
      numbers.push_back(number_of(ring.path));
    }
    check_same_problem(*set_, options);
    text = to_text(set_->ranks());
  });
  pools = unpacked(job.all.text_of_first(packed(pools)));
  numbers = unpacked(job.all.text_of_first(packed(numbers)));
  text = job.all.text_of_first(text);
  job.all.together("--resume-from: " + job.node_name(), [&] {
    ranks_ = parse_ranks(text, "the ranks file");
    assembly_.emplace(ranks_);
    readings_.resize(pools.size());
    for (const std::string& pool : pools) places_.push_back({.pool = pool});
    if (!job.node.is_first()) return;
    // A run that overwrites its pools must not overwrite the rings from which it continues. Paths are compared only if
    // the file numbers are equal, so that a node need not access the pools of all other nodes.
    const std::string own_number = number_of(own_pool);
    for (std::size_t n = 0; n < pools.size(); ++n) {
      std::error_code error;
      if (own_number.empty() || numbers[n] != own_number || !std::filesystem::equivalent(pools[n], own_pool, error)) continue;
      throw usage_error("{} is also the pool of this run ({}); expected another --pool", pools[n], own_pool);
    }
  });
}

/// The ranks share the work of the verification: each of the n ranks verifies every n-th ring.
void EarlierRings::agree(const Job& job) {
  const auto size = static_cast<std::size_t>(job.all.size());
  std::vector<std::uint64_t> found(2 * places_.size());  // for each node, its step's commit number and hash
  iteration_ = least_agreed(job, "--resume-from: " + job.name(), [&](std::uint64_t limit) {
    std::uint64_t least = limit;
    for (auto n = static_cast<std::size_t>(job.all.rank()); n < places_.size(); n += size) {
      const std::optional<KeptSlot> kept = newest_intact(open(n), ranks_.run_id, limit);
      least = std::min(least, kept ? kept->header.iteration : 0);
      if (!kept) continue;
      found[2 * n] = kept->header.commit_seq;
      found[2 * n + 1] = kept->header.payload_hash;
    }
    return least;
  });
  job.all.together("--resume-from", [&] {
    if (iteration_ != 0 || !set_) return;
    throw usage_error(
        "{}: no iteration is held intact by every ring: {}; expected at least one such iteration (`ringside verify "
        "{}`)",
        set_->path(), set_->what_each_holds(), set_->path());
  });
  set_.reset();
  // For each node, only one rank has these numbers. The other ranks have 0.
  check(MPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(found.size()), MPI_UINT64_T, MPI_BOR, job.all.get()),
        "MPI_Allreduce");
  for (std::size_t n = 0; n < places_.size(); ++n) {
    places_[n].commit_seq = found[2 * n];
    places_[n].payload_hash = found[2 * n + 1];
  }
}

/// Takes the scalars of the first node's step, by name. No scalar may be missing, because a missing scalar would be
/// published as 0.
void EarlierRings::take_scalars(const Job& job, const std::vector<Scalar>& scalars) {
  job.all.together("--resume-from", [&] {
    if (!job.all.is_first()) return;
    const auto& [reader, slot] = reading(0);
    const RingView& ring = reader.ring();
    const std::optional<StepWithScalars> step = verified_step(ring, slot);
    if (!step) throw overwritten(places_[0].pool, iteration_);
    std::vector<ResultDescription> known;
    for (const RunReading& run : ring.runs()) {
      if (run.run.run_id != ranks_.run_id) continue;
      known.clear();  // only the last description counts, which is the newest
      std::ranges::copy_if(run.catalogue, std::back_inserter(known), [](const ResultDescription& one) {
        return one.source == ResultSource::kScalar;
      });
    }
    for (std::size_t s = 0; s < scalars.size(); ++s) {
      const auto found = std::ranges::find_if(
          known, [&](const ResultDescription& one) { return text_of(one.name) == scalars[s].name; });
      if (found == known.end() || found->type != scalars[s].type) {
        throw usage_error("{}: its steps have {} named '{}', but those of this run have a scalar {}; expected the same",
                          places_[0].pool,
                          found == known.end() ? "no scalar" : "a scalar " + std::string(to_string(found->type)),
                          scalars[s].name, to_string(scalars[s].type));
      }
      scalars_.present |= std::uint64_t{1} << s;
      scalars_.words[s] = step->scalar(static_cast<std::size_t>(found - known.begin()));
    }
  });
  scalars_ = job.all.value_of_first(scalars_);
}

/// Opens a node's ring. Checks its content, because another file may have the same path on this machine.
RingReader EarlierRings::open(std::size_t node) const {
  const std::string& pool = places_[node].pool;
  std::optional<RingReader> reader;
  try {
    reader.emplace(RingReader::open(pool, std::chrono::milliseconds(0)));
  } catch (const MissingPoolError& error) {
    throw usage_error("{}: {}; expected it under this path on all nodes, as on a shared file system or after `ringside "
                      "gather`",
                      ranks_.name_of(node), error.what());
  }
  if (reader->ring().geometry().schema() == ranks_.layout_of(node).schema && reader->ring().run(ranks_.run_id)) {
    return std::move(*reader);
  }
  throw usage_error(
      "{}: {}: found the ring of another run, expected the ring of run {}, which the first rank found under this path",
      ranks_.name_of(node), pool, to_string(ranks_.run_id));
}

EarlierRings::Reading& EarlierRings::reading(std::size_t node) {
  std::optional<Reading>& reading = readings_[node];
  if (reading) return *reading;
  RingReader reader = open(node);
  const std::optional<KeptSlot> slot = reader.find(places_[node].commit_seq);
  if (!slot || slot->header.payload_hash != places_[node].payload_hash) throw overwritten(places_[node].pool, iteration_);
  return reading.emplace(Reading{std::move(reader), *slot});
}

/// Reads with pread, because a fault in a mapping would end the solver. Verifies the hashes again, because the step may
/// have been verified on another machine.
const std::byte* EarlierRings::fetch(std::size_t node, std::size_t variable, std::uint64_t from, std::uint64_t bytes) {
  const auto& [reader, slot] = reading(node);
  fetched_.resize(bytes);
  const HeldStatus status = reader.read_through(
      slot, variable, from, from + bytes, [&](std::uint64_t begin, std::span<const std::byte> chunk) {
        const std::uint64_t first = std::max(begin, from);
        const std::uint64_t end = std::min(begin + chunk.size(), from + bytes);
        if (first < end) std::memcpy(fetched_.data() + (first - from), chunk.data() + (first - begin), end - first);
      });
  if (status == HeldStatus::kOverwritten) throw overwritten(places_[node].pool, iteration_);
  if (status != HeldStatus::kOk) {
    throw damage_error(
        "{}: {}: iteration {} differs from the iteration that was verified; expected the same file on all nodes",
        ranks_.name_of(node), places_[node].pool, iteration_);
  }
  return fetched_.data();
}

void EarlierRings::copy(std::size_t variable, const Box& box, std::byte* to) {
  const std::vector<std::uint64_t>& shape = ranks_.variables[variable].shape;
  std::vector<IndexRange> wanted;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    wanted.push_back(box.distribution == Distribution::kReplicated
                         ? IndexRange{.count = shape[d]}
                         : IndexRange{.first = box.offset[d], .count = box.extent[d]});
  }
  assembly_->copy(
      variable, wanted,
      [&](std::size_t node, std::uint64_t from, std::uint64_t bytes) { return fetch(node, variable, from, bytes); }, to);
}

}  // namespace ringside::mpi
