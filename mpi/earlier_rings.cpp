// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/earlier_rings.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/platform/fixed_text.hpp"
#include "common/pool_reader/pool_look.hpp"
#include "common/ring/ring_recovery.hpp"
#include "mpi/common_step.hpp"

namespace ringside::mpi {
namespace {

/// Texts as one, and back: each ends with a NUL, which no path has.
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

/// Throws Error (exit code 2) unless the rings keep what this job publishes.
void check_same_problem(const RingSet& set, const RankOptions& options) {
  const RanksFile& ranks = set.ranks();
  const std::vector<Variable>& own = options.variables;
  if (ranks.variables.size() != own.size()) {
    throw usage_error("{}: its steps have {} variables, those of this run {}; expected the same", set.path(),
                      ranks.variables.size(), own.size());
  }
  for (std::size_t v = 0; v < own.size(); ++v) {
    if (ranks.variables[v] == own[v]) continue;
    throw usage_error("{}: its steps have '{}' as variable {}, those of this run '{}'; expected the same", set.path(),
                      to_text(ranks.variables[v]), v, to_text(own[v]));
  }
  if (ranks.problem_id == options.run.problem_id) return;
  std::string parameters;
  for (const RunReading& reading : set.nodes()[0].reader->ring().runs()) {
    if (reading.run.run_id == ranks.run_id) parameters = text_of(reading.run.parameters);
  }
  throw usage_error("{}: it is of another problem: found '{}', expected '{}' and the same problem_bytes", set.path(),
                    parameters, text_of(options.run.parameters));
}

}  // namespace

EarlierRings::EarlierRings(const Job& job, const std::string& path, const std::string& own_pool,
                           const RankOptions& options) {
  find_rings(job, path, options);
  check_others(job, own_pool);
  agree(job);
  take_scalars(job, options.scalars);
}

/// The first rank opens all rings; the others learn what the rings have, and open only what they need.
void EarlierRings::find_rings(const Job& job, const std::string& path, const RankOptions& options) {
  std::string text;
  std::vector<std::string> pools;
  job.all.together("--resume-from", [&] {
    if (!job.all.is_first()) return;
    set_.emplace(RingSet::open(path));
    set_->expect_all();
    for (const NodeRing& ring : set_->nodes()) {
      if (owner_of(ring.path)) throw in_use(ring.path);
      pools.push_back(ring.path);
    }
    check_same_problem(*set_, options);
    text = to_text(set_->ranks());
  });
  const std::string all_pools = job.all.text_of_first(packed(pools));
  const std::string all_text = job.all.text_of_first(text);
  job.all.together("", [&] {
    pools_ = unpacked(all_pools);
    ranks_ = parse_ranks(all_text, "--resume-from");
    assembly_.emplace(ranks_);
    readings_.resize(pools_.size());
    commits_.resize(pools_.size());
  });
}

/// A run that overwrites its pools must not overwrite what it is to continue from.
void EarlierRings::check_others(const Job& job, const std::string& own_pool) const {
  job.all.together(job.node_name(), [&] {
    if (!job.node.is_first()) return;
    for (const std::string& pool : pools_) {
      std::error_code error;
      if (!std::filesystem::equivalent(pool, own_pool, error)) continue;
      throw usage_error("--resume-from: {} is the pool of this run, too ({}); expected another --pool", pool, own_pool);
    }
  });
}

/// The work of verifying is shared: each rank verifies every so many-th ring.
void EarlierRings::agree(const Job& job) {
  const auto size = static_cast<std::size_t>(job.all.size());
  iteration_ = least_agreed(job, "--resume-from: " + job.name(), [&](std::uint64_t limit) {
    std::uint64_t least = limit;
    for (auto n = static_cast<std::size_t>(job.all.rank()); n < pools_.size(); n += size) {
      least = std::min(least, newest_intact(n, limit));
    }
    return least;
  });
  job.all.together("--resume-from", [&] {
    if (iteration_ != 0 || !set_) return;
    throw usage_error("{}: no iteration is held intact by every ring: {}", set_->path(), set_->what_each_holds());
  });
  const std::vector<std::uint64_t> own = commits_;
  check(MPI_Allreduce(own.data(), commits_.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_MAX, job.all.get()),
        "MPI_Allreduce");
}

/// Also notes where the step is.
std::uint64_t EarlierRings::newest_intact(std::size_t node, std::uint64_t most) {
  const RingReader& reader = reading(node).reader;
  const Recovery found = reader.recover();
  for (auto kept = found.kept.rbegin(); kept != found.kept.rend(); ++kept) {
    const SlotHeader& header = kept->header;
    if (header.run_id != ranks_.run_id || header.iteration > most || !reader.verify(*kept).intact()) continue;
    commits_[node] = header.commit_seq;
    return header.iteration;
  }
  return 0;
}

/// Of the first node's ring, by their names.
void EarlierRings::take_scalars(const Job& job, const std::vector<Scalar>& scalars) {
  job.all.together("--resume-from", [&] {
    if (!job.all.is_first()) return;
    Reading& first = reading(0);
    const RingView& ring = first.reader.ring();
    std::optional<StepWithScalars> step;
    if (first.slot) step = verified_step(ring, *first.slot);
    if (!step) throw system_error("{}: iteration {} was overwritten while it was read", pools_[0], iteration_);
    std::vector<ResultDescription> known;
    for (const RunReading& reading : ring.runs()) {
      if (reading.run.run_id != ranks_.run_id) continue;
      known.clear();  // the newest description is the last
      std::ranges::copy_if(reading.catalogue, std::back_inserter(known), [](const ResultDescription& one) {
        return one.source == ResultSource::kScalar;
      });
    }
    for (std::size_t s = 0; s < scalars.size(); ++s) {
      const auto found = std::ranges::find_if(
          known, [&](const ResultDescription& one) { return text_of(one.name) == scalars[s].name; });
      if (found == known.end()) continue;
      if (found->type != scalars[s].type) {
        throw usage_error("{}: its scalar '{}' is {}, that of this run {}; expected the same", pools_[0], scalars[s].name,
                          to_string(found->type), to_string(scalars[s].type));
      }
      scalars_.present |= std::uint64_t{1} << s;
      scalars_.words[s] = step->scalar(static_cast<std::size_t>(found - known.begin()));
    }
  });
  scalars_ = job.all.value_of_first(scalars_);
}

EarlierRings::Reading& EarlierRings::reading(std::size_t node) {
  std::optional<Reading>& reading = readings_[node];
  if (!reading) {
    try {
      reading.emplace(Reading{RingReader::open(pools_[node], std::chrono::milliseconds(0)), std::nullopt});
    } catch (const Error& error) {
      throw Error(error.code(), formatted("{} ({}; expected it under this path on all nodes, as on a shared file system or "
                                          "after `ringside gather`)",
                                          error.what(), ranks_.name_of(node)));
    }
    reading->reader.survive_faults();
  }
  if (!reading->slot && iteration_ != 0) reading->slot = reading->reader.find(commits_[node]);
  return *reading;
}

std::span<const std::byte> EarlierRings::bytes_of(std::size_t node, std::size_t variable) {
  const Reading& found = reading(node);
  if (!found.slot) throw system_error("{}: iteration {} was overwritten while it was read", pools_[node], iteration_);
  const RingView& ring = found.reader.ring();
  const VariablePlace& place = ring.geometry().schema().place(variable);
  return {ring.payload(found.slot->slot) + place.offset, place.bytes};
}

void EarlierRings::copy(std::size_t variable, const Box& box, std::byte* to) {
  const std::vector<std::uint64_t>& shape = ranks_.variables[variable].shape;
  std::vector<IndexRange> wanted;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    wanted.push_back(box.distribution == Distribution::kReplicated
                         ? IndexRange{.count = shape[d]}
                         : IndexRange{.first = box.offset[d], .count = box.extent[d]});
  }
  assembly_->copy(variable, wanted, [&](std::size_t node) { return bytes_of(node, variable); }, to);
}

void EarlierRings::check_still_there() const {
  for (std::size_t n = 0; n < readings_.size(); ++n) {
    const std::optional<Reading>& reading = readings_[n];
    if (!reading || !reading->slot) continue;
    reading->reader.check_intact();
    if (reading->reader.ring().still_holds(reading->slot->slot, reading->slot->header)) continue;
    throw system_error("{}: iteration {} was overwritten while it was read; expected rings of a run that has ended",
                       pools_[n], iteration_);
  }
}

}  // namespace ringside::mpi
