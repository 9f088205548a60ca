// SPDX-License-Identifier: BSD-3-Clause
#include "node/streams/counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/platform/system_files.hpp"
#include "common/program/topology.hpp"

namespace ringside {
namespace {

constexpr const char* kUnits = "/sys/bus/event_source/devices";

int open_counter(perf_event_attr& attributes, int process, int cpu) noexcept {
  attributes.size = sizeof attributes;
  attributes.disabled = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, process, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string why_not_opened(int error, const std::string& what) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return fmt::format("this machine does not count {}", what);
    case EACCES:
    case EPERM: {
      const auto level = first_line("/proc/sys/kernel/perf_event_paranoid");
      return fmt::format("the kernel does not permit it (perf_event_paranoid is {})", level.value_or("not known"));
    }
    case ENOSYS: return "the kernel has no perf_event_open";
    default: return fmt::format("perf_event_open: {}", errno_text(error));
  }
}

/// The number of a text such as "0x1f" or "31".
std::optional<std::uint64_t> number_of_term(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Puts `value` into the bits that a format such as "config:8-15" names; empty for other formats.
std::optional<std::uint64_t> placed(std::string_view format, std::uint64_t value) {
  constexpr std::string_view kBegin = "config:";
  if (!format.starts_with(kBegin)) return std::nullopt;
  const auto low = number_of_term(format.substr(kBegin.size(), format.find_first_of("-,") - kBegin.size()));
  if (!low || *low > 63 || format.find(',') != std::string_view::npos) return std::nullopt;
  return value << *low;
}

/// The configuration for a text such as "event=0x04,umask=0x03", in the format that the unit's `folder` describes.
std::optional<std::uint64_t> config_of(std::string_view text, const std::string& folder) {
  std::uint64_t config = 0;
  while (!text.empty()) {
    const std::string_view term = text.substr(0, text.find(','));
    text.remove_prefix(std::min(term.size() + 1, text.size()));
    const std::size_t equals = term.find('=');
    const std::string word(term.substr(0, equals));
    const auto value =
        equals == std::string_view::npos ? std::optional<std::uint64_t>(1) : number_of_term(term.substr(equals + 1));
    const auto format = first_line(folder + "/format/" + word);
    if (!value || !format) return std::nullopt;
    const auto bits = placed(*format, *value);
    if (!bits) return std::nullopt;
    config |= *bits;
  }
  return config;
}

/// The count, extrapolated if the kernel multiplexed the hardware counter; empty if the counter never counted.
std::optional<double> count_of(const UniqueFd& counter) {
  std::array<std::uint64_t, 3> found{};  // count, nanoseconds enabled, nanoseconds counting
  if (read(counter.get(), found.data(), sizeof found) != static_cast<ssize_t>(sizeof found) || found[2] == 0) {
    return std::nullopt;
  }
  return static_cast<double>(found[0]) * static_cast<double>(found[1]) / static_cast<double>(found[2]);
}

double in_si(const std::string& unit) noexcept {
  return unit == "MiB" ? 1048576.0 : 1.0;
}

}  // namespace

std::optional<UnitEvent> find_unit_event(const std::string& unit, const std::string& event, const std::string& root) {
  const std::string folder = fmt::format("{}{}/{}", root, kUnits, unit);
  const auto type = number_in(folder + "/type");
  const auto text = first_line(folder + "/events/" + event);
  if (!type || *type < 0 || !text) return std::nullopt;
  const auto config = config_of(*text, folder);
  if (!config) return std::nullopt;
  UnitEvent found;
  found.type = static_cast<std::uint32_t>(*type);
  found.config = *config;
  if (const auto scale = first_line(folder + "/events/" + event + ".scale")) {
    found.scale = std::strtod(scale->c_str(), nullptr);
  }
  found.unit = first_line(folder + "/events/" + event + ".unit").value_or("");
  const auto cpus = first_line(folder + "/cpumask");
  found.cpus = cpus && !cpus->empty() ? parse_core_list(*cpus, folder + "/cpumask").cpus : std::vector<int>{0};
  return found;
}

Counters::Counter Counters::of_process(const std::string& name, std::uint64_t config) const {
  Counter counter{name, "1", 1, {}, {}};
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = config;
  attributes.inherit = 1;  // threads created later inherit the counter
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  UniqueFd opened(open_counter(attributes, 0, -1));
  if (opened.valid()) {
    counter.parts.push_back(std::move(opened));
  } else {
    counter.reason = why_not_opened(errno, name == "llc_misses" ? "misses of the last-level cache" : name);
  }
  return counter;
}

/// All units whose names begin with `unit_prefix`, each with the first of `events` that it has.
Counters::Counter Counters::of_units(const std::string& name, const std::string& unit, const std::string& unit_prefix,
                                     const std::vector<std::string>& events) const {
  Counter counter{name, unit, 1, {}, fmt::format("the kernel lists no {} in {}", unit_prefix, kUnits)};
  for (const std::string& device : entries_of(kUnits, unit_prefix)) {
    for (const std::string& event : events) {
      const auto found = find_unit_event(device, event);
      if (!found) {
        if (counter.parts.empty()) counter.reason = fmt::format("{} has no event {}", device, event);
        continue;
      }
      counter.scale = found->scale * in_si(found->unit);
      for (const int cpu : found->cpus) {
        perf_event_attr attributes{};
        attributes.type = found->type;
        attributes.config = found->config;
        UniqueFd opened(open_counter(attributes, -1, cpu));
        if (!opened.valid()) {
          counter.reason = why_not_opened(errno, event);
          counter.parts.clear();
          return counter;  // a sum that lacks a part would be wrong
        }
        counter.parts.push_back(std::move(opened));
      }
      break;
    }
  }
  return counter;
}

Counters::Counters() {
  counters_.push_back(of_process("llc_misses", PERF_COUNT_HW_CACHE_MISSES));
  counters_.push_back(of_process("cycles", PERF_COUNT_HW_CPU_CYCLES));
  counters_.push_back(of_process("instructions", PERF_COUNT_HW_INSTRUCTIONS));
  counters_.push_back(of_units("memory_read", "B", "uncore_imc", {"cas_count_read", "data_read"}));
  counters_.push_back(of_units("memory_written", "B", "uncore_imc", {"cas_count_write", "data_write"}));
  counters_.push_back(of_units("package_energy", "J", "power", {"energy-pkg"}));
  counters_.push_back(of_units("memory_energy", "J", "power", {"energy-ram"}));
}

void Counters::start() noexcept {
  for (const Counter& counter : counters_) {
    for (const UniqueFd& part : counter.parts) {
      ioctl(part.get(), PERF_EVENT_IOC_RESET, 0);
      ioctl(part.get(), PERF_EVENT_IOC_ENABLE, 0);
    }
  }
}

std::vector<CounterValue> Counters::stop() {
  for (const Counter& counter : counters_) {
    for (const UniqueFd& part : counter.parts) ioctl(part.get(), PERF_EVENT_IOC_DISABLE, 0);
  }
  std::vector<CounterValue> values;
  for (const Counter& counter : counters_) {
    CounterValue value{counter.name, counter.unit, std::nullopt, counter.reason};
    double sum = 0;
    bool whole = !counter.parts.empty();
    for (const UniqueFd& part : counter.parts) {
      const auto count = count_of(part);
      whole = whole && count.has_value();
      sum += count.value_or(0);
    }
    if (whole) {
      value.value = sum * counter.scale;
      value.reason.clear();
    } else if (!counter.parts.empty()) {
      value.reason = "the kernel never ran this counter";
    }
    values.push_back(std::move(value));
  }
  CounterValue per_instruction{"cycles_per_instruction", "1", std::nullopt, {}};
  const CounterValue& cycles = values[1];
  const CounterValue& instructions = values[2];
  if (cycles.value && instructions.value && *instructions.value > 0) {
    per_instruction.value = *cycles.value / *instructions.value;
  } else {
    per_instruction.reason = !cycles.value ? cycles.reason : instructions.reason;
  }
  values.insert(values.begin() + 3, per_instruction);
  return values;
}

}  // namespace ringside
