// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "memory/probe/simulated_memory.hpp"

namespace ringside::probe {
namespace {

template <class Value>
Value one_of(std::mt19937_64& random, std::initializer_list<Value> values) {
  return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
}

CacheLevel random_level(std::mt19937_64& random, std::uint64_t line, std::uint32_t sets_bits) {
  CacheLevel level;
  level.line_bytes = line;
  level.replacement = kReplacements[random() % kReplacements.size()];
  level.ways = level.replacement == Replacement::kPlru ? one_of<std::uint32_t>(random, {2, 4, 8, 16})
                                                       : one_of<std::uint32_t>(random, {1, 2, 3, 4, 6, 8, 12, 16});
  level.size_bytes = (line * level.ways) << sets_bits;
  return level;
}

bool is_right(const Answer& answer, const CacheSpec& spec) {
  const CacheLevel& last = spec.levels.back();
  if (answer.question == "size") {
    return answer.value * 20 >= last.size_bytes * 19 && answer.value * 20 <= last.size_bytes * 21;
  }
  if (answer.question == "line") return answer.value == last.line_bytes;
  if (answer.question == "ways") return answer.value == last.ways;
  // With two ways, PLRU and LRU are the same policy.
  if (answer.question == "replacement" && last.ways == 2 && last.replacement == Replacement::kPlru)
    return answer.answer == "lru";
  return answer.answer == truth_of(spec, answer.question);
}

/// The library is write-back and allocates on writes. It may keep any granule at any place, and its replacement policy
/// is not one of the policies that the probes compare.
bool is_right(const Answer& answer, const LibraryChoice& choice) {
  if (answer.question == "size")
    return answer.value * 100 >= choice.dram_bytes * 88 && answer.value * 100 <= choice.dram_bytes * 112;
  if (answer.question == "line") return answer.value == (choice.granule_bytes == 0 ? 4096 : choice.granule_bytes);
  if (answer.question == "prefetch") return answer.answer == (choice.read_ahead ? "sequential" : "none");
  return answer.question == "write" && answer.answer == "write-back, write-allocate";
}

}  // namespace

CacheSpec random_hierarchy(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 13);
  CacheSpec spec;
  spec.levels.clear();
  const std::uint64_t line = one_of<std::uint64_t>(random, {32, 64, 128, 256, 4096});
  const bool behind_another = random() % 2 == 0;
  if (behind_another) {
    CacheLevel nearer = random_level(random, one_of<std::uint64_t>(random, {32, 64}), 4 + random() % 2);
    if (nearer.line_bytes > line) nearer.line_bytes = line;
    nearer.replacement = one_of(random, {Replacement::kLru, Replacement::kPlru, Replacement::kFifo});
    nearer.ways = one_of<std::uint32_t>(random, {1, 2, 4, 8});
    nearer.size_bytes = (nearer.line_bytes * nearer.ways) << 4;
    nearer.hit_ns = 2;
    spec.levels.push_back(nearer);
  }
  CacheLevel last = random_level(random, line, 5 + random() % 4);
  while (behind_another && last.size_bytes < 8 * spec.levels[0].size_bytes) last.size_bytes *= 2;
  last.hit_ns = behind_another ? 10 : 3;
  last.index = !behind_another && random() % 3 == 0 ? Index::kXor : Index::kPlain;
  last.write_back = random() % 3 != 0;
  last.write_allocate = behind_another || random() % 3 != 0;
  last.prefetch = one_of(random, {Prefetch::kNone, Prefetch::kNextLine, Prefetch::kStride});
  spec.levels.push_back(last);
  spec.memory_read_ns = std::uniform_real_distribution<double>(60, 400)(random);
  spec.memory_write_ns = spec.memory_read_ns * std::uniform_real_distribution<double>(0.6, 2)(random);
  spec.noise = std::uniform_real_distribution<double>(0.01, 0.08)(random);
  spec.spikes = one_of(random, {0.0, 0.0001, 0.0005});
  spec.seed = seed;
  return spec;
}

std::string truth_of(const CacheSpec& spec, const std::string& question) {
  const CacheLevel& last = spec.levels.back();
  if (question == "size") return std::to_string(last.size_bytes);
  if (question == "line") return std::to_string(last.line_bytes);
  if (question == "ways") return std::to_string(last.ways);
  if (question == "prefetch") return std::string(to_string(last.prefetch));
  if (question == "replacement") return last.ways == 1 ? "none" : std::string(to_string(last.replacement));
  return fmt::format("{}, {}", last.write_back ? "write-back" : "write-through",
                     last.write_allocate ? "write-allocate" : "no write-allocate");
}

Validation validate(std::uint64_t first_seed, int hierarchies) {
  Validation validation;
  validation.hierarchies = hierarchies;
  for (int i = 0; i < hierarchies; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const CacheSpec spec = random_hierarchy(seed);
    SimulatedMemory memory(spec);
    const ProbeReport report = probe_memory(memory);
    int right = 0;
    bool wrong = false;
    const auto fail = [&](const std::string& what) {
      validation.failures.push_back(fmt::format("seed {}: {} [{}]", seed, what, to_string(spec)));
    };
    if (static_cast<std::size_t>(report.levels) != spec.levels.size()) {
      fail(fmt::format("found {} levels, but there are {}", report.levels, spec.levels.size()));
    }
    for (const Answer& answer : report.answers) {
      Tally& tally = validation.questions[answer.question];
      if (answer.determined() && is_right(answer, spec)) {
        ++tally.right, ++right;
      } else {
        ++(answer.determined() ? tally.wrong : tally.undetermined);
        wrong = wrong || answer.determined();
        fail(fmt::format("{}: found {}, but it is {} ({:.2f}; {})", answer.question, answer.answer,
                         truth_of(spec, answer.question), answer.confidence, answer.evidence));
      }
    }
    validation.fully_right += right == static_cast<int>(std::size(kQuestions)) ? 1 : 0;
    validation.with_wrong += wrong ? 1 : 0;
  }
  return validation;
}

bool LibraryCase::is_right(const std::string& question) const {
  return std::any_of(report.answers.begin(), report.answers.end(), [&](const Answer& answer) {
    return answer.question == question && answer.determined() && probe::is_right(answer, choice);
  });
}

bool LibraryCase::no_answer_is_wrong() const {
  return std::all_of(report.answers.begin(), report.answers.end(),
                     [&](const Answer& answer) { return !answer.determined() || probe::is_right(answer, choice); });
}

LibraryCase probe_library(const LibraryChoice& choice, const ProbeChoice& questions) {
  LibraryMemory memory(choice);
  return {choice, probe_memory(memory, questions)};
}

}  // namespace ringside::probe
