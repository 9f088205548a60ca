// SPDX-License-Identifier: BSD-3-Clause
// How much time do leases take, and is a broken lease ever missed? The program has two parts:
//   calls   the lock calls of a step: the two calls of the analyzer, and one call that fails, while other readers hold
//           leases of the file
//   views   a reader works on many steps in place while another process commits as fast as it can; no view with bytes
//           of two steps may pass its check
#include <fcntl.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bench/programs/bench_program.hpp"
#include "bench/programs/held_views.hpp"
#include "common/files/slot_lease.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside::bench {
namespace {

UniqueFd opened(const std::string& path, int flags) {
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!fd.valid()) throw system_error("{}: cannot be opened", path);
  return fd;
}

double mean_ns(int calls, const auto& call) {
  const std::int64_t begin_ns = now_ns();
  for (int i = 0; i < calls; ++i) call();
  return static_cast<double>(now_ns() - begin_ns) / calls;
}

Json measure_calls(const std::string& folder, int other_leases, int repeats) {
  constexpr int kCalls = 2'000;            // few enough for one time slice
  constexpr std::uint32_t kHeldSlots = 7;  // slot 0 is free
  const std::string path = folder + "/leases." + std::to_string(getpid()) + ".file";
  const UniqueFd analyzer = opened(path, O_RDWR | O_CREAT);
  std::vector<UniqueFd> readers;
  for (int i = 0; i < other_leases; ++i) {
    readers.push_back(opened(path, O_RDONLY));
    take_lease(readers.back().get(), 1 + static_cast<std::uint32_t>(i) % kHeldSlots, Lease::kShared);
  }
  std::vector<double> pair;
  std::vector<double> failed;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    pair.push_back(mean_ns(kCalls, [&] {
      take_lease(analyzer.get(), 0, Lease::kExclusive);
      end_lease(analyzer.get(), 0);
    }));
    if (other_leases > 0) {
      failed.push_back(mean_ns(kCalls, [&] { take_lease(analyzer.get(), 1, Lease::kExclusive); }));
    }
  }
  std::filesystem::remove(path);
  Json result = {{"other_leases", other_leases}, {"pair", spread(pair, "ns")}};
  result["failed"] = failed.empty() ? Json() : spread(failed, "ns");
  return result;
}

Json measure_views(const std::string& folder, std::uint32_t slots, std::uint64_t words, std::uint64_t views) {
  const std::filesystem::path path = folder + "/leases." + std::to_string(getpid()) + ".pool";
  struct Remove {
    const std::filesystem::path& path;
    ~Remove() { std::filesystem::remove(path); }
  } const remove{path};
  const FastWriter writer(path, slots, words);
  const RingReader reader = RingReader::open(path);
  const std::uint64_t steps_before = writer.steps();
  const std::int64_t begin_ns = now_ns();
  const HeldViews held = hold_views(reader, views, 1000);
  const double seconds = static_cast<double>(now_ns() - begin_ns) * 1e-9;
  return {{"slots", slots},
          {"step_bytes", words * sizeof(std::uint64_t)},
          {"seconds", seconds},
          {"steps_committed", writer.steps() - steps_before},
          {"leases_broken", writer.leases_broken()},
          {"views", held.held},
          {"refused", held.refused},
          {"intact", held.intact},
          {"overwritten", held.overwritten},
          {"torn", held.torn},
          {"held_for_2k_steps_intact", held.waited_intact},
          {"held_for_2k_steps_overwritten", held.waited_overwritten}};
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("leases",
                       "Measures what the lock calls of a step cost. Also checks that a reader of many steps in place "
                       "always notices that a step was overwritten; if not, the exit code is 5. Prints JSON.");
  std::vector<int> slots = {3, 8};
  std::uint64_t views = 1'000'000;
  std::uint64_t words = 512;
  int repeats = 201;
  std::string folder = "/dev/shm";
  bool torn = false;
  program.line.option("--slots", slots, "Slots of the rings").comma_separated().check(whole_number_within(3, 1024));
  program.line.option("--views", views, "Steps to hold on each ring").check(whole_number_within(1, 1'000'000'000));
  program.line.option("--words", words, "Words of a step").check(whole_number_within(2, 1 << 20));
  program.line.option("--repeats", repeats, "Measured repeats of the calls").check(whole_number_within(5, 10'000));
  program.line.option("--folder", folder, "Folder in which the files are made");
  const int code = program.run(argc, argv, [&](Json& report) {
    report["folder"] = folder;
    for (const int others : {0, 1, 16, 256}) report["calls"].push_back(measure_calls(folder, others, repeats));
    for (const int count : slots) {
      report["views"].push_back(measure_views(folder, static_cast<std::uint32_t>(count), words, views));
      torn = torn || report["views"].back()["torn"] != 0;
    }
  });
  return torn ? static_cast<int>(ExitCode::kDamaged) : code;
}
