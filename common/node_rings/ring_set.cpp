// SPDX-License-Identifier: BSD-3-Clause
#include "common/node_rings/ring_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::string pool_of(const std::string& ranks_file) {
  return ranks_file.substr(0, ranks_file.size() - kRanksEnding.size());
}

/// Whether the file does not exist. Returns false if this cannot be determined, as in an unreadable folder: opening the
/// file then reports the reason.
bool is_absent(const std::string& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::not_found;
}

/// The ranks files in a folder, sorted by name.
std::vector<std::string> ranks_files_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().string();
    if (name.ends_with(kRanksEnding)) found.push_back(name);
  }
  if (error) throw system_error("{}: the folder cannot be read ({})", folder, errno_text(error.value()));
  if (found.empty()) {
    throw usage_error(
        "{}: found no file in this folder that ends with {}; expected a pool, or a folder with all rings of an MPI run",
        folder, kRanksEnding);
  }
  std::ranges::sort(found);
  return found;
}

/// The ranks files of one run, by node.
struct OneRun {
  RanksFile ranks;                           // read from the first of the files
  std::map<std::size_t, std::string> files;  // the path of each node's file
};

OneRun one_run_of(const std::string& folder) {
  std::optional<OneRun> run;
  std::optional<RanksOfOtherNodes> others;
  for (const std::string& name : ranks_files_in(folder)) {
    const std::string text = read_ranks_text(name);
    if (run && !others) others.emplace(run->ranks);
    std::optional<std::uint32_t> node = others ? others->node_of(text) : std::nullopt;
    if (!node) {
      RanksFile ranks = parse_ranks(text, name);
      node = ranks.node;
      if (!run) {
        run = OneRun{std::move(ranks), {}};
      } else if (ranks.run_id != run->ranks.run_id || ranks.problem_id != run->ranks.problem_id ||
                 ranks.nodes.size() != run->ranks.nodes.size()) {
        throw usage_error(
            "{}: found rings of several runs: {} (run {}) and {} (run {}); expected the rings of one run, or the name "
            "of a ranks file",
            folder, run->files.begin()->second, to_string(run->ranks.run_id), name, to_string(ranks.run_id));
      }
    }
    const auto [place, is_new] = run->files.emplace(*node, name);
    if (!is_new) {
      throw usage_error("{}: {} and {} both belong to node {} of run {}; expected only one of them", folder,
                        place->second, name, *node, to_string(run->ranks.run_id));
    }
  }
  return std::move(*run);
}

/// Where the pool of a node may be if it is not beside the node's own ranks file: at its place during the run
/// (`recorded`), or in `folder`.
std::vector<std::string> recorded_places(const std::string& recorded, const fs::path& folder) {
  if (recorded.empty()) return {};
  const fs::path path(recorded);
  const std::string beside = (folder / path.filename()).string();
  if (path.is_relative()) return {(folder / path).lexically_normal().string()};
  return {recorded, beside};
}

}  // namespace

bool names_rings(const std::string& pool) {
  std::error_code error;
  return pool.ends_with(kRanksEnding) || fs::is_directory(pool, error);
}

ExitCode code_with(ExitCode so_far, ExitCode next) noexcept {
  return so_far == ExitCode::kDone || next == ExitCode::kDamaged ? next : so_far;
}

std::map<std::uint64_t, KeptSlot> NodeRing::kept(const Id128& run_id) const {
  std::map<std::uint64_t, KeptSlot> kept;
  for (const KeptSlot& slot : reader->recover().kept) {
    if (slot.header.run_id == run_id) kept[slot.header.iteration] = slot;
  }
  return kept;
}

RingSet::RingSet(std::string path, RanksFile ranks) : path_(std::move(path)), ranks_(std::move(ranks)) {
  for (std::size_t n = 0; n < ranks_.nodes.size(); ++n) {
    nodes_.push_back({ranks_.name_of(n), ranks_.nodes[n].pool, std::nullopt, std::nullopt, ranks_.layout_of(n)});
  }
}

RingSet RingSet::open(const std::string& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  OneRun run = is_folder ? one_run_of(path) : OneRun{read_ranks(path), {}};
  if (!is_folder) run.files[run.ranks.node] = path;
  RingSet set(path, std::move(run.ranks));
  const fs::path folder = is_folder ? fs::path(path) : fs::path(path).parent_path();
  for (std::size_t n = 0; n < set.nodes_.size(); ++n) {
    const auto own = run.files.find(n);
    const std::string beside = own == run.files.end() ? std::string() : pool_of(own->second);
    // If a ranks file was copied without its pool, the recorded place is used.
    const bool is_there = !beside.empty() && !is_absent(beside);
    set.open_ring(n, is_there ? std::vector<std::string>{beside} : recorded_places(set.ranks_.nodes[n].pool, folder));
  }
  return set;
}

void RingSet::open_ring(std::size_t node, const std::vector<std::string>& candidates) {
  NodeRing& ring = nodes_[node];
  for (const std::string& pool : candidates) {
    if (is_absent(pool)) continue;
    try {
      RingReader reader = confirmed(node, pool);
      ring.path = pool;
      ring.reader = std::move(reader);
      ring.why.reset();
      return;
    } catch (const Error& failure) {
      if (!ring.why) {
        ring.path = pool;
        ring.why = failure;
      }
    }
  }
  if (ring.why) return;
  const std::string& host = ranks_.nodes[node].host;
  const std::string of_host = host.empty() ? "" : fmt::format(" (node {})", host);
  if (candidates.empty()) {
    ring.why = usage_error(
        "the path of its pool is unknown{}; expected the pool and its ranks file in the same folder as the others",
        of_host);
    return;
  }
  ring.path = candidates.front();
  ring.why = usage_error(
      "{}: there is no such pool{}; expected the pool there, or in the same folder as the others (`ringside gather`)",
      ring.path, of_host);
}

/// Throws Error unless the pool is the ring of that node.
RingReader RingSet::confirmed(std::size_t node, const std::string& pool) const {
  RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
  std::optional<RunDescription> run;
  std::optional<RunDescription> other;
  for (const RunReading& reading : reader.ring().runs()) {
    (reading.run.run_id == ranks_.run_id ? run : other) = reading.run;
  }
  if (!run) {
    throw usage_error("{}: it belongs to {}, not to run {}", pool,
                      other ? "run " + to_string(other->run_id) : std::string("no run"), to_string(ranks_.run_id));
  }
  const auto keeps = [&](const NodeLayout& layout) {
    const Id128 problem = problem_id_with(node_problem_id(ranks_.problem_id, layout.regions), layout.schema);
    return run->problem_id == problem && reader.ring().geometry().schema() == layout.schema;
  };
  if (keeps(nodes_[node].layout)) return reader;
  for (const NodeRing& one : nodes_) {
    if (keeps(one.layout)) throw usage_error("{}: it is the ring of {}, not of this node", pool, one.name);
  }
  throw usage_error("{}: it keeps other entries than the ranks file lists: found {}, expected {}", pool,
                    text_of(run->parameters), nodes_[node].layout.regions);
}

std::vector<std::string> RingSet::failures() const {
  std::vector<std::string> lines;
  for (const NodeRing& ring : nodes_) {
    if (ring.why) lines.push_back(fmt::format("{}: {}", ring.name, ring.why->what()));
  }
  return lines;
}

ExitCode RingSet::code() const noexcept {
  ExitCode code = ExitCode::kDone;
  for (const NodeRing& ring : nodes_) {
    if (ring.why) code = code_with(code, ring.why->code());
  }
  return code;
}

void RingSet::expect_all() const {
  if (code() != ExitCode::kDone) throw Error(code(), fmt::format("{}: {}", path_, fmt::join(failures(), "; ")));
}

std::vector<StepOfRings> RingSet::steps() const {
  std::map<std::uint64_t, StepOfRings> by_iteration;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const auto& [iteration, slot] : nodes_[n].kept(ranks_.run_id)) {
      StepOfRings& step = by_iteration[iteration];
      step.iteration = iteration;
      if (step.slots.size() == n) step.slots.push_back(slot);
    }
  }
  std::vector<StepOfRings> steps;
  for (auto& [iteration, step] : by_iteration) {
    if (step.slots.size() == nodes_.size()) steps.push_back(std::move(step));
  }
  return steps;
}

std::string RingSet::what_each_holds() const {
  std::vector<std::string> texts;
  for (const NodeRing& ring : nodes_) {
    std::vector<std::uint64_t> iterations;
    for (const auto& [iteration, slot] : ring.kept(ranks_.run_id)) iterations.push_back(iteration);
    texts.push_back(fmt::format("{} holds {}", ring.name, iterations_text(iterations)));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string iterations_text(const std::vector<std::uint64_t>& iterations) {
  if (iterations.empty()) return "no step";
  constexpr std::size_t kMostGroups = 4;
  std::vector<std::string> groups;
  for (std::size_t begin = 0, end = 0; begin < iterations.size(); begin = end) {
    for (end = begin + 1; end < iterations.size() && iterations[end] == iterations[end - 1] + 1;) ++end;
    groups.push_back(end == begin + 1 ? fmt::format("{}", iterations[begin])
                                      : fmt::format("{} to {}", iterations[begin], iterations[end - 1]));
  }
  const std::size_t left_out = groups.size() > kMostGroups ? groups.size() - kMostGroups : 0;
  return fmt::format("{}{}", left_out > 0 ? "..., " : "",
                     fmt::join(groups.begin() + static_cast<std::ptrdiff_t>(left_out), groups.end(), ", "));
}

}  // namespace ringside
