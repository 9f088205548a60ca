// SPDX-License-Identifier: BSD-3-Clause
// `ringside replay POOL`: reduces the kept iterates again, in order and from their bytes, and compares the results with
// the recorded ones.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/pool/ring_replay.hpp"
#include "analyzer/ring/kept_results.hpp"
#include "cli/pool/journal_comparison.hpp"
#include "cli/pool/journal_identity.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/pool/pool_report.hpp"
#include "cli/pool/recorded_plug_ins.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "cli/terminal/terminal_line.hpp"
#include "common/files/standard_streams.hpp"
#include "common/json/json.hpp"
#include "common/node_rings/ring_set.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

struct VerdictName {
  ReplayVerdict verdict;
  const char* name;   // text for one iterate; also a key of the last JSON object, with _ for each blank
  const char* count;  // text that follows a number of iterates
};
constexpr std::array kVerdicts = {
    VerdictName{ReplayVerdict::kEqual, "equal", "equal to what was recorded"},
    VerdictName{ReplayVerdict::kDiffers, "differs", "DIFFER"},
    VerdictName{ReplayVerdict::kNotRecorded, "not recorded", "without recorded reductions"},
    VerdictName{ReplayVerdict::kReductionsDamaged, "reductions damaged", "with DAMAGED reductions"},
    VerdictName{ReplayVerdict::kOverwritten, "overwritten", "overwritten while they were read"},
    VerdictName{ReplayVerdict::kDamaged, "damaged", "DAMAGED"},
};

const VerdictName& name_of(ReplayVerdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

/// The iterates to replay: the kept iterates in the range, and the kept iterate before them, if any.
struct Selection {
  std::optional<KeptSlot> before;
  std::vector<KeptSlot> iterates;
};

Selection select(const Recovery& recovery, const std::string& pool, const std::string& from, const std::string& to) {
  const IterationRange range = parse_range(from, to);
  Selection selection;
  for (const KeptSlot& kept : recovery.kept) {
    if (range.contains(kept.header.iteration)) {
      selection.iterates.push_back(kept);
    } else if (selection.iterates.empty()) {
      selection.before = kept;
    }
  }
  if (selection.iterates.empty() && !(from.empty() && to.empty())) {
    if (recovery.kept.empty()) throw usage_error("{}: the pool holds no iterates", pool);
    throw usage_error("{}{}{}{}{}: none of these iterations is kept in {}; {}{}", from.empty() ? "" : "--from ", from,
                      from.empty() || to.empty() ? "" : " ", to.empty() ? "" : "--to ", to, pool,
                      kept_iterations(recovery), in_the_archive(pool, recovery, range));
  }
  return selection;
}

/// Prints one replay: as a table for the user, or as one line of JSON per iterate.
class Output {
 public:
  /// node: the number of the node to which the ring belongs, if there are several nodes; else empty.
  Output(const RingReader& reader, const RingReplay& replay, std::optional<JournalComparison>& journal, bool json,
         std::optional<std::size_t> node)
      : node_(node),
        pool_(reader.path().string()),
        ring_(reader.ring()),
        replay_(replay),
        kept_results_(ring_),
        journal_(journal),
        identity_(journal ? identify(journal->summary().named, pool_, ring_) : JournalIdentity()),
        json_(json) {}

  void show(const ReplayedIterate& iterate) {
    ++counts_[static_cast<std::size_t>(iterate.verdict)];
    const bool reduced = !iterate.words.empty();
    const std::optional<Reductions> shown = reduced ? replay_.shown(iterate.words) : std::nullopt;
    if (journal_) journal_->compare(iterate, reduced ? replay_.results(iterate.words) : StepResults());
    if (json_) {
      Json object = to_json(iterate, shown);
      if (journal_) object["journal"] = journal_->last_as_json();
      print(object);
    } else {
      print_row(iterate, shown);
    }
  }

  /// Prints the damage outside the iterates, and the last line. Returns the exit code.
  ExitCode finish(const std::vector<std::uint32_t>& damaged_headers, const TwinsCheck& twins,
                  const std::vector<std::string>& missing_plug_ins) const {
    const bool intact = count(ReplayVerdict::kDiffers) == 0 && count(ReplayVerdict::kReductionsDamaged) == 0 &&
                        count(ReplayVerdict::kDamaged) == 0 && damaged_headers.empty() && twins.intact() &&
                        (!journal_ || journal_->intact()) && identity_.foreign.empty();
    if (json_) {
      Json last = {{"pool", pool_}, {"intact", intact}, {"iterates", total()}};
      for (const VerdictName& verdict : kVerdicts) last[key_of(verdict)] = count(verdict.verdict);
      last["damaged_headers"] = damaged_headers;
      add_to(last, twins);
      if (!missing_plug_ins.empty()) last["not_recomputed"] = missing_plug_ins;
      if (journal_) last["journal"] = journal_->as_json();
      if (journal_) last["journal"]["foreign"] = identity_.foreign;
      if (journal_) last["journal"]["older"] = identity_.older;
      print(last);
    } else {
      if (journal_) journal_->print();
      for (const std::string& line : missing_plug_ins) fmt::print("{}\n", printable(line));
      if (!identity_.foreign.empty()) fmt::print("journal: NOT THIS POOL'S: {}\n", printable(identity_.foreign));
      if (!identity_.older.empty()) fmt::print("journal: {}\n", printable(identity_.older));
      for (const std::uint32_t slot : damaged_headers) fmt::print("{}\n", describe_damaged_header(slot));
      for (const std::string& line : describe(twins)) fmt::print("{}\n", line);
      fmt::print("{}: {}\n", printable(pool_), counted(damaged_headers.size()));
    }
    return intact ? ExitCode::kDone : ExitCode::kDamaged;
  }

 private:
  void print(Json object) const {
    if (node_) object["node"] = *node_;
    // File names may contain bytes that are not UTF-8; the line must still be written.
    fmt::print("{}\n", object.dump());
  }

  static std::string key_of(const VerdictName& verdict) {
    std::string key = verdict.name;
    for (char& c : key) c = c == ' ' ? '_' : c;
    return key;
  }

  /// The solver's residual, if it publishes residuals.
  std::optional<double> residual_of(const ReplayedIterate& iterate) {
    return shown_of(kept_results_.of(iterate.kept)).residual_l1;
  }

  std::uint64_t count(ReplayVerdict verdict) const { return counts_[static_cast<std::size_t>(verdict)]; }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }

  std::string counted(std::size_t damaged_headers) const {
    std::string text = fmt::format("{} iterates", total());
    const char* separator = ": ";
    for (const VerdictName& verdict : kVerdicts) {
      if (count(verdict.verdict) == 0) continue;
      text += fmt::format("{}{} {}", separator, count(verdict.verdict), verdict.count);
      separator = ", ";
    }
    if (damaged_headers > 0) text += fmt::format("; {} slots with DAMAGED headers", damaged_headers);
    return text;
  }

  Json to_json(const ReplayedIterate& iterate, const std::optional<Reductions>& shown) {
    const SlotHeader& header = iterate.kept.header;
    Json object = {{"iteration", header.iteration},      {"step", header.step},
                   {"run_id", to_string(header.run_id)}, {"slot", iterate.kept.slot},
                   {"commit_seq", header.commit_seq},    {"verdict", name_of(iterate.verdict).name}};
    if (iterate.verdict == ReplayVerdict::kDamaged) add_to(object, iterate.payload, ring_.geometry());
    if (iterate.verdict == ReplayVerdict::kDamaged || iterate.verdict == ReplayVerdict::kOverwritten) return object;
    object["change_left_out"] = iterate.change_left_out;
    object["differences"] = Json::array();
    for (const ResultDifference& d : iterate.differences) {
      object["differences"].push_back({{"field", d.name}, {"recorded", d.recorded}, {"recomputed", d.recomputed}});
    }
    object["residual_l1"] = number_or_null(residual_of(iterate));
    const bool x_only = ring_.geometry().schema().is_x_only();
    object["reductions"] = x_only && shown ? Json(to_json_in_full(*shown, header.iteration)) : Json();
    object["results"] = results_to_json(replay_.catalogue(), iterate.words);
    return object;
  }

  void print_row(const ReplayedIterate& iterate, const std::optional<Reductions>& shown) {
    const SlotHeader& header = iterate.kept.header;
    print_head_of_run(header.run_id);
    fmt::print("{:>11}", with_separators(header.iteration));
    if (iterate.verdict == ReplayVerdict::kOverwritten) {
      fmt::print("  overwritten while it was read: an analyzer is at work\n");
      return;
    }
    if (iterate.verdict == ReplayVerdict::kDamaged) {
      fmt::print("  DAMAGED: slot {}: {}\n", iterate.kept.slot, describe(iterate.payload, ring_.geometry()));
      return;
    }
    const auto figure = [](bool present, double value) { return present ? fmt::format("{:.4g}", value) : "-"; };
    const Reductions r = shown.value_or(Reductions());
    const bool has_field = shown.has_value();
    const std::optional<double> residual = residual_of(iterate);
    fmt::print(" {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", figure(has_field, r.mean),
               figure(has_field, r.min), figure(has_field, r.max), figure(has_field, r.l1), figure(has_field, r.l2),
               figure(has_field, r.linf), figure(has_field && r.has_change == 1, r.change_l1),
               residual ? fmt::format("{:.4g}", *residual) : "-", explain(iterate));
    for (const ResultDifference& d : iterate.differences) {
      fmt::print("{:>11}   {}: recorded {}, recomputed {}\n", "", d.name, d.recorded, d.recomputed);
    }
  }

  std::string explain(const ReplayedIterate& iterate) const {
    switch (iterate.verdict) {
      case ReplayVerdict::kReductionsDamaged:
        return fmt::format("DAMAGED: slot {}: its stored reductions; the iterate is intact", iterate.kept.slot);
      case ReplayVerdict::kDiffers: return "DIFFERS from what was recorded:";
      default: break;
    }
    const std::string text = name_of(iterate.verdict).name;
    return iterate.change_left_out ? text + " except its change: the previous iterate is no longer kept" : text;
  }

  void print_head_of_run(const Id128& run_id) {
    if (run_ == run_id) return;
    const std::optional<RunDescription> run = ring_.run(run_id);
    fmt::print("{}run {}{}\n", run_ ? "\n" : "", to_string(run_id),
               run ? ": " + problem_text(text_of(run->solver), text_of(run->matrix), text_of(run->parameters))
                   : std::string(", whose description is lost"));
    fmt::print("{:>11} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "iteration", "mean", "min",
               "max", "L1", "L2", "Linf", "L1 change", "L1 resid.", "verdict");
    run_ = run_id;
  }

  const std::optional<std::size_t> node_;
  const std::string pool_;
  const RingView& ring_;
  const RingReplay& replay_;
  KeptResults kept_results_;
  std::optional<JournalComparison>& journal_;
  const JournalIdentity identity_;
  const bool json_;
  std::optional<Id128> run_;  // the run of the rows that are being printed
  std::array<std::uint64_t, kVerdicts.size()> counts_ = {};
};

struct ReplayOptions {
  std::string from;
  std::string to;
  bool json = false;
  PlugInOptions plug_ins;
};

ExitCode replay_pool(const RingReader& reader, const ReplayOptions& options, std::optional<std::size_t> node = {}) {
  const std::string pool = reader.path().string();
  const RecordedPlugIns recorded =
      load_recorded(pool, reader.ring(), options.plug_ins.reduce_with, options.plug_ins.timeout_s);
  // Allocates memory before the first read, because the reads must follow each other quickly while an analyzer runs.
  RingReplay replay(reader.ring(), recorded.set.get());
  if (recorded.set) {
    for (const std::string& line : recorded.set->without_a_field(reader.ring().geometry().schema())) {
      write_standard_error(fmt::format("ringside: note: {}\n", printable(line)));
    }
  }
  const Recovery recovery = reader.recover();
  const Selection selection = select(recovery, pool, options.from, options.to);
  std::optional<JournalComparison> journal;
  if (auto steps = JournaledSteps::read(pool)) journal.emplace(std::move(*steps), recovery.kept);
  Output output(reader, replay, journal, options.json, node);
  TerminalLine progress;
  if (selection.before) replay.skip(*selection.before);
  for (std::size_t i = 0; i < selection.iterates.size(); ++i) {
    const KeptSlot& kept = selection.iterates[i];
    progress.show(fmt::format("iteration {}, {} of {}", with_separators(kept.header.iteration), i + 1,
                              selection.iterates.size()));
    const ReplayedIterate iterate = replay.replay(kept);
    progress.clear();
    output.show(iterate);
  }
  return output.finish(recovery.damaged, check_twins(reader.ring()), recorded.missing);
}

/// Replays one ring after another; skips unreadable rings and continues with the rest.
ExitCode replay_rings(const std::string& path, const ReplayOptions& options) {
  const RingSet set = RingSet::open(path);
  ExitCode code = ExitCode::kDone;
  for (std::size_t n = 0; n < set.nodes().size(); ++n) {
    const NodeRing& ring = set.nodes()[n];
    if (!options.json && n > 0) fmt::print("\n");
    try {
      if (ring.why) throw *ring.why;
      if (!options.json) fmt::print("{}: {}\n", ring.name, printable(ring.path));
      code = code_with(code, replay_pool(*ring.reader, options, n));
    } catch (const Error& why) {
      if (options.json) {
        const Json line = {{"node", n}, {"pool", ring.path}, {"error", why.what()}};
        fmt::print("{}\n", line.dump());
      } else {
        fmt::print("{}: {}\n", ring.name, printable(why.what()));
      }
      code = code_with(code, why.code());
    }
  }
  return code;
}

}  // namespace

int replay_command(int argc, const char* const* argv) {
  std::string pool;
  ReplayOptions options;
  CommandLine line(
      "Reduces the kept iterates again, from their verified bytes and in the order of their commits. Compares the\n"
      "results bit for bit with those recorded in the ring and in the journal, and shows the journal's durations.\n"
      "Works while an analyzer uses the pool.",
      "ringside replay");
  line.option("POOL", pool, kPoolOrRings).required().value_name("FILE");
  line.option("--from", options.from, "first iteration to reduce (default: the oldest kept)").value_name("K");
  line.option("--to", options.to, "last iteration to reduce (default: the newest kept)").value_name("K");
  line.flag("--json", options.json,
            "print one JSON object per line: one for each iterate, and a last one with their number");
  declare(line, options.plug_ins);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (names_rings(pool)) return static_cast<int>(replay_rings(pool, options));
  return static_cast<int>(replay_pool(RingReader::open(pool), options));
}

}  // namespace ringside
