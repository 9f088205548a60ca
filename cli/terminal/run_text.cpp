// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/run_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "cli/terminal/format.hpp"
#include "common/records/record_message.hpp"
#include "common/records/result_names.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// "iteration 12: change L1 1.000e-03, Linf 2.000e-04, rho 3.141e-01".
std::string last_text(const wire::Status& status) {
  ResultNames names;
  names.learn(status.run());
  const StepResults results = names.results(status.last());
  const ShownNames shown = shown_names(results);
  std::vector<std::string> values;
  const auto add = [&](const std::string& name, const std::string& full_name) {
    const StepValue value = results.find(full_name);
    if (value.present) values.push_back(fmt::format("{} {:.3e}", name, value.as_double()));
  };
  if (shown.is_change) {
    add("change L1", shown.course);
    add("Linf", shown.course_linf);
  }
  const std::size_t most = values.size() + kMostShownScalars;
  for (std::size_t i = 0; results.layout() && i < results.size() && values.size() < most; ++i) {
    const Result& result = *results.layout()->results()[i].result;
    if (result.source != ResultSource::kScalar) continue;
    if (shown.is_change && (result.full_name == shown.course || result.full_name == shown.course_linf)) continue;
    add(column_name(result.full_name), result.full_name);
  }
  return fmt::format("iteration {}{}{}", with_separators(status.last().iteration()), values.empty() ? "" : ": ",
                     fmt::join(values, ", "));
}

}  // namespace

std::string duration_text(std::int64_t ns) {
  double value = static_cast<double>(ns);
  const char* unit = "ns";
  for (const char* next : {"us", "ms", "s"}) {
    if (std::abs(value) < 999.5) break;
    value /= 1000;
    unit = next;
  }
  if (ns == 0) return "0";
  if (std::string_view(unit) == "ns") return fmt::format("{:.0f} ns", value);
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

std::string id_text(const std::string& id) {
  std::string text;
  for (const char byte : id.substr(0, 4)) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string column_name(const std::string& full_name) {
  return full_name.substr(full_name.find('.') + 1).substr(0, 20);
}

std::string problem_text(std::string_view solver, std::string_view problem, std::string_view parameters) {
  std::string text(solver);
  if (!problem.empty()) text += fmt::format(" of {}", problem);
  if (!parameters.empty()) text += fmt::format(" ({})", parameters);
  return printable(text);
}

std::string size_text(const wire::RunStarted& run) {
  const SharedLayout layout = layout_of(run);
  const bool is_x_only = !layout || layout->schema().is_x_only();
  return is_x_only ? with_separators(run.rows()) + " rows" : to_text(layout->schema());
}

std::string with_note(const std::string& line, const std::string& note) {
  return note.empty() ? line : line + ": " + note;
}

double share_of(std::int64_t part_ns, std::int64_t whole_ns) {
  return whole_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0.0;
}

std::string planned_text(const wire::PlannedStep& planned) {
  return fmt::format("{} a step ({} to {}), of which producer idle {:.1f} %, analyzer idle {:.1f} %",
                     duration_text(planned.step_ns()), duration_text(planned.low_ns()),
                     duration_text(planned.high_ns()), 100 * share_of(planned.producer_idle_ns(), planned.step_ns()),
                     100 * share_of(planned.analyzer_idle_ns(), planned.step_ns()));
}

bool has_failed(const wire::PlugIn& plug_in) noexcept {
  return plug_in.deaths() > 0 || plug_in.left_out();
}

std::string plug_in_text(const wire::PlugIn& plug_in) {
  std::string text = plug_in.name();
  if (plug_in.deaths() > 0) {
    text += plug_in.deaths() == 1 ? " has ended the analyzer once"
                                  : fmt::format(" has ended the analyzer {} times", plug_in.deaths());
  }
  if (plug_in.left_out()) {
    text += fmt::format("{} is left out: its results are absent", plug_in.deaths() > 0 ? " and" : "");
  }
  return text;
}

std::string status_text(const wire::Status& status) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& text) {
    out += fmt::format("{:<11}{}\n", name, printable(text));
  };
  line("service", fmt::format("{} (pid {}), pool {}", status.version(), status.pid(), status.pool()));
  const std::string kept = status.newest_seq() == 0
                               ? "no records yet"
                               : fmt::format("records {} to {}", status.oldest_seq(), status.newest_seq());
  line("journal", status.journal_error().empty() ? fmt::format("{}, {}", status.journal(), kept)
                                                 : fmt::format("given up: {}", status.journal_error()));
  if (status.records_missing() > 0) line("missing", fmt::format("{} steps have no record", status.records_missing()));
  if (!status.has_run()) {
    line("run", "none yet");
    return out;
  }
  const wire::RunStarted& run = status.run();
  line("run", fmt::format("{} {}: {}, {}", id_text(run.run_id()), status.attached() ? "is being served" : "has ended",
                          problem_text(run.solver(), run.matrix(), run.parameters()), size_text(run)));
  if (!status.attached()) {
    line("ended", with_note(status.ended().how() == "detached" ? status.ended().outcome() : status.ended().how(),
                            status.ended().text()));
  }
  const std::string persisted = run.durability() == "process"
                                    ? "kept across the death of processes, not power loss"
                                    : with_separators(status.steps_persisted()) + " persisted";
  line("steps", fmt::format("{} committed, {}, {} skipped", with_separators(status.steps_committed()), persisted,
                            with_separators(status.steps_skipped())));
  for (const wire::PlugIn& plug_in : run.plug_ins()) {
    if (has_failed(plug_in)) line("plug-in", plug_in_text(plug_in));
  }
  if (status.has_frozen_at_iteration()) {
    line("ring", fmt::format("frozen at iteration {}: no step in it is overwritten",
                             with_separators(status.frozen_at_iteration())));
  }
  if (status.has_last()) line("last", last_text(status));
  line("producer", fmt::format("generate {}, idle {}", duration_text(status.generate_ns()),
                               duration_text(status.producer_idle_ns())));
  line("analyzer", fmt::format("transfer {}, commit {}, analyze {}, record {}, idle {}", duration_text(status.transfer_ns()),
                               duration_text(status.commit_ns()), duration_text(status.analyze_ns()),
                               duration_text(status.record_ns()), duration_text(status.analyzer_idle_ns())));
  if (run.has_planned() && status.steps_committed() > run.from_step()) {
    const std::int64_t worked_ns = status.transfer_ns() + status.commit_ns() + status.analyze_ns() + status.record_ns();
    const auto steps = static_cast<std::int64_t>(status.steps_committed() - run.from_step());  // steps of this analyzer
    line("planned", fmt::format("{}; measured {} a step", planned_text(run.planned()),
                                duration_text((worked_ns + status.analyzer_idle_ns()) / steps)));
  }
  line("hand-off", fmt::format("p50 {}, p99 {}, max {}", duration_text(status.hand_off_p50_ns()),
                               duration_text(status.hand_off_p99_ns()), duration_text(status.hand_off_max_ns())));
  return out;
}

std::string analysis_text(const Json& analysis) {
  const auto count = [&](const char* key) { return with_separators(analysis.value(key, std::uint64_t{0})); };
  std::string text = fmt::format("analysis {} ({}): {}, {} skipped", analysis.value("name", ""),
                                 printable(analysis.value("file", "")), counted(analysis.value("steps", std::uint64_t{0}), "step"),
                                 count("skipped"));
  if (analysis.value("failed", std::uint64_t{0}) > 0) text += fmt::format(", {} failed", count("failed"));
  if (analysis.contains("last") && analysis["last"].is_number()) {
    text += fmt::format(", last {:.6g}", analysis["last"].get<double>());
  }
  return text;
}

}  // namespace ringside
