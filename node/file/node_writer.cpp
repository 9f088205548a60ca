// SPDX-License-Identifier: BSD-3-Clause
// Writes a node as JSON.
#include "common/platform/error.hpp"
#include "node/file/node_file.hpp"
#include "node/file/node_words.hpp"

namespace ringside {
namespace {

Json json_of(const Measured& figure) {
  return {{"value", figure.value}, {"spread", figure.spread}};
}

Json json_of(const Series& figures) {
  Json list = Json::array();
  for (const Series::Point& point : figures.points) list.push_back({point.threads, json_of(point.figure)});
  return list;
}

Json json_of(const ProblemSize& size) {
  Json object = {{"matrix", size.matrix}, {"solver", size.solver}, {"format", size.format}};
  object["rows"] = size.rows;
  object["nonzeros"] = size.nonzeros;
  if (size.file) {
    object["file"] = {
        {"path", size.file->path},         {"size_bytes", size.file->size_bytes}, {"mtime_ns", size.file->mtime_ns},
        {"inode", size.file->inode}, {"ctime_ns", size.file->ctime_ns}};
  }
  return object;
}

void put(Json& object, const char* key, const std::optional<Measured>& figure) {
  if (figure) object[key] = json_of(*figure);
}

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Json json_of(const Tier& tier) {
  Json object = {{"name", tier.name}, {"kind", to_string(tier.kind)}};
  put(object, "path", tier.path);
  if (tier.numa_node >= 0) object["numa_node"] = tier.numa_node;
  put(object, "shares_with", tier.shares_with);
  put(object, "sync_s", tier.sync_s);
  put(object, "sync_gb_s", tier.sync_gb_s);
  return object;
}

Json json_of(const Competition& competition) {
  Json object;
  object["first"] = {{"from", competition.first_from}, {"to", competition.first_to}};
  object["second"] = {{"from", competition.second_from}, {"to", competition.second_to}};
  object["rows"] = Json::array();
  for (const CompetitionRow& row : competition.rows) {
    object["rows"].push_back(
        {row.first_threads, row.second_threads, json_of(row.first_gb_s), json_of(row.second_gb_s)});
  }
  return object;
}

Json json_of(const KernelFigures& figures) {
  Json object = {{"kernel", to_string(figures.kernel)}, {"problem", json_of(figures.problem)}};
  object["tier"] = figures.tier;
  if (figures.synced) object["synced"] = true;
  if (figures.moved_bytes) object["moved_bytes"] = *figures.moved_bytes;
  object["seconds"] = json_of(figures.seconds);
  return object;
}

Json json_of(const PairFigures& pair) {
  Json object = {{"first", to_string(pair.first)}, {"second", to_string(pair.second)}};
  object["problem"] = json_of(pair.problem);
  object["tier"] = pair.tier;
  if (pair.synced) object["synced"] = true;
  object["rows"] = Json::array();
  object["rows"].push_back({pair.first_threads, pair.second_threads, json_of(pair.first_s), json_of(pair.second_s)});
  return object;
}

Json json_of(const Fingerprint& fingerprint) {
  return {{"cpu", fingerprint.cpu},       {"cores", fingerprint.cores},
          {"cpus", fingerprint.cpus},     {"memory_bytes", fingerprint.memory_bytes},
          {"kernel", fingerprint.kernel}, {"build", fingerprint.build}};
}

template <class Entries>
void put_list(Json& object, const char* key, const Entries& entries) {
  object[key] = Json::array();
  for (const auto& entry : entries) object[key].push_back(json_of(entry));
}

}  // namespace

Json to_json(const Node& node) {
  Json file = {{"format", kNodeFormat}, {"version", kNodeFormatVersion}};
  file["name"] = node.name;
  file["origin"] = node.origin;
  if (node.fingerprint) file["fingerprint"] = json_of(*node.fingerprint);
  put(file, "measured_at", node.measured_at);
  file["cores"] = node.cores;
  put_list(file, "tiers", node.tiers);
  if (node.clock_ghz) file["clock_ghz"] = json_of(*node.clock_ghz);
  file["streams"] = Json::array();
  for (const StreamFigures& stream : node.streams) {
    Json object = {{"kernel", stream.kernel}, {"tier", stream.tier}};
    object["gb_s"] = json_of(stream.gb_s);
    file["streams"].push_back(object);
  }
  put_list(file, "competitions", node.competitions);
  put_list(file, "kernels", node.kernels);
  put_list(file, "pairs", node.pairs);
  file["costs"] = Json::object();
  put(file["costs"], "hand_off_s", node.costs.hand_off_s);
  put(file["costs"], "wake_up_s", node.costs.wake_up_s);
  put(file["costs"], "loan_s", node.costs.loan_s);
  put(file["costs"], "barrier_s", node.costs.barrier_s);
  file["remarks"] = node.remarks;
  return file;
}

std::string node_text(const Node& node) {
  const auto text_of = [](const Node& of) { return to_json(of).dump(2) + "\n"; };
  constexpr std::string_view kRefused = "no node file was written: the measured figures cannot be read back";
  const std::string text = text_of(node);
  std::string again;
  try {
    again = text_of(parse_node(text, "the new file"));
  } catch (const Error& error) {
    throw system_error("{}: {}", kRefused, error.what());
  }
  if (again != text) throw system_error("{}: the text of the new file gives different figures", kRefused);
  return text;
}

}  // namespace ringside
