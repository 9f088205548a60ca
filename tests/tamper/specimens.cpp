// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tamper/specimens.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "analyzer/journal/journal.hpp"
#include "common/json/json.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "producer/solver/problem.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {
namespace {

namespace fs = std::filesystem;

struct Plan {
  const char* name;
  const char* matrix;
  double damping;
  std::uint64_t before;  // iterations of a first run, which is then resumed; 0: none
  std::uint64_t iterations;
  std::uint64_t slots;
  const char* journal;
};

constexpr Plan kPlans[] = {
    {"wrapped", "grid:30", 0.85, 0, 40, 4, "--journal=file"},
    {"another-problem", "grid:30", 0.8, 0, 40, 4, "--journal=file"},
    {"resumed", "grid:30", 0.85, 15, 30, 4, "--journal=file"},
    {"not-wrapped", "grid:20", 0.85, 0, 3, 5, "--journal=file"},
    {"no-journal", "grid:20", 0.85, 0, 12, 3, "--journal=off"},
    {"wrapped-journal", "grid:20", 0.85, 0, 13000, 3, "--journal-size=4M"},
};

void run(const std::string& programs, const std::vector<std::string>& words, const std::string& log) {
  Victim victim(programs + "/ringside", words, log);
  if (victim.wait() == 0) return;
  throw system_error("`ringside {}` failed while a specimen was made, see {}", joined(words, " "), log);
}

std::vector<std::string> run_words(const std::vector<std::string>& problem, std::uint64_t iterations,
                                   const std::string& pool) {
  std::vector<std::string> words = {
      "run",     "--pool=" + pool, fmt::format("--iterations={}", iterations), "--durability=process",
      "--quiet", "--resume"};
  words.insert(words.end(), problem.begin(), problem.end());
  return words;
}

std::vector<Id128> solve(const Plan& plan) {
  SolveOptions options;
  options.matrix = plan.matrix;
  options.damping = plan.damping;
  const Problem problem = load_problem(options);
  std::vector<double> previous(problem.solver->rows());
  std::vector<double> next(previous.size());
  std::vector<Id128> truth;
  problem.solver->start(previous.data());
  problem.solver->prepare(previous.data(), {});
  truth.push_back(hash128(previous.data(), previous.size() * sizeof(double)));
  for (std::uint64_t k = 1; k <= plan.iterations + kMoreIterations; ++k) {
    problem.solver->iterate(previous.data(), next.data());
    truth.push_back(hash128(next.data(), next.size() * sizeof(double)));
    previous.swap(next);
  }
  return truth;
}

std::map<std::string, std::string> told_by_tail(const std::string& programs, const std::string& pool,
                                                const std::string& out) {
  fs::remove(out);
  run(programs, {"tail", "--pool", pool, "--json"}, out);
  std::map<std::string, std::string> told;
  std::ifstream file(out);
  for (std::string line; std::getline(file, line);) {
    const auto record = Json::try_parse(line);
    if (!record.is_discarded() && record.value("event", "") == "step") told[record["seq"].dump()] = line;
  }
  return told;
}

}  // namespace

Bytes read_bytes(const std::string& path) {
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(path, missing);
  if (missing) return {};
  Bytes bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

void write_bytes(const std::string& path, const Bytes& bytes) {
  constexpr std::size_t kBlock = 4096;
  {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
      const std::size_t size = std::min(kBlock, bytes.size() - at);
      static constexpr std::array<std::byte, kBlock> kZeros{};
      if (std::memcmp(bytes.data() + at, kZeros.data(), size) == 0) continue;
      file.seekp(static_cast<std::streamoff>(at));
      file.write(reinterpret_cast<const char*>(bytes.data() + at), static_cast<std::streamsize>(size));
    }
    if (!file) throw system_error("{}: cannot be written", path);
  }
  fs::resize_file(path, bytes.size());
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

Files read_files(const std::string& pool) {
  Files files;
  files.pool = read_bytes(pool);
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) files.journal[log] = read_bytes(journal_log_path(pool, log));
  return files;
}

void write_files(const std::string& pool, const Files& files) {
  write_bytes(pool, files.pool);
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    fs::remove(journal_log_path(pool, log));
    if (!files.journal[log].empty()) write_bytes(journal_log_path(pool, log), files.journal[log]);
  }
}

std::vector<Specimen> make_specimens(const std::string& folder, const std::string& programs) {
  std::vector<Specimen> all;
  for (const Plan& plan : kPlans) {
    const std::string pool = folder + "/" + plan.name + ".pool";
    const std::string log = folder + "/specimens.log";
    Specimen made;
    made.name = plan.name;
    made.problem = {fmt::format("--matrix={}", plan.matrix), fmt::format("--damping={}", plan.damping)};
    made.iterations = plan.iterations;
    made.slots = plan.slots;
    for (const std::uint64_t iterations : {plan.before, plan.iterations}) {
      if (iterations == 0) continue;
      std::vector<std::string> words = run_words(made.problem, iterations, pool);
      words.emplace_back(plan.journal);
      words.push_back(fmt::format("--slots={}", plan.slots));
      run(programs, words, log);
      if (iterations != plan.iterations) made.earlier = read_files(pool);
    }
    made.files = read_files(pool);
    {
      const RingReader reader = RingReader::open(pool);
      made.geometry = reader.ring().geometry();
      for (const KeptSlot& kept : reader.recover().kept) made.kept.push_back(kept.header.iteration);
    }
    made.truth = solve(plan);
    if (!made.files.journal[0].empty()) made.told = told_by_tail(programs, pool, folder + "/tail.out");
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace ringside::testing
