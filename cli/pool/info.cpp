// SPDX-License-Identifier: BSD-3-Clause
// `ringside info POOL`: shows what a pool holds, without becoming its owner.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "analyzer/ring/kept_results.hpp"
#include "cli/pool/journal_identity.hpp"
#include "cli/pool/journal_summary.hpp"
#include "cli/pool/pool_report.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/json/json.hpp"
#include "common/node_rings/ring_set.hpp"
#include "common/options/command_line.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/program/schema_json.hpp"
#include "common/records/shown_results.hpp"
#include "common/results/result_description.hpp"
#include "common/text/printable.hpp"
#include "common/text/utc_text.hpp"
#include "common/triggers/pool_freeze.hpp"

namespace ringside {
namespace {

Json describe_run(const RunReading& reading) {
  const RunDescription& run = reading.run;
  return {{"run_id", to_string(run.run_id)},
          {"problem_id", to_string(run.problem_id)},
          {"started", utc_text(run.started_realtime_ns)},
          {"solver", text_of(run.solver)},
          {"matrix", text_of(run.matrix)},
          {"parameters", text_of(run.parameters)},
          {"rows", run.entries},
          {"nonzeros", run.nonzeros}};
}

/// {"solver.rho": 0.25}
Json scalars_to_json(const Catalogue& catalogue, const StepWithScalars& step) {
  Json object = Json::object();
  for (const Result& result : catalogue.results()) {
    if (result.source != ResultSource::kScalar) continue;
    ScalarValue value;
    value.word = step.scalar(result.word);
    object[result.full_name] = result.type == ValueType::kF64 ? Json(value.f64()) : Json(value.i64());
  }
  return object;
}

Json describe_slot(const RingView& ring, const KeptSlot& kept) {
  Json slot = {{"slot", kept.slot},
               {"commit_seq", kept.header.commit_seq},
               {"iteration", kept.header.iteration},
               {"step", kept.header.step},
               {"run_id", to_string(kept.header.run_id)}};
  Reductions reductions;
  const bool x_only = ring.geometry().schema().is_x_only();
  slot["reductions"] = x_only && ring.reductions(kept.slot, kept.header, reductions) == ResultsState::kRecorded
                           ? Json(to_json_in_full(reductions, kept.header.iteration))
                           : Json();
  slot["results"] = Json();
  slot["scalars"] = Json();
  SlotResults recorded;
  if (ring.results(kept.slot, kept.header, recorded) != ResultsState::kRecorded) return slot;
  if (const auto catalogue = ring.catalogue(kept.header.run_id, recorded.catalogue_hash)) {
    slot["results"] = results_to_json(*catalogue, recorded.words);
    if (const auto step = verified_step(ring, kept)) slot["scalars"] = scalars_to_json(*catalogue, *step);
  }
  return slot;
}

/// The freeze of the run of the newest step, if the ring is frozen.
std::optional<PoolFreeze> freeze_of_newest(const std::string& pool, const Id128& pool_id, const Recovery& recovery) {
  if (recovery.kept.empty()) return std::nullopt;
  return freeze_of(pool, pool_id, recovery.kept.back().header.run_id);
}

bool has_archive(const std::string& pool) {
  std::error_code error;
  return std::filesystem::exists(archive_path(pool), error);
}

Json describe(const RingReader& reader, const Recovery& recovery) {
  const RingView& ring = reader.ring();
  const RingGeometry& shape = ring.geometry();
  Json info = {{"pool", reader.path().string()},
               {"pool_id", to_string(shape.pool_id)},
               {"format_version", shape.version},
               {"created", utc_text(shape.created_realtime_ns)},
               {"storage", to_string(reader.storage())},
               {"file_bytes", shape.file_bytes},
               {"slots", shape.slot_count()},
               {"rows", shape.entries()},
               {"variables", variables_to_json(shape.schema())},
               {"payload_bytes", shape.payload_bytes()},
               {"chunk_bytes", shape.chunk_bytes},
               {"kept", recovery.kept.size()},
               {"contiguous", recovery.contiguous},
               {"damaged_headers", recovery.damaged.size()},
               {"runs", Json::array()},
               {"iterates", Json::array()}};
  const std::string pool = reader.path().string();
  const std::optional<PoolFreeze> freeze = freeze_of_newest(pool, shape.pool_id, recovery);
  info["frozen"] =
      freeze ? Json{{"iteration", freeze->iteration}, {"trigger", freeze->trigger}, {"at", utc_text(freeze->unix_ns)}}
             : Json();
  info["archive"] = has_archive(pool) ? Json(archive_path(pool)) : Json();
  const std::optional<JournalSummary> journal = summarize_journal(pool);
  info["journal"] = journal ? to_json(*journal) : Json();
  if (journal) {
    const JournalIdentity identity = identify(journal->named, pool, ring);
    info["journal"]["foreign"] = identity.foreign;
    info["journal"]["older"] = identity.older;
  }
  for (const RunReading& run : ring.runs()) info["runs"].push_back(describe_run(run));
  for (const KeptSlot& kept : recovery.kept) info["iterates"].push_back(describe_slot(ring, kept));
  return info;
}

void print(const RingReader& reader, const Recovery& recovery) {
  const RingView& ring = reader.ring();
  const RingGeometry& shape = ring.geometry();
  fmt::print("pool      {} ({}, {}), format {}, created {}\n", printable(reader.path().string()),
             megabytes(shape.file_bytes), to_string(reader.storage()), shape.version,
             utc_text(shape.created_realtime_ns));
  const bool x_only = shape.schema().is_x_only();
  fmt::print("ring      {} slots of {} ({} each); {} iterates kept{}\n", shape.slot_count(),
             x_only ? with_separators(shape.entries()) + " rows"
                    : fmt::format("{} variable{}", shape.schema().size(), shape.schema().size() == 1 ? "" : "s"),
             megabytes(shape.payload_bytes()), recovery.kept.size(),
             recovery.damaged.empty() ? "" : fmt::format(", {} slots with damaged headers", recovery.damaged.size()));
  for (const Variable& variable : shape.schema().variables()) {
    if (!x_only) fmt::print("variable  {}\n", to_text(variable));
  }
  if (const auto freeze = freeze_of_newest(reader.path().string(), shape.pool_id, recovery)) {
    fmt::print("frozen    since iteration {} by the trigger '{}', {}; `ringside thaw` ends this\n",
               with_separators(freeze->iteration), printable(freeze->trigger), utc_text(freeze->unix_ns));
  }
  if (has_archive(reader.path().string())) {
    fmt::print("archive   {}: steps that triggers kept\n", printable(archive_path(reader.path().string())));
  }
  if (const auto journal = summarize_journal(reader.path().string())) {
    if (!journal->kind.empty()) {
      fmt::print("journal   {} ({} bytes), {} records{}\n", journal->kind, with_separators(journal->file_bytes),
                 with_separators(journal->records),
                 journal->records == 0 ? ""
                                       : fmt::format(", {} to {}", with_separators(journal->oldest_seq),
                                                     with_separators(journal->newest_seq)));
    }
    if (journal->steps_missing > 0) fmt::print("          {}\n", missing_text(*journal));
    for (const auto& [name, one] : journal->analyses) {
      fmt::print("          {}: {}, the last {:.6g} of iteration {}\n", printable(name), counted(one.records, "value"), one.value,
                 with_separators(one.iteration));
    }
    for (const auto& [name, one] : journal->marks) {
      const std::string last = with_separators(one.last_iteration);
      fmt::print("          {} marked by {}{}\n",
                 one.records == 1 ? "iteration " + last
                                  : fmt::format("{} iterations, {} to {},", with_separators(one.records),
                                                with_separators(one.first_iteration), last),
                 printable(name.second), name.first.empty() ? "" : " '" + printable(name.first) + "'");
    }
    if (!journal->torn.empty()) fmt::print("          {}\n", printable(journal->torn));
    if (!journal->damage.empty()) fmt::print("          DAMAGED: {}\n", printable(journal->damage));
    const JournalIdentity identity = identify(journal->named, reader.path().string(), ring);
    if (!identity.foreign.empty()) fmt::print("          NOT THIS POOL'S: {}\n", printable(identity.foreign));
    if (!identity.older.empty()) fmt::print("          {}\n", printable(identity.older));
  }
  for (const RunReading& reading : ring.runs()) {
    const RunDescription& run = reading.run;
    // A program of the user need not report how much work its problem is.
    const std::string work = run.nonzeros > 0 ? fmt::format(", {} nonzeros", with_separators(run.nonzeros)) : "";
    fmt::print("run       {} started {}\n          {}{}\n          problem {}\n", to_string(run.run_id),
               utc_text(run.started_realtime_ns),
               problem_text(text_of(run.solver), text_of(run.matrix), text_of(run.parameters)), work,
               to_string(run.problem_id));
  }
  if (recovery.kept.empty()) return;
  fmt::print("\n{:>5} {:>11} {:>10}  {:<9} {:>13} {:>13} {:>13} {:>13}\n", "slot", "iteration", "step", "run", "mean",
             "L1", "Linf", "L1 change");
  KeptResults results(ring);
  const bool has_field = first_field(shape.schema()) != nullptr;
  for (const KeptSlot& kept : recovery.kept) {
    const std::string run = to_string(kept.header.run_id).substr(0, 8);
    const std::optional<ReductionScalars> shown = results.shown(kept);
    fmt::print("{:>5} {:>11} {:>10}  {:<9}", kept.slot, with_separators(kept.header.iteration),
               with_separators(kept.header.step), run);
    if (shown) {
      fmt::print(" {:>13.6g} {:>13.6g} {:>13.6g} {:>13}\n", shown->mean, shown->l1, shown->linf,
                 shown->has_change ? fmt::format("{:.6g}", shown->change_l1) : "-");
    } else {
      fmt::print(" {}\n", has_field ? "(reductions not recorded)" : "(no field, so no reductions)");
    }
  }
}

std::vector<std::uint64_t> iterations_of(const NodeRing& ring, const Id128& run_id) {
  std::vector<std::uint64_t> iterations;
  for (const auto& [iteration, slot] : ring.kept(run_id)) iterations.push_back(iteration);
  return iterations;
}

/// The iterations that all rings keep; empty if a ring cannot be read.
std::optional<std::vector<std::uint64_t>> held_by_all(const RingSet& set) {
  if (set.code() != ExitCode::kDone) return std::nullopt;
  std::vector<std::uint64_t> iterations;
  for (const StepOfRings& step : set.steps()) iterations.push_back(step.iteration);
  return iterations;
}

Json describe(const RingSet& set) {
  const RanksFile& ranks = set.ranks();
  Json info = {{"rings", set.path()},    {"run_id", to_string(ranks.run_id)},
               {"ranks", ranks.ranks()}, {"variables", variables_to_json(ranks.variables)},
               {"iterations", Json()},   {"nodes", Json::array()}};
  if (const auto all = held_by_all(set)) info["iterations"] = *all;
  for (std::size_t n = 0; n < set.nodes().size(); ++n) {
    const NodeRing& ring = set.nodes()[n];
    Json its_ranks = Json::array();
    for (const RanksFile::Rank& rank : ranks.nodes[n].ranks) its_ranks.push_back(rank.rank);
    info["nodes"].push_back({{"node", n},
                             {"host", ranks.nodes[n].host},
                             {"pool", ring.path},
                             {"ranks", std::move(its_ranks)},
                             {"keeps", ring.layout.regions},
                             {"iterations", ring.reader ? Json(iterations_of(ring, ranks.run_id)) : Json()},
                             {"error", ring.why ? Json(ring.why->what()) : Json()}});
  }
  return info;
}

void print(const RingSet& set) {
  const RanksFile& ranks = set.ranks();
  fmt::print("rings     {}: {} of {}, run {}\n", printable(set.path()), counted(ranks.nodes.size(), "node"),
             counted(ranks.ranks(), "rank"), to_string(ranks.run_id));
  for (const Variable& variable : ranks.variables) fmt::print("variable  {}\n", printable(to_text(variable)));
  for (std::size_t n = 0; n < set.nodes().size(); ++n) {
    const NodeRing& ring = set.nodes()[n];
    const std::string host = ranks.nodes[n].host.empty() ? "" : " on " + ranks.nodes[n].host;
    if (ring.why) {
      fmt::print("{}{}: {}\n", ring.name, printable(host), printable(ring.why->what()));
      continue;
    }
    fmt::print("{}{}: {}, iterations {}\n          {}\n", ring.name, printable(host), printable(ring.path),
               iterations_text(iterations_of(ring, ranks.run_id)), printable(ring.layout.regions));
  }
  if (const auto all = held_by_all(set)) {
    fmt::print("all       hold {}\n", all->empty() ? "no common iteration" : "iterations " + iterations_text(*all));
  }
}

/// Describes the rings of several nodes. Returns the exit code, which is not 0 if a ring cannot be read.
int show_rings(const std::string& path, bool json) {
  const RingSet set = RingSet::open(path);
  if (json) {
    fmt::print("{}\n", describe(set).dump(2));
  } else {
    print(set);
  }
  return static_cast<int>(set.code());
}

}  // namespace

int info_command(int argc, const char* const* argv) {
  std::string pool;
  bool json = false;
  CommandLine line(
      "Shows what a pool holds: runs, iterations, slots, sizes, storage. Works while an analyzer uses it. For\n"
      "rings of several nodes, it shows which iterations each ring holds, and which all rings hold.",
      "ringside info");
  line.option("POOL", pool, kPoolOrRings).required().value_name("FILE");
  line.flag("--json", json, "print one JSON object, with every recorded reduction");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (names_rings(pool)) return show_rings(pool, json);
  const RingReader reader = RingReader::open(pool);
  const Recovery recovery = reader.recover();
  if (json) {
    // File names may contain bytes that are not UTF-8; the pool must be described nevertheless.
    fmt::print("{}\n", describe(reader, recovery).dump(2));
  } else {
    print(reader, recovery);
  }
  return 0;
}

}  // namespace ringside
