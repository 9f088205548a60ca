// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/app_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/json/json.hpp"
#include "common/kernels/hash.hpp"
#include "node/streams/repeats.hpp"

namespace ringside {
namespace {

std::string content_of_file(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(content).str();
}

std::string hash_of(std::string_view text) {
  return to_string(hash128(text.data(), text.size()));
}

/// The hash of a file's content; empty for an empty file. Reads the file in pieces, because the memory of this process
/// is a lower limit of the peak that the kernel reports for its children.
std::string hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  std::string hashes;
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hashes += hash_of({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  return hashes.empty() ? hashes : hash_of(hashes);
}

template <class Value>
double median_over(const std::vector<AppRun>& runs, const Value& value) {
  std::vector<double> samples;
  for (const AppRun& run : runs) samples.push_back(value(run));
  return median_of(std::move(samples));
}

double number_at(const Json& object, const char* key) {
  return object[key].is_number() ? object[key].get<double>() : 0;
}

}  // namespace

std::string part_of(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t first = text.find(begin);
  if (first == std::string::npos) return {};
  const std::size_t from = text.rfind('\n', first) + 1;  // npos + 1 is 0
  const std::size_t last = end.empty() ? std::string::npos : text.find(end, first);
  const std::size_t to = last == std::string::npos ? text.size() : text.rfind('\n', last) + 1;
  return to > from ? text.substr(from, to - from) : std::string();
}

AppOutcome outcome_of(const App& app, const std::string& printed_file, const std::string& output_file) {
  AppOutcome outcome;
  const bool in_file = app.result == AppResult::kFile || app.result == AppResult::kSummary;
  const std::string& path = in_file ? output_file : printed_file;
  const bool whole = app.result == AppResult::kOutput || (app.result == AppResult::kFile && app.begin.empty());
  if (whole) outcome.result = hash_of_file(path);
  const std::string text = whole ? std::string() : content_of_file(path);
  if (text.empty() && outcome.result.empty()) {
    outcome.wrong = in_file ? "it wrote no output file" : "it printed nothing";
    return outcome;
  }
  const Json object =
      app.result == AppResult::kChecksum || app.result == AppResult::kSummary ? Json::try_parse(text) : Json();
  const std::string member(app.result == AppResult::kChecksum ? "checksum" : app.begin);
  switch (app.result) {
    case AppResult::kOutput: break;
    case AppResult::kFile:
    case AppResult::kPart: {
      if (whole) break;
      const std::string part = part_of(text, app.begin, app.end);
      if (part.empty()) {
        outcome.wrong = fmt::format("its output has no line with '{}'", app.begin);
      } else {
        outcome.result = hash_of(part);
      }
      break;
    }
    case AppResult::kChecksum:
    case AppResult::kSummary:
      if (!object.is_object() || !object.contains(member)) {
        outcome.wrong = fmt::format("its output has no {}", member);
      } else {
        outcome.result = hash_of(object.at(member).dump());
      }
      break;
  }
  if (app.figure.empty() || !outcome.wrong.empty()) return outcome;
  const std::string key(app.figure);
  const double figure = object.contains("figures") ? number_at(object.at("figures"), key.c_str()) : 0;
  if (figure > 0) {
    outcome.figure_s = figure;
  } else {
    outcome.wrong = fmt::format("its output has no {}", app.figure);
  }
  return outcome;
}

std::optional<AppTraffic> traffic_of(const std::string& account_file) {
  const Json whole = Json::try_parse(content_of_file(account_file));
  const Json account = whole.is_object() ? whole.value("total", Json()) : Json();
  if (!account.is_object()) return std::nullopt;
  if (!account.contains("read_bytes") || !account.contains("written_bytes")) return std::nullopt;
  AppTraffic traffic;
  traffic.managed_bytes = number_at(account, "far_peak_bytes");
  traffic.faults = number_at(account, "faults");
  traffic.read_bytes = number_at(account, "read_bytes");
  traffic.written_bytes = number_at(account, "written_bytes");
  traffic.fault_s = number_at(account, "fault_s");
  return traffic;
}

std::optional<AppTraffic> traffic_of_summary(const std::string& summary_file) {
  const Json summary = Json::try_parse(content_of_file(summary_file));
  if (!summary.is_object() || !summary.contains("matrix_far_read_bytes")) return std::nullopt;
  AppTraffic traffic;
  traffic.managed_bytes = number_at(summary, "matrix_far_bytes");
  traffic.faults = number_at(summary, "matrix_faults");
  traffic.read_bytes = number_at(summary, "matrix_far_read_bytes");
  traffic.fault_s = number_at(summary, "matrix_fault_s");
  return traffic;
}

AppFigures figures_of(const std::vector<AppRun>& runs) {
  AppFigures figures;
  std::vector<double> seconds;
  for (const AppRun& run : runs) {
    seconds.push_back(run.seconds);
    figures.resident_bytes = std::max(figures.resident_bytes, run.resident_bytes);
  }
  figures.seconds = measured(seconds);
  figures.wall_s = median_over(runs, [](const AppRun& run) { return run.wall_s; });
  figures.cpu_s = median_over(runs, [](const AppRun& run) { return run.cpu_s; });
  if (std::all_of(runs.begin(), runs.end(), [](const AppRun& run) { return run.traffic.has_value(); })) {
    const auto median = [&](double AppTraffic::*member) {
      return median_over(runs, [&](const AppRun& run) { return (*run.traffic).*member; });
    };
    figures.traffic = {median(&AppTraffic::managed_bytes), median(&AppTraffic::faults), median(&AppTraffic::read_bytes),
                       median(&AppTraffic::written_bytes), median(&AppTraffic::fault_s)};
  }
  figures.counters = runs.front().counters;
  for (std::size_t c = 0; c < figures.counters.size(); ++c) {
    CounterValue& counter = figures.counters[c];
    for (const AppRun& run : runs) {
      if (!run.counters[c].value) counter = run.counters[c];
    }
    if (counter.value) counter.value = median_over(runs, [&](const AppRun& run) { return *run.counters[c].value; });
  }
  return figures;
}

const CounterValue& counter_of(const std::vector<CounterValue>& counters, std::string_view name) {
  static const CounterValue none{"", "", std::nullopt, "this quantity was not counted"};
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [&](const CounterValue& counter) { return counter.name == name; });
  return found != counters.end() ? *found : none;
}

CounterValue memory_bandwidth(const AppFigures& figures) {
  const CounterValue& read = counter_of(figures.counters, "memory_read");
  const CounterValue& written = counter_of(figures.counters, "memory_written");
  CounterValue bandwidth{"memory_bandwidth", "B/s", std::nullopt, !read.value ? read.reason : written.reason};
  if (read.value && written.value && figures.wall_s > 0) {
    bandwidth.value = (*read.value + *written.value) / figures.wall_s;
  }
  return bandwidth;
}

}  // namespace ringside
