// SPDX-License-Identifier: BSD-3-Clause
// The run and its analyzer as Prometheus metrics; prometheus-cpp writes the text (format version 0.0.4). Names follow
// Prometheus' conventions: base units, and _total for values that only grow during one run. A new run begins at zero,
// which Prometheus treats as a restart. Only ringside_run_info has the run's id as a label. If every metric had this
// label, each run would add a series to every metric.
#include <fmt/format.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cli/run_history/watched_run.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/version.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/hex.hpp"

namespace ringside {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// The exported metrics, in the order in which they were added.
class Families {
 public:
  template <class Number>
  void gauge(const char* name, const char* help, Number value, std::vector<ClientMetric::Label> labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = static_cast<double>(value);
    add(name, help, MetricType::Gauge, std::move(metric));
  }

  /// Adds a metric. If `value` is empty, the metric has no sample.
  void gauge(const char* name, const char* help, const std::optional<double>& value) {
    if (value) gauge(name, help, *value);
  }

  /// Adds a metric with one sample per label.
  void gauge(const char* name, const char* help, std::vector<ClientMetric> samples) {
    families_.push_back({name, help, MetricType::Gauge, std::move(samples)});
  }

  template <class Number>
  void counter(const char* name, const char* help, Number value) {
    ClientMetric metric;
    metric.counter.value = static_cast<double>(value);
    add(name, help, MetricType::Counter, std::move(metric));
  }

  void histogram(const char* name, const char* help, const HandOffTimes& times) {
    ClientMetric metric;
    metric.histogram.sample_count = times.count();
    metric.histogram.sample_sum = seconds(times.sum_ns());
    for (std::size_t i = 0; i < HandOffTimes::kBoundsNs.size(); ++i) {
      metric.histogram.bucket.push_back({times.at_most(i), seconds(HandOffTimes::kBoundsNs[i])});
    }
    metric.histogram.bucket.push_back({times.count(), std::numeric_limits<double>::infinity()});
    add(name, help, MetricType::Histogram, std::move(metric));
  }

  /// Adds labels to every metric. Prometheus distinguishes the nodes of a run by these labels.
  void label_all(const std::vector<ClientMetric::Label>& labels) {
    for (MetricFamily& family : families_) {
      for (ClientMetric& metric : family.metric) {
        metric.label.insert(metric.label.begin(), labels.begin(), labels.end());
      }
    }
  }

  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  void add(const char* name, const char* help, MetricType type, ClientMetric metric) {
    families_.push_back({name, help, type, {std::move(metric)}});
  }

  std::vector<MetricFamily> families_;
};

void add_analyzer(Families& out, const AnalyzerView& analyzer) {
  out.gauge("ringside_build_info", "Always 1; the version of this exporter is a label.", 1, {{"version", version()}});
  out.gauge("ringside_analyzer_up", "1 while the analyzer sends messages, 0 otherwise.", analyzer.up ? 1 : 0);
  out.counter("ringside_analyzer_changes_total",
              "How many times another analyzer took over since this exporter started.", analyzer.changes);
  if (!analyzer.last) return;
  out.gauge("ringside_journal_failed", "1 once the analyzer has given up writing its journal.",
            analyzer.last->journal_error().empty() ? 0 : 1);
}

void add_run(Families& out, const RunView& run) {
  const wire::RunStarted started = run.started.value_or(wire::RunStarted());
  out.gauge("ringside_run_info", "Always 1; the labels describe the newest run.", 1,
            {{"run_id", hex(run.run_id)},
             {"solver", started.solver()},
             {"matrix", started.matrix()},
             {"coordination", started.coordination()},
             {"storage", started.storage()},
             {"durability", started.durability()}});
  out.gauge("ringside_run_active", "1 from the start of the newest run to its end, then 0.", run.ended ? 0 : 1);
  out.gauge("ringside_run_persists", "1 if the newest run's steps are made to survive power loss (durability power).",
            started.durability() == "power" ? 1 : 0);
  out.gauge("ringside_run_start_time_seconds", "When the newest run started, in seconds since 1970.",
            seconds(started.started_unix_ns()));
  out.gauge("ringside_rows", "Entries of one iterate.", started.rows());
  out.gauge("ringside_ring_slots", "Iterates for which the ring has room.", started.slots());
}

void add_steps(Families& out, const RunView& run) {
  const ShownFigures shown = shown_of(run.last_results);
  out.gauge("ringside_iteration", "The solver's index of the newest committed iterate.", run.last.iteration());
  out.gauge("ringside_last_step_timestamp_seconds",
            "When the newest committed step was recorded, in seconds since 1970.", seconds(run.last_unix_ns));
  out.gauge("ringside_residual_l1", "L1 norm of the newest iterate's change, as the solver computed it.",
            shown.residual_l1);
  out.gauge("ringside_residual_linf", "Largest change of an entry in the newest iterate, as the solver computed it.",
            shown.residual_linf);
  const auto non_finite = [](const ReductionScalars& r) { return static_cast<double>(r.non_finite); };
  out.gauge("ringside_non_finite_entries", "Entries of the newest iterate's first field that are NaN or infinite.",
            shown.reductions ? std::optional(non_finite(*shown.reductions)) : std::nullopt);
  out.counter("ringside_steps_committed_total", "Steps whose slot in the ring is valid.", run.last.steps_committed());
  out.counter("ringside_steps_persisted_total", "Steps that survive a power loss; always 0 with --durability process.",
              run.steps_persisted);
  out.counter("ringside_steps_skipped_total", "Steps dropped because no buffer was free.", run.sums.steps_skipped);
  out.counter("ringside_leases_broken_total", "Steps that were overwritten although a reader held them.",
              run.sums.leases_broken);
  out.counter("ringside_records_missing_total", "Committed steps for which no record could be kept.",
              run.sums.records_missing);
  out.counter("ringside_transferred_bytes_total", "Bytes copied into the ring.", run.sums.bytes_transferred);
}

/// Adds one sample for each result of the newest step that is present and has a series. The sample's label is the
/// result's name.
void add_results(Families& out, const StepResults& results, const AnalysisSeries& analyses) {
  std::vector<ClientMetric> samples;
  for (std::size_t i = 0; i < std::min(results.size(), kMostPlotted); ++i) {
    const StepValue value = results.value(i);
    if (!value.present) continue;
    ClientMetric& sample = samples.emplace_back();
    sample.label = {{"name", results.name(i)}};
    sample.gauge.value = value.as_double();
  }
  for (const auto& [name, course] : analyses.courses()) {
    ClientMetric& sample = samples.emplace_back();
    sample.label = {{"name", name}};
    sample.gauge.value = course.series.points().back().value;
  }
  if (samples.empty()) return;
  out.gauge(
      "ringside_result",
      "A result of the newest committed step, or of the newest step that an analysis has processed, by its full name.",
      std::move(samples));
}

void add_times(Families& out, const RunView& run) {
  const StepSums& sums = run.sums;
  out.counter("ringside_generate_seconds_total", "Time the producer spent solving.", seconds(sums.generate_ns));
  out.counter("ringside_producer_idle_seconds_total", "Time the producer waited for a free buffer.",
              seconds(sums.producer_idle_ns));
  out.counter("ringside_analyzer_idle_seconds_total", "Time the analyzer waited for a step.",
              seconds(sums.analyzer_idle_ns));
  out.counter("ringside_transfer_seconds_total", "Time the analyzer spent copying and hashing.",
              seconds(sums.transfer_ns));
  out.counter("ringside_commit_seconds_total", "Time of commits, including waits for the disk.",
              seconds(sums.commit_ns));
  out.counter("ringside_analyze_seconds_total", "Time the analyzer spent on reductions.", seconds(sums.analyze_ns));
  out.counter("ringside_record_seconds_total",
              "Time the analyzer spent on counting and recording steps, and on choosing slots.",
              seconds(sums.record_ns));
  out.histogram("ringside_hand_off_seconds",
                "Time from the publishing of a step to the first byte that the analyzer copied.", run.hand_off);
}

}  // namespace

std::string WatchedRun::metrics_text() const {
  const std::lock_guard lock(mutex_);
  Families out;
  add_analyzer(out, analyzer_);
  const auto& run = history_.run();
  if (run) {
    add_run(out, *run);
    add_steps(out, *run);
    add_times(out, *run);
    add_results(out, run->last_results, run->analyses);
  }
  if (run && run->started && run->started->has_part()) {
    const wire::PartOfRun& part = run->started->part();
    out.label_all({{"node", part.has_node() ? std::to_string(part.node()) : "all"}, {"ranks", part.ranks()}});
  }
  std::string text = out.text();
  const std::size_t results = run ? run->last_results.size() : 0;
  if (results > kMostPlotted) text += fmt::format("# {} further results have no series\n", results - kMostPlotted);
  return text;
}

}  // namespace ringside
