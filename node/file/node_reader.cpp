// SPDX-License-Identifier: BSD-3-Clause
// Reads a node from text. Checks every key, figure and name (docs/formats/files.md), and the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/text/printable.hpp"
#include "node/file/checked_json.hpp"
#include "node/file/node_file.hpp"
#include "node/file/node_words.hpp"
#include "node/file/problem_of_solver.hpp"
#include "node/model/channels.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::uint64_t kMostThreads = 65536;
constexpr std::size_t kMostEntries = 4096;
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 48;

/// Returns the index of the value in `names`. The value must be one of them; otherwise the error lists the names after
/// `what`.
std::size_t index_among(const std::vector<std::string_view>& names, const CheckedJson& value,
                        std::string_view what = "one of ") {
  const std::string text = value.text();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) value.refuse(fmt::format("{}{}", what, fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

template <class Table>
auto named(const Table& table, const CheckedJson& value) {
  std::vector<std::string_view> names;
  for (const auto& [kind, name] : table) names.push_back(name);
  return table[index_among(names, value)].first;
}

template <class Names>
std::string name_among(const Names& names, const CheckedJson& value) {
  index_among({names.begin(), names.end()}, value);
  return value.text();
}

Measured measured(const CheckedJson& value) {
  if (value.is_number()) return {.value = value.positive()};
  value.expect_object({"value", "spread"});
  return {.value = value.at("value").positive(), .spread = value.at("spread").spread()};
}

std::optional<Measured> measured_if_there(const CheckedJson& object, std::string_view key) {
  const std::optional<CheckedJson> value = object.find(key);
  if (!value) return std::nullopt;
  return measured(*value);
}

std::string text_if_there(const CheckedJson& object, std::string_view key) {
  const std::optional<CheckedJson> value = object.find(key);
  return value ? value->text() : "";
}

int thread_count(const CheckedJson& value) {
  return static_cast<int>(value.count(1, kMostThreads));
}

Series series(const CheckedJson& list) {
  Series result;
  for (const CheckedJson& item : list.items(1, kMostThreads)) {
    const std::vector<CheckedJson> point = item.items(2, 2);
    const int threads = thread_count(point[0]);
    if (!result.points.empty() && threads <= result.points.back().threads) {
      point[0].refuse(fmt::format("more than {}, the threads of the entry before", result.points.back().threads));
    }
    result.points.push_back({threads, measured(point[1])});
  }
  return result;
}

Tier tier(const CheckedJson& object) {
  object.expect_object({"name", "kind", "path", "numa_node", "shares_with", "sync_s", "sync_gb_s"});
  Tier tier;
  tier.name = object.at("name").text();
  tier.kind = named(kTierKinds, object.at("kind"));
  tier.path = text_if_there(object, "path");
  if (const auto numa_node = object.find("numa_node")) tier.numa_node = static_cast<int>(numa_node->count(0, 1023));
  tier.shares_with = text_if_there(object, "shares_with");
  tier.sync_s = measured_if_there(object, "sync_s");
  tier.sync_gb_s = measured_if_there(object, "sync_gb_s");
  return tier;
}

/// The value must be a tier's name.
std::string tier_name(const CheckedJson& value, const Node& node) {
  std::vector<std::string_view> names;
  for (const Tier& known : node.tiers) names.push_back(known.name);
  index_among(names, value, "the name of a tier: ");
  return value.text();
}

std::vector<Tier> tiers(const CheckedJson& list) {
  Node read;
  for (const CheckedJson& item : list.items(1, kMostEntries)) {
    Tier next = tier(item);
    for (const Tier& before : read.tiers) {
      if (before.name == next.name) item.at("name").refuse("a name that no earlier tier has");
    }
    if (read.tiers.empty() && next.kind != TierKind::kDram) item.at("kind").refuse("dram: the first tier is DRAM");
    if (!next.shares_with.empty() && read.tiers.empty()) {
      item.at("shares_with").refuse("no such key: the first tier has channels of its own");
    }
    if (!next.shares_with.empty()) tier_name(item.at("shares_with"), read);
    read.tiers.push_back(std::move(next));
  }
  return read.tiers;
}

MatrixFile matrix_file_in(const CheckedJson& object) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  object.expect_object({"path", "size_bytes", "mtime_ns", "inode", "ctime_ns"});
  const CheckedJson path = object.at("path");
  if (!path.text().starts_with('/')) path.refuse("an absolute path");
  MatrixFile file{.path = path.text(),
                  .size_bytes = object.at("size_bytes").count(0, kMost),
                  .mtime_ns = static_cast<std::int64_t>(object.at("mtime_ns").count(0, kMost))};
  // Node files of earlier versions lack both keys, so the matrix files that they name count as changed.
  if (const auto inode = object.find("inode")) file.inode = inode->count(0, std::numeric_limits<std::uint64_t>::max());
  if (const auto ctime = object.find("ctime_ns")) file.ctime_ns = static_cast<std::int64_t>(ctime->count(0, kMost));
  return file;
}

ProblemSize problem(const CheckedJson& object) {
  object.expect_object({"matrix", "solver", "format", "rows", "nonzeros", "file"});
  ProblemSize size;
  if (const auto solver = object.find("solver")) {
    size = problem_of_solver(name_among(names_of(solver_choices()), *solver));
  }
  size.matrix = text_if_there(object, "matrix");
  size.format = text_if_there(object, "format");
  size.rows = object.at("rows").count(1, kMostRows);
  size.nonzeros = object.at("nonzeros").count(0, kMostRows);
  if (const auto file = object.find("file")) size.file = matrix_file_in(*file);
  return size;
}

Competition competition(const CheckedJson& object, const Node& node) {
  object.expect_object({"first", "second", "rows"});
  Competition result;
  const auto read_group = [&node](const CheckedJson& group, std::string& from, std::string& to) {
    group.expect_object({"from", "to"});
    from = tier_name(group.at("from"), node);
    to = tier_name(group.at("to"), node);
  };
  read_group(object.at("first"), result.first_from, result.first_to);
  read_group(object.at("second"), result.second_from, result.second_to);
  for (const CheckedJson& item : object.at("rows").items(1, kMostEntries)) {
    const std::vector<CheckedJson> row = item.items(4, 4);
    result.rows.push_back({thread_count(row[0]), thread_count(row[1]), measured(row[2]), measured(row[3])});
  }
  return result;
}

bool is_synced(const CheckedJson& object) {
  const std::optional<CheckedJson> synced = object.find("synced");
  return synced && synced->truth();
}

KernelFigures kernel_figures(const CheckedJson& object, const Node& node) {
  object.expect_object({"kernel", "problem", "tier", "synced", "moved_bytes", "seconds"});
  KernelFigures figures;
  figures.kernel = named(kKernelKinds, object.at("kernel"));
  figures.problem = problem(object.at("problem"));
  figures.tier = tier_name(object.at("tier"), node);
  figures.synced = is_synced(object);
  figures.seconds = series(object.at("seconds"));
  if (const auto bytes = object.find("moved_bytes")) figures.moved_bytes = bytes->positive();
  return figures;
}

void add_stream(Node& node, const CheckedJson& object) {
  object.expect_object({"kernel", "tier", "gb_s"});
  StreamFigures figures;
  figures.kernel = name_among(modelled_streams(), object.at("kernel"));
  figures.tier = tier_name(object.at("tier"), node);
  figures.gb_s = series(object.at("gb_s"));
  for (std::size_t i = 0; i < node.streams.size(); ++i) {
    if (node.streams[i].kernel == figures.kernel && node.streams[i].tier == figures.tier) {
      object.at("kernel").refuse(fmt::format("another kernel or tier than streams[{}]", i));
    }
  }
  node.streams.push_back(std::move(figures));
}

void add_kernel(Node& node, const CheckedJson& object) {
  KernelFigures figures = kernel_figures(object, node);
  for (std::size_t i = 0; i < node.kernels.size(); ++i) {
    const KernelFigures& before = node.kernels[i];
    if (before.kernel == figures.kernel && before.tier == figures.tier && before.synced == figures.synced &&
        before.problem == figures.problem) {
      object.at("kernel").refuse(fmt::format("another kernel, problem, tier or synced than kernels[{}]", i));
    }
  }
  node.kernels.push_back(std::move(figures));
}

/// The pairs of all entries read so far, each with the splits of its rows.
class KnownPairs {
 public:
  /// The index of the pair. An earlier entry may already have this pair, because each split may have its own entry.
  std::size_t index_of(const PairFigures& pair) {
    const auto same = [&pair](const PairFigures& other) {
      return other.first == pair.first && other.second == pair.second && other.tier == pair.tier &&
             other.synced == pair.synced && other.problem == pair.problem;
    };
    const auto found = std::find_if(pairs_.begin(), pairs_.end(), same);
    if (found != pairs_.end()) return static_cast<std::size_t>(found - pairs_.begin());
    pairs_.push_back(pair);
    return pairs_.size() - 1;
  }

  /// The number of rows of all entries.
  std::size_t rows() const noexcept { return splits_.size(); }

  /// Adds a split to the pair. Returns false if the pair already had this split.
  bool add_split(std::size_t pair, int first_threads, int second_threads) {
    return splits_.insert({pair, first_threads, second_threads}).second;
  }

 private:
  std::vector<PairFigures> pairs_;
  std::set<std::tuple<std::size_t, int, int>> splits_;
};

void add_pairs(Node& node, KnownPairs& known, const CheckedJson& object) {
  object.expect_object({"first", "second", "problem", "tier", "synced", "rows"});
  PairFigures pair;
  constexpr KernelKind kSeconds[] = {KernelKind::kTransfer, KernelKind::kTransferReduced, KernelKind::kAnalyze,
                                     KernelKind::kSweep};
  std::vector<std::string_view> seconds;
  for (const KernelKind second : kSeconds) seconds.push_back(to_string(second));
  pair.first = KernelKind::kGenerate;
  index_among({to_string(pair.first)}, object.at("first"), "");
  pair.second = kSeconds[index_among(seconds, object.at("second"))];
  pair.problem = problem(object.at("problem"));
  pair.tier = tier_name(object.at("tier"), node);
  pair.synced = is_synced(object);
  const std::size_t index = known.index_of(pair);
  for (const CheckedJson& item : object.at("rows").items(1, kMostEntries)) {
    const std::vector<CheckedJson> row = item.items(4, 4);
    pair.first_threads = thread_count(row[0]);
    pair.second_threads = thread_count(row[1]);
    if (pair.first_threads >= node.cores) row[0].refuse(fmt::format("less than the node's cores ({})", node.cores));
    if (pair.first_threads + pair.second_threads > node.cores) {
      row[1].refuse(fmt::format("at most {}: both kernels together have the {} cores of the node",
                                node.cores - pair.first_threads, node.cores));
    }
    if (known.rows() == kMostEntries) {
      object.at("rows").refuse(fmt::format("at most {} rows in all pairs together", kMostEntries));
    }
    if (!known.add_split(index, pair.first_threads, pair.second_threads)) {
      row[0].refuse(
          fmt::format("a new split: {} and {} threads already have a row", pair.first_threads, pair.second_threads));
    }
    pair.first_s = measured(row[2]);
    pair.second_s = measured(row[3]);
    node.pairs.push_back(pair);
  }
}

/// "2026-11-23T01:00:00Z".
std::string utc_time(const CheckedJson& value) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  const std::string text = value.text();
  const auto fits = [](char found, char form) { return form == 'd' ? found >= '0' && found <= '9' : found == form; };
  if (!std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), fits)) {
    value.refuse("a time in UTC such as \"2026-11-23T01:00:00Z\"");
  }
  return text;
}

Fingerprint fingerprint(const CheckedJson& object) {
  object.expect_object({"cpu", "cores", "cpus", "memory_bytes", "kernel", "build"});
  return {.cpu = object.at("cpu").text(),
          .cores = thread_count(object.at("cores")),
          .cpus = object.at("cpus").text(),
          .memory_bytes = object.at("memory_bytes").count(0, kMostRows),
          .kernel = object.at("kernel").text(),
          .build = object.at("build").text()};
}

std::vector<CheckedJson> items_if_there(const CheckedJson& object, std::string_view key) {
  const std::optional<CheckedJson> list = object.find(key);
  return list ? list->items(0, kMostEntries) : std::vector<CheckedJson>();
}

void expect_version(const CheckedJson& file) {
  if (file.at("format").text() != kNodeFormat) file.at("format").refuse(fmt::format("\"{}\"", kNodeFormat));
  const CheckedJson version = file.at("version");
  if (version.count(1, kMostRows) > kNodeFormatVersion) {
    version.refuse(fmt::format("{}: a newer Ringside wrote this file", kNodeFormatVersion));
  }
}

Node node_from(const CheckedJson& file) {
  file.expect_object({"format", "version", "name", "origin", "fingerprint", "measured_at", "cores", "tiers",
                      "clock_ghz", "streams", "competitions", "kernels", "pairs", "costs", "remarks"});
  expect_version(file);
  Node node;
  node.name = file.at("name").text();
  node.origin = file.at("origin").text();
  if (const auto object = file.find("fingerprint")) node.fingerprint = fingerprint(*object);
  if (const auto time = file.find("measured_at")) node.measured_at = utc_time(*time);
  node.cores = thread_count(file.at("cores"));
  if (node.fingerprint && node.fingerprint->cores != node.cores) {
    file.at("cores").refuse(fmt::format("{}, the cores of the fingerprint", node.fingerprint->cores));
  }
  node.tiers = tiers(file.at("tiers"));
  if (const auto list = file.find("clock_ghz")) node.clock_ghz = series(*list);
  for (const CheckedJson& item : file.at("streams").items(1, kMostEntries)) {
    add_stream(node, item);
  }
  for (const CheckedJson& item : items_if_there(file, "competitions")) {
    node.competitions.push_back(competition(item, node));
  }
  for (const CheckedJson& item : file.at("kernels").items(1, kMostEntries)) {
    add_kernel(node, item);
  }
  KnownPairs known;
  for (const CheckedJson& item : items_if_there(file, "pairs")) add_pairs(node, known, item);
  if (const auto costs = file.find("costs")) {
    costs->expect_object({"hand_off_s", "wake_up_s", "loan_s", "barrier_s"});
    node.costs = {measured_if_there(*costs, "hand_off_s"), measured_if_there(*costs, "wake_up_s"),
                  measured_if_there(*costs, "loan_s"), measured_if_there(*costs, "barrier_s")};
  }
  for (const CheckedJson& item : items_if_there(file, "remarks")) node.remarks.push_back(item.text());
  return node;
}

}  // namespace

Node parse_node(std::string_view text, const std::string& name) {
  constexpr std::size_t kDeepest = 8;  // a node file has six levels
  JsonFlaws flaws;
  flaws.deepest = kDeepest;
  const Json parsed = Json::try_parse(text, &flaws);
  if (flaws.too_deep) throw usage_error("{}: found values nested deeper than in any node file", name);
  if (flaws.repeated_key) {
    throw usage_error("{}: found the key '{}' twice in one object, expected each key once", name,
                      shortened(*flaws.repeated_key));
  }
  if (parsed.is_discarded()) {
    throw usage_error("{}: found no complete JSON object; expected a node file as `ringside calibrate` writes it",
                      name);
  }
  return node_from(CheckedJson(parsed, name));
}

Node read_node(const std::string& path) {
  const RegularFile file = open_input(path);
  if (!file.valid()) {
    if (file.error == EACCES) throw system_error("{}: {}", path, file.why());
    throw usage_error("{}: {}; `ringside calibrate` measures this node and writes such a file", path, file.why());
  }
  std::string text;
  const int error = read_to_end(file.fd.get(), text, kMostBytes);
  if (error != 0) throw system_error("{}: {}", path, errno_text(error));
  if (text.size() > kMostBytes) {
    throw usage_error("{}: found a file of more than {} bytes, expected a node file", path, kMostBytes);
  }
  return parse_node(text, path);
}

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
