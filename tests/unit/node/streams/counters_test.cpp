// SPDX-License-Identifier: BSD-3-Clause
// A counter has a value or a reason for having none. The kernel's description of an event is parsed correctly.
#include "node/streams/counters.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::TemporaryFolder;

TEST(Counters, EachOneHasAValueOrAReasonAndIsNeverLeftOut) {
  Counters counters;
  counters.start();
  const std::vector<CounterValue> values = counters.stop();
  ASSERT_EQ(values.size(), 8U);
  EXPECT_EQ(values[0].name, "llc_misses");
  EXPECT_EQ(values[3].name, "cycles_per_instruction");
  for (const CounterValue& value : values) EXPECT_NE(value.value.has_value(), !value.reason.empty()) << value.name;
}

TEST(Counters, AnEventOfAUnitIsReadFromItsDescription) {
  const TemporaryFolder root;
  const std::string unit = "sys/bus/event_source/devices/uncore_imc_0";
  std::filesystem::create_directories(root.file(unit + "/events"));
  std::filesystem::create_directories(root.file(unit + "/format"));
  root.write(unit + "/type", "14\n");
  root.write(unit + "/cpumask", "0,24\n");
  root.write(unit + "/events/cas_count_read", "event=0x04,umask=0x03\n");
  root.write(unit + "/events/cas_count_read.scale", "6.103515625e-5\n");
  root.write(unit + "/events/cas_count_read.unit", "MiB\n");
  root.write(unit + "/format/event", "config:0-7\n");
  root.write(unit + "/format/umask", "config:8-15\n");
  const auto event = find_unit_event("uncore_imc_0", "cas_count_read", root.path());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, 14U);
  EXPECT_EQ(event->config, 0x304U);
  EXPECT_DOUBLE_EQ(event->scale * 1048576, 64);
  EXPECT_EQ(event->unit, "MiB");
  EXPECT_EQ(event->cpus, (std::vector<int>{0, 24}));
  EXPECT_FALSE(find_unit_event("uncore_imc_0", "cas_count_write", root.path()));
}

}  // namespace
}  // namespace ringside
