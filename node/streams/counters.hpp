// SPDX-License-Identifier: BSD-3-Clause
// The processor's counters around a measurement, if available: last-level cache misses, cycles and instructions of this
// process, the traffic of the memory controllers, and the energy of the sockets. A missing counter is n/a with a
// reason, never 0. The counters are read by perf_event_open(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

struct CounterValue {
  std::string name;             // "llc_misses"
  std::string unit;             // "1", "B", "J"
  std::optional<double> value;  // none: n/a
  std::string reason;           // the reason for n/a, one clause
};

/// An event of a unit of the machine; the kernel describes it below /sys/bus/event_source/devices.
struct UnitEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  double scale = 1;       // factor from a raw count to `unit`
  std::string unit;       // "MiB", "Joules"; empty: not stated
  std::vector<int> cpus;  // one CPU of each socket, on which the event is counted
};

/// Reads `event` of `unit` ("power", "energy-pkg"). Empty if the machine has no such unit or event, or if this function
/// does not support its description. `root` is put before /sys.
std::optional<UnitEvent> find_unit_event(const std::string& unit, const std::string& event,
                                         const std::string& root = "");

/// Counts between start and stop. Construct this object before the measured threads start, because they inherit its
/// counters. Start it at any time, from any thread. Stop it after the measured threads have ended.
class Counters {
 public:
  Counters();
  void start() noexcept;
  /// All names in a fixed order, on every machine: llc_misses, cycles, instructions, cycles_per_instruction,
  /// memory_read, memory_written, package_energy, memory_energy.
  std::vector<CounterValue> stop();

 private:
  struct Counter {
    std::string name;
    std::string unit;
    double scale = 1;
    std::vector<UniqueFd> parts;  // their counts are added up
    std::string reason;           // the reason why there are no parts
  };
  Counter of_process(const std::string& name, std::uint64_t config) const;
  Counter of_units(const std::string& name, const std::string& unit, const std::string& unit_prefix,
                   const std::vector<std::string>& events) const;

  std::vector<Counter> counters_;
};

}  // namespace ringside
