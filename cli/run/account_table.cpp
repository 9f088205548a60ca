// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/account_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cli/run/auto_plan.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/platform/version.hpp"
#include "common/text/printable.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

std::uint64_t count(const Json& object, const char* key) {
  return object[key].is_number() ? object[key].get<std::uint64_t>() : 0;
}

std::string text(const Json& object, const char* key) {
  return object[key].is_string() ? object[key].get<std::string>() : "?";
}

/// Makes the cells of the table for a run that took `total` seconds.
class Times {
 public:
  explicit Times(double total) : total_(total) {}

  /// "generate       1.234 s   56.7 %"
  std::string cell(const std::string& name, double seconds) const {
    return fmt::format("{:<9}{:>12} {:>6.1f} %", name, run_time(seconds, total_),
                       total_ > 0 ? 100 * seconds / total_ : 0.0);
  }
  /// The same with the planned time, if the run was planned: "generate       1.234 s   56.7 %     1.210 s".
  std::string cell(const std::string& name, double seconds, const Json& planned) const {
    return cell(name, seconds) +
           (planned.is_number() ? fmt::format("{:>12}", run_time(planned.get<double>(), total_)) : "");
  }

 private:
  double total_;
};

/// "u f64[300,300] K, p f64[90000]"
std::string variables_text(const Json& summary) {
  std::string out;
  for (const Json& variable : summary["schema"]) {
    const std::string shape = variable["shape"].dump();
    const std::string unit = text(variable, "unit");
    out += fmt::format("{}{} {}{}{}", out.empty() ? "" : ", ", text(variable, "name"), text(variable, "dtype"),
                       shape == "[]" ? "" : shape, unit.empty() ? "" : " " + unit);
  }
  return printable(out);
}

std::string nanoseconds(std::uint64_t ns) {
  return ns < 10'000 ? fmt::format("{:.2f} us", static_cast<double>(ns) * 1e-3)
                     : fmt::format("{:.1f} us", static_cast<double>(ns) * 1e-3);
}

/// total_s: from the start of the first iteration to the end of the last work on any iterate.
Json total_seconds(const Json& producer, const Json& analyzer) {
  const Json begun = producer["begun_ns"];
  if (!begun.is_number() || begun.get<std::int64_t>() == 0) return {};
  std::int64_t end = 0;
  for (const Json& instant : {producer["ended_ns"], producer["analysis_ended_ns"], analyzer["ended_ns"]}) {
    if (instant.is_number()) end = std::max(end, instant.get<std::int64_t>());
  }
  return end > 0 ? Json(static_cast<double>(end - begun.get<std::int64_t>()) * 1e-9) : Json();
}

/// The name of the figure that --tolerance limits. For a solver that is not in the table of solvers, this is the
/// change.
std::string_view criterion_of(const std::string& solver) {
  for (const SolverEntry* entry : solvers()) {
    if (entry->choice.name == solver) return entry->choice.criterion;
  }
  return kChangeCriterion;
}

}  // namespace

Json make_summary(const RunFacts& facts, const Json& producer, const Json& analyzer) {
  const bool dram = facts.mode == "dram";
  const Json run = producer["run"];
  // The baseline keeps no iterates: the figures of the ring are zero. Figures that do not exist are null.
  const auto kept = [&](const char* key) { return dram ? Json(0) : analyzer[key]; };
  Json summary;
  summary["version"] = version();
  for (const char* key : {"run_id", "problem_id"}) summary[key] = run[key];
  // `kernel` is the key's former name.
  for (const char* key : {"matrix_format", "kernel"}) summary[key] = producer["matrix_format"];
  summary["mode"] = facts.mode;
  summary["program"] = facts.program.empty() ? Json() : Json(facts.program);
  summary["ranks"] = facts.ranks == 0 ? Json() : Json(facts.ranks);
  summary["nodes"] = facts.nodes == 0 ? Json() : Json(facts.nodes);
  for (const char* key : {"solver", "matrix", "parameters", "rows", "nonzeros", "schema"}) summary[key] = run[key];
  for (const char* key : {"iterations", "converged", "residual_l1", "residual_linf", "criterion"}) {
    summary[key] = producer[key];
  }
  const Json growth = producer["residual_growth"];
  summary["residual_growth"] = growth.is_number() && growth.get<double>() >= 0 ? growth : Json();
  summary["resumed_from"] = dram ? Json() : producer["resumed_from"];
  // A killed producer may have published more steps than it reported. If more steps are committed than were reported as
  // published, the number of committed steps is used.
  const Json published = producer["steps_published"];
  const Json committed = kept("steps_committed");
  const bool proved = published.is_number() && committed.is_number() &&
                      committed.get<std::uint64_t>() > published.get<std::uint64_t>();
  summary["steps_published"] = proved ? committed : published;
  for (const char* key : {"steps_committed", "steps_persisted", "steps_not_kept", "leases_broken"}) summary[key] = kept(key);
  summary["steps_skipped"] = producer["steps_skipped"];
  summary["analyzer_restarts"] = dram ? Json(0) : Json(facts.analyzer_restarts);
  summary["bytes_transferred"] = kept("bytes_transferred");
  summary["total_s"] = total_seconds(producer, analyzer);
  for (const char* key : {"load_s", "generate_s", "producer_idle_s"}) summary[key] = producer[key];
  for (const char* key : {"transfer_s", "commit_s"}) summary[key] = kept(key);
  summary["analyze_s"] = dram ? producer["analyze_s"] : analyzer["analyze_s"];
  for (const char* key : {"record_s", "analyzer_idle_s"}) summary[key] = kept(key);
  summary["elastic"] = dram ? Json() : Json(facts.elastic);
  summary["producer_cores_lent_s"] = kept("producer_cores_lent_s");
  summary["analyzer_cores_lent_s"] = dram ? Json() : producer["analyzer_cores_lent_s"];
  summary["producer_cores"] = facts.producer_cores;
  summary["analyzer_cores"] = facts.analyzer_cores;
  summary["coordination"] = dram ? Json() : Json(facts.coordination);
  summary["buffers"] = dram ? Json() : Json(facts.buffers);
  for (const char* key : {"slots", "durability", "storage"}) summary[key] = dram ? Json() : analyzer[key];
  for (const char* key : {"reduce", "passes", "last"}) {
    summary[key] = dram ? producer[key] : analyzer[key];
  }
  for (const char* key : {"matrix_memory", "dram_limit_bytes", "matrix_far_bytes", "matrix_in_place_bytes",
                          "matrix_dram_peak_bytes", "matrix_faults", "matrix_fault_s", "matrix_far_read_bytes"}) {
    summary[key] = producer[key];
  }
  summary["adapted"] = dram ? Json() : analyzer["adapted"];
  for (const char* key : {"plug_ins", "triggers", "frozen_at_iteration", "freeze_error", "archive"}) {
    summary[key] = dram ? Json() : analyzer[key];
  }
  summary["analyses"] = facts.analyses;
  summary["hand_off_ns"] = dram ? Json() : analyzer["hand_off_ns"];
  return summary;
}

namespace {

/// For ranks on several nodes: a line about the node on which the analyzer delayed the solver most, according to the
/// newest step (docs/publish/mpi.md).
void add_nodes(const Json& summary, const RunFacts& facts, const std::function<void(const std::string&)>& line) {
  if (facts.nodes == 1 || !summary["last"].is_object() || !summary["last"].contains("results")) return;
  const Json& results = summary["last"]["results"];
  if (!results.contains("solver.waited_for_node")) return;
  const double waited_s = number(results, "solver.waited_ns") * 1e-9;
  line(waited_s <= 0 ? "  nodes      none has waited for its analyzer"
                     : fmt::format("  nodes      node {} has waited longest for its analyzer: {}",
                                   count(results, "solver.waited_for_node"), run_time(waited_s, waited_s)));
}

/// A line for each trigger that fired, with what the trigger did.
void add_triggers(const Json& summary, const RunFacts& facts, const std::function<void(const std::string&)>& line) {
  if (!summary["triggers"].is_array()) return;
  for (const Json& trigger : summary["triggers"]) {
    const std::uint64_t fired = count(trigger, "fired");
    if (fired == 0) continue;
    const std::string last =
        fired == 1 ? ""
                   : fmt::format(", {} times until iteration {}", with_separators(fired),
                                 with_separators(count(trigger, "last_iteration")));
    line(fmt::format("  trigger    {}: fired at iteration {}{}", printable(text(trigger, "name")),
                     with_separators(count(trigger, "first_iteration")), last));
  }
  if (summary["frozen_at_iteration"].is_number()) {
    const bool outlives_run = !summary.contains("freeze_error") || summary["freeze_error"].is_null();
    line(fmt::format(
        "  frozen     since iteration {}; {} after it not kept; {}",
        with_separators(count(summary, "frozen_at_iteration")), counted(count(summary, "steps_not_kept"), "step"),
        outlives_run
            ? "`ringside thaw` ends this"
            : fmt::format(
                  "NO LONGER: the freeze could not be written ({}), and the next run in the pool overwrites its steps",
                  text(summary, "freeze_error"))));
  }
  if (const Json& archive = summary["archive"]; archive.is_object()) {
    const std::uint64_t lost = count(archive, "lost");
    line(fmt::format(
        "  archive    {} copied to {}.archive{}", counted(count(archive, "kept"), "step"), printable(facts.pool),
        lost == 0 ? ""
                  : fmt::format(", {} not copied: the ring needed their slots, or was frozen", counted(lost, "step"))));
  }
}

}  // namespace

std::string account_table(const Json& summary, const RunFacts& facts) {
  std::string out;
  const auto line = [&out](const std::string& s) { (out += s) += '\n'; };
  const bool dram = facts.mode == "dram";
  const double total = number(summary, "total_s");
  const Times times(total);

  if (!facts.program.empty()) line(fmt::format("  program    {}", printable(facts.program)));
  const std::string format = summary["matrix_format"].is_string() ? ", format " + text(summary, "matrix_format") : "";
  // For a program of the user, the variables are shown instead of the number of rows, and nonzeros only if the program
  // reported them.
  const std::uint64_t work = count(summary, "nonzeros");
  const std::string nonzeros =
      work > 0 || facts.program.empty() ? fmt::format(", {} nonzeros", with_separators(work)) : "";
  line(fmt::format("  problem    {}: {}{}{}", problem_text(text(summary, "solver"), text(summary, "matrix"), ""),
                   facts.program.empty() ? counted(count(summary, "rows"), "row") : variables_text(summary), nonzeros,
                   format));
  if (summary["matrix_far_bytes"].is_number()) {
    const std::uint64_t in_place = count(summary, "matrix_in_place_bytes");
    line(fmt::format("  matrix     {} in {}{}, at most {} of DRAM: {} while solving, {} of the threads' time; {} read",
                     megabytes(count(summary, "matrix_far_bytes")), printable(text(summary, "matrix_memory")),
                     in_place > 0 ? fmt::format(" ({} of it in place)", megabytes(in_place)) : "",
                     megabytes(count(summary, "dram_limit_bytes")), counted(count(summary, "matrix_faults"), "fault"),
                     run_time(number(summary, "matrix_fault_s"), total),
                     megabytes(count(summary, "matrix_far_read_bytes"))));
  }
  const bool converged = summary["converged"].is_boolean() && summary["converged"].get<bool>();
  // For a program of the user, the criterion is unknown.
  const bool known = facts.program.empty();
  const char* verdict_on_it = !known ? "" : converged ? ", converged" : ", not converged";
  const std::string_view criterion = known ? criterion_of(text(summary, "solver")) : kChangeCriterion;
  const std::string reached =
      criterion == kChangeCriterion ? "" : fmt::format("; {} {:.3e}", criterion, number(summary, "criterion"));
  // A program of the user need not publish residuals.
  const std::string change = summary["residual_l1"].is_null() && !known
                                 ? ""
                                 : fmt::format("; change in the last: L1 {:.3e}, Linf {:.3e}",
                                               number(summary, "residual_l1"), number(summary, "residual_linf"));
  line(fmt::format("  solved     {}{}{}{}", counted(count(summary, "iterations"), "iteration"), verdict_on_it, change,
                   reached));
  // In a run that is not finished, divergence cannot be distinguished from temporary growth, so the line reports only
  // the measured growth.
  if (const double growth = number(summary, "residual_growth"); !converged && growth > 1.001) {
    line(fmt::format(
        "  growing    the {} grows by a factor of {:.4g} per iteration: it diverges, or has not yet passed its peak",
        criterion, growth));
  }
  if (const std::uint64_t from = count(summary, "resumed_from"); from > 0) {
    line(fmt::format("  resumed    from iteration {}, {} since", with_separators(from),
                     counted(count(summary, "iterations") - from, "iteration")));
  }
  if (facts.analyzer_restarts > 0) {
    line(fmt::format("  took over  {} analyzers were lost; each time another one continued from there",
                     facts.analyzer_restarts));
  }
  if (!dram) {
    const std::uint64_t committed = count(summary, "steps_committed");
    const std::string persisted = facts.durability == "power"
                                      ? with_separators(count(summary, "steps_persisted")) + " persisted"
                                      : "kept across the death of processes, not power loss";
    const std::string skipped = with_separators(count(summary, "steps_skipped")) + " skipped";
    // An analyzer that died may not have reported the number of slots, and its last figures may be incomplete.
    const std::string where = facts.pool_gone ? std::string("but the pool is no longer at")
                              : !summary["slots"].is_number()
                                  ? std::string("at least; `ringside info` shows what is in")
                              : count(summary, "resumed_from") > 0
                                  ? std::string("the newest are in")  // the pool also keeps iterates of earlier runs
                                  : fmt::format("the last {} are in", std::min(committed, count(summary, "slots")));
    line(fmt::format("  kept       {} committed, {}, {}; {} {}", counted(committed, "step"), persisted, skipped, where,
                     printable(facts.pool)));
    if (const std::uint64_t broken = count(summary, "leases_broken"); broken > 0) {
      line(fmt::format("  readers    {} overwritten while a reader held them; use more --slots, or hold fewer steps",
                       counted(broken, "step")));
    }
  }
  add_triggers(summary, facts, line);
  for (const Json& analysis : facts.analyses) line("  " + analysis_text(analysis));
  if (summary["last"].is_object() && summary["last"]["mean"].is_number()) {  // a run without a field has no mean
    const Json& last = summary["last"];
    line(
        fmt::format("  last       iteration {}: mean {:.6g}, min {:.6g}, max {:.6g}, L1 {:.6g}, L2 {:.6g}, Linf {:.6g}",
                    with_separators(count(last, "iteration")), number(last, "mean"), number(last, "min"),
                    number(last, "max"), number(last, "l1"), number(last, "l2"), number(last, "linf")));
  }

  add_nodes(summary, facts, line);

  const double generate = number(summary, "generate_s");
  const double producer_idle = number(summary, "producer_idle_s");
  const double analyze = number(summary, "analyze_s");
  if (dram) {
    line(fmt::format("\n  one process, cores {}, nothing kept", facts.producer_cores));
    line("    " + times.cell("generate", generate));
    line("    " + times.cell("analyze", analyze));
    line("    " + times.cell("other", std::max(0.0, total - generate - analyze)));
    line("    " + times.cell("total", total));
    line(fmt::format("\n  loading took {}", run_time(number(summary, "load_s"), total)));
    return out;
  }

  if (total <= 0) return out;  // no work was left to do
  const double transfer = number(summary, "transfer_s");
  const double commit = number(summary, "commit_s");
  const double record = number(summary, "record_s");
  const double analyzer_idle = number(summary, "analyzer_idle_s");
  const auto planned = [&](const char* key) { return summary[key]; };
  const bool with_plan = planned("planned_total_s").is_number();
  const auto row = [&](const std::string& left, const std::string& right) {
    line(right.empty() ? "    " + left : fmt::format("    {:<{}}{}", left, with_plan ? 47 : 34, right));
  };
  const auto heading = [&](const std::string& side) {
    return with_plan ? fmt::format("{:<32}{:>10}", side, "planned") : side;
  };
  line("");
  row(heading("producer, cores " + facts.producer_cores), heading("analyzer, cores " + facts.analyzer_cores));
  row(times.cell("generate", generate, planned("planned_generate_s")),
      times.cell("transfer", transfer, planned("planned_transfer_s")));
  row("", times.cell("commit", commit, planned("planned_commit_s")));
  row("", times.cell("analyze", analyze, planned("planned_analyze_s")));
  row("", times.cell("record", record));
  row(times.cell("idle", producer_idle, planned("planned_producer_idle_s")),
      times.cell("idle", analyzer_idle, planned("planned_analyzer_idle_s")));
  if (facts.elastic) {
    // These times are core-seconds of all waiting cores. With several cores, they may exceed the idle time. A program
    // of the user borrows none.
    const bool borrows = facts.program.empty();
    row(times.cell("(lent)", number(summary, "producer_cores_lent_s")),
        borrows ? times.cell("(lent)", number(summary, "analyzer_cores_lent_s")) : "");
  }
  row(times.cell("other", std::max(0.0, total - generate - producer_idle)),
      times.cell("other", std::max(0.0, total - transfer - commit - analyze - record - analyzer_idle)));
  row(times.cell("total", total, planned("planned_total_s")), times.cell("total", total, planned("planned_total_s")));
  if (with_plan) line(fmt::format("\n  planned    {}", verdict(summary)));
  if (summary["adapted"] == true) {
    line(fmt::format("  adapted    both --reduce modes were tried; {} was kept", text(summary, "reduce")));
  }

  const double bytes = number(summary, "bytes_transferred");
  if (transfer > 0 && summary["hand_off_ns"].is_object()) {
    const Json& hand_off = summary["hand_off_ns"];
    const std::string loading =
        facts.program.empty() ? "; loading took " + run_time(number(summary, "load_s"), total) : "";
    line(fmt::format("\n  {} {:.1f} GB/s; hand-off p50 {}, p99 {}, max {}{}",
                     text(summary, "reduce") == "transfer" ? "transfer and reductions" : "transfer",
                     bytes / transfer * 1e-9, nanoseconds(count(hand_off, "p50")), nanoseconds(count(hand_off, "p99")),
                     nanoseconds(count(hand_off, "max")), loading));
  }
  return out;
}

}  // namespace ringside
