// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tamper/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "common/json/json.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::array kDocumented = {0, 2, 3, 5};  // a reader cannot lose a peer and is not interrupted

/// Runs the readers of one damaged pool.
class Reading {
 public:
  Reading(const Readers& place, const std::string& pool, const Damage& damage, Findings& findings)
      : place_(place), pool_(pool), damage_(damage), findings_(findings) {}

  /// Returns the exit code, or -1 if there is none. The output is in the file `out` of the folder.
  int start(const std::vector<std::string>& words) {
    const std::string out = place_.folder + "/out";
    fs::remove(out);
    Victim process(place_.programs + "/ringside", words, out);
    ++findings_.processes;
    const std::optional<int> ended = process.wait();
    const std::string& command = words.front();
    if (!ended) {
      ++findings_.hangs;
      violated(command + " does not end");
      return -1;
    }
    // If a child process of a command died, the command reports a lost peer.
    const bool crashed = *ended > 128 || *ended == 4;
    ++findings_.exits[command][crashed ? "crash" : std::to_string(*ended)];
    if (crashed) {
      ++findings_.crashes;
      violated(fmt::format("{} ended with {}", command, *ended));
    } else if (std::find(kDocumented.begin(), kDocumented.end(), *ended) == kDocumented.end()) {
      ++findings_.undocumented;
      violated(fmt::format("{} ended with exit code {}", command, *ended));
    }
    return *ended;
  }

  void export_one(const std::string& iteration) {
    const std::string out = place_.folder + "/x.npy";
    fs::remove(out);
    const int ended = start({"export", pool_, "--iteration", iteration, "--format", "npy", "--output", out});
    if (ended != 0) {
      ++findings_.iterates_refused;
      if (fs::exists(out)) violated(fmt::format("export failed ({}) and left a file", ended));
      return;
    }
    const Bytes npy = read_bytes(out);
    const std::size_t payload = damage_.pool->geometry.payload_bytes();
    const std::vector<Id128>& truth = damage_.pool->truth;
    bool right = npy.size() > payload;
    if (right) {
      const Id128 found = hash128(npy.data() + npy.size() - payload, payload);
      right = iteration == "last" || damage_.numbers_forged
                  ? std::find(truth.begin(), truth.end(), found) != truth.end()
                  : truth.at(std::stoull(iteration)) == found;
    }
    ++(right ? findings_.iterates_equal : findings_.iterates_wrong);
    if (!right) violated(fmt::format("export of iteration {} is no iterate of the run", iteration));
  }

  void tail() {
    start({"tail", "--pool", pool_, "--json"});
    if (damage_.records_forged) return;
    std::ifstream file(place_.folder + "/out");
    for (std::string line; std::getline(file, line);) {
      const auto record = Json::try_parse(line);
      if (!record.is_object() || record.value("event", "") != "step") continue;
      const Specimen* specimen = damage_.journal;
      const auto told = specimen->told.find(record["seq"].dump());
      const bool right = told != specimen->told.end() && told->second == line;
      ++(right ? findings_.records_equal : findings_.records_wrong);
      if (!right) violated(fmt::format("tail prints a record that never was: {}", line));
    }
  }

  /// A resumed run must end with the iterate of an undisturbed run, or report why it does not continue.
  void resume() {
    const Specimen& specimen = *damage_.pool;
    const std::uint64_t last = specimen.iterations + kMoreIterations;
    const std::string iterations = fmt::format("--iterations={}", last);
    std::vector<std::string> words = {"run",      "--pool", pool_, iterations, "--durability=process",
                                      "--resume", "--quiet"};
    words.insert(words.end(), specimen.problem.begin(), specimen.problem.end());
    if (start(words) != 0) return;
    if (damage_.numbers_forged) return;
    export_one(std::to_string(last));
  }

 private:
  void violated(const std::string& text) {
    findings_.violations.push_back(fmt::format("{} ({}): {}", damage_.kind, damage_.what, text));
  }

  const Readers& place_;
  const std::string& pool_;
  const Damage& damage_;
  Findings& findings_;
};

}  // namespace

std::uint64_t Findings::all_cases() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, count] : cases) sum += count;
  return sum;
}

void Findings::add(const Findings& other) {
  for (const auto& [kind, count] : other.cases) cases[kind] += count;
  for (const auto& [command, codes] : other.exits) {
    for (const auto& [code, count] : codes) exits[command][code] += count;
  }
  processes += other.processes;
  crashes += other.crashes;
  hangs += other.hangs;
  undocumented += other.undocumented;
  iterates_equal += other.iterates_equal;
  iterates_refused += other.iterates_refused;
  iterates_wrong += other.iterates_wrong;
  records_equal += other.records_equal;
  records_wrong += other.records_wrong;
  violations.insert(violations.end(), other.violations.begin(), other.violations.end());
}

void read_damaged(const Readers& place, const std::string& pool, const Damage& damage, bool all,
                  std::mt19937_64& random, Findings& findings) {
  Reading reading(place, pool, damage, findings);
  reading.start({"info", pool, "--json"});
  reading.start({"verify", pool});
  reading.start({"replay", pool, "--json"});
  reading.start({"report", pool, "-o", place.folder + "/report.html"});
  reading.tail();
  reading.export_one("last");
  const std::vector<std::uint64_t>& kept = damage.pool->kept;
  if (all) {
    reading.start({"info", pool});
    for (const std::uint64_t iteration : kept) reading.export_one(std::to_string(iteration));
  } else if (!kept.empty()) {
    const std::size_t any = std::uniform_int_distribution<std::size_t>(0, kept.size() - 1)(random);
    reading.export_one(std::to_string(kept[any]));
  }
  if (all || random() % 4 == 0) reading.resume();  // this is the last one, because it writes
}

}  // namespace ringside::testing
