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

constexpr std::array kDocumented = {0, 2, 3, 5};  // a reader has no peer to lose and is not interrupted

void violated(Findings& findings, const Damage& damage, const std::string& text) {
  findings.violations.push_back(fmt::format("{} ({}): {}", damage.kind, damage.what, text));
}

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

void Readers::read(const std::string& pool, const Damage& damage, bool all, std::mt19937_64& random,
                   Findings& findings) const {
  start({"info", pool, "--json"}, damage, findings);
  start({"verify", pool}, damage, findings);
  start({"replay", pool, "--json"}, damage, findings);
  start({"report", pool, "-o", folder_ + "/report.html"}, damage, findings);
  tail(pool, damage, findings);
  export_one(pool, "last", damage, findings);
  const std::vector<std::uint64_t>& kept = damage.pool->kept;
  if (all) {
    start({"info", pool}, damage, findings);
    for (const std::uint64_t iteration : kept) export_one(pool, std::to_string(iteration), damage, findings);
  } else if (!kept.empty()) {
    const std::size_t any = std::uniform_int_distribution<std::size_t>(0, kept.size() - 1)(random);
    export_one(pool, std::to_string(kept[any]), damage, findings);
  }
  if (all || random() % 4 == 0) resume(pool, damage, findings);  // last: it writes
}

/// Returns the exit code, or -1 if there is none. The output is in the file `out` of the folder.
int Readers::start(const std::vector<std::string>& words, const Damage& damage, Findings& findings) const {
  const std::string out = folder_ + "/out";
  fs::remove(out);
  Victim process(programs_ + "/ringside", words, out);
  ++findings.processes;
  const std::optional<int> ended = process.wait();
  const std::string& command = words.front();
  if (!ended) {
    ++findings.hangs;
    violated(findings, damage, command + " does not end");
    return -1;
  }
  // A command whose own child process died reports a lost peer.
  const bool crashed = *ended > 128 || *ended == 4;
  ++findings.exits[command][crashed ? "crash" : std::to_string(*ended)];
  if (crashed) {
    ++findings.crashes;
    violated(findings, damage, fmt::format("{} ended with {}", command, *ended));
  } else if (std::find(kDocumented.begin(), kDocumented.end(), *ended) == kDocumented.end()) {
    ++findings.undocumented;
    violated(findings, damage, fmt::format("{} ended with exit code {}", command, *ended));
  }
  return *ended;
}

void Readers::export_one(const std::string& pool, const std::string& iteration, const Damage& damage,
                         Findings& findings) const {
  const std::string out = folder_ + "/x.npy";
  fs::remove(out);
  const int ended =
      start({"export", pool, "--iteration", iteration, "--format", "npy", "--output", out}, damage, findings);
  if (ended != 0) {
    ++findings.iterates_refused;
    if (fs::exists(out)) violated(findings, damage, fmt::format("export failed ({}) and left a file", ended));
    return;
  }
  const Bytes npy = read_bytes(out);
  const std::size_t payload = damage.pool->geometry.payload_bytes();
  const std::vector<Id128>& truth = damage.pool->truth;
  bool right = npy.size() > payload;
  if (right) {
    const Id128 found = hash128(npy.data() + npy.size() - payload, payload);
    right = iteration == "last" || damage.numbers_forged ? std::find(truth.begin(), truth.end(), found) != truth.end()
                                                         : truth.at(std::stoull(iteration)) == found;
  }
  ++(right ? findings.iterates_equal : findings.iterates_wrong);
  if (!right) violated(findings, damage, fmt::format("export of iteration {} is no iterate of the run", iteration));
}

void Readers::tail(const std::string& pool, const Damage& damage, Findings& findings) const {
  start({"tail", "--pool", pool, "--json"}, damage, findings);
  if (damage.records_forged) return;
  std::ifstream file(folder_ + "/out");
  for (std::string line; std::getline(file, line);) {
    const auto record = Json::try_parse(line);
    if (!record.is_object() || record.value("event", "") != "step") continue;
    const Specimen* specimen = damage.journal;
    const auto told = specimen->told.find(record["seq"].dump());
    const bool right = told != specimen->told.end() && told->second == line;
    ++(right ? findings.records_equal : findings.records_wrong);
    if (!right) violated(findings, damage, fmt::format("tail prints a record that never was: {}", line));
  }
}

/// A resumed run ends with the iterate of an undisturbed run, or reports why it does not continue.
void Readers::resume(const std::string& pool, const Damage& damage, Findings& findings) const {
  const Specimen& specimen = *damage.pool;
  const std::uint64_t last = specimen.iterations + kMoreIterations;
  const std::string iterations = fmt::format("--iterations={}", last);
  std::vector<std::string> words = {"run", "--pool", pool, iterations, "--durability=process", "--resume", "--quiet"};
  words.insert(words.end(), specimen.problem.begin(), specimen.problem.end());
  if (start(words, damage, findings) != 0) return;
  if (damage.numbers_forged) return;
  export_one(pool, std::to_string(last), damage, findings);
}

}  // namespace ringside::testing
