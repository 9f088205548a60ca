// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/cache_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace ringside::probe {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& found, const std::string& accepted) {
  throw std::invalid_argument(fmt::format("{}: found '{}', expected {}", key, found, accepted));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

struct Setting {
  std::string key, value;
};

double number(const Setting& given, double least, double most) {
  std::size_t read = 0;
  double parsed = 0;
  try {
    parsed = std::stod(given.value, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read == 0 || read != given.value.size() || !(parsed >= least && parsed <= most))
    refuse(given.key, given.value, fmt::format("a number from {} to {}", least, most));
  return parsed;
}

std::uint64_t bytes(Setting given) {
  const std::size_t scale = given.value.empty() ? std::string::npos : std::string_view("KMG").find(given.value.back());
  if (scale == std::string::npos) return static_cast<std::uint64_t>(number(given, 1, 1e9));
  given.value.pop_back();
  return static_cast<std::uint64_t>(number(given, 1, 1e9)) << (10 * (scale + 1));
}

/// The enumeration value or number that the given word means: its index among the known words.
template <class Value, class Words>
Value one_of(const Setting& given, const Words& known) {
  const auto found = std::find(known.begin(), known.end(), given.value);
  if (found == known.end()) refuse(given.key, given.value, fmt::format("one of {}", fmt::join(known, " ")));
  return static_cast<Value>(found - known.begin());
}

constexpr std::array<std::string_view, 2> kIndexNames = {"plain", "xor"}, kBackOrThrough = {"back", "through"},
                                          kYesOrNo = {"yes", "no"};

template <class Of>
using Key = std::pair<std::string_view, void (*)(Of&, const Setting&)>;

constexpr Key<CacheLevel> kOfLevel[] = {
    {"size", [](auto& level, auto& given) { level.size_bytes = bytes(given); }},
    {"line", [](auto& level, auto& given) { level.line_bytes = bytes(given); }},
    {"ways", [](auto& level, auto& given) { level.ways = static_cast<std::uint32_t>(number(given, 1, 65536)); }},
    {"index", [](auto& level, auto& given) { level.index = one_of<Index>(given, kIndexNames); }},
    {"replacement",
     [](auto& level, auto& given) { level.replacement = one_of<Replacement>(given, kReplacementNames); }},
    {"write", [](auto& level, auto& given) { level.write_back = one_of<int>(given, kBackOrThrough) == 0; }},
    {"allocate", [](auto& level, auto& given) { level.write_allocate = one_of<int>(given, kYesOrNo) == 0; }},
    {"prefetch", [](auto& level, auto& given) { level.prefetch = one_of<Prefetch>(given, kPrefetchNames); }},
    {"hit", [](auto& level, auto& given) { level.hit_ns = number(given, 0.1, 1e6); }}};

constexpr Key<CacheSpec> kOfMemory[] = {
    {"memory", [](auto& spec, auto& given) { spec.memory_read_ns = number(given, 1, 1e7); }},
    {"memory-write", [](auto& spec, auto& given) { spec.memory_write_ns = number(given, 1, 1e7); }},
    {"posted", [](auto& spec, auto& given) { spec.posted_writes = one_of<int>(given, kYesOrNo) == 0; }},
    {"noise", [](auto& spec, auto& given) { spec.noise = number(given, 0, 10); }},
    {"spikes", [](auto& spec, auto& given) { spec.spikes = number(given, 0, 1); }},
    {"seed", [](auto& spec, auto& given) { spec.seed = static_cast<std::uint64_t>(number(given, 0, 1e15)); }}};

/// `what`: the name of the thing that the keys describe, for the message.
template <class Of, std::size_t kCount>
void apply(const std::string& text, const Key<Of> (&keys)[kCount], const char* what, Of& of) {
  for (const std::string& setting : split(text, ',')) {
    if (setting.empty()) continue;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) refuse("a setting", setting, "KEY=VALUE");
    const Setting given{setting.substr(0, equals), setting.substr(equals + 1)};
    const auto known = std::find_if(keys, keys + kCount, [&](const Key<Of>& key) { return key.first == given.key; });
    if (known == keys + kCount) {
      std::string names;
      for (std::size_t i = 0; i < kCount; ++i)
        names += fmt::format("{}{}", i == 0 ? "" : i + 1 < kCount ? ", " : " or ", keys[i].first);
      refuse(what, given.key, names);
    }
    known->second(of, given);
  }
}

void check(const CacheLevel& level) {
  const std::uint64_t of_one_way = level.line_bytes * level.ways;
  if (!std::has_single_bit(level.line_bytes) || level.line_bytes < 16) {
    refuse("line", size_text(level.line_bytes), "a power of two from 16");
  }
  if (level.size_bytes % of_one_way != 0 || !std::has_single_bit(level.size_bytes / of_one_way)) {
    refuse("size", size_text(level.size_bytes), "line x ways x a power of two");
  }
  if (level.size_bytes / level.line_bytes > (1 << 24))
    refuse("size", size_text(level.size_bytes), "at most 2^24 lines");
  if (level.replacement == Replacement::kPlru && !std::has_single_bit(level.ways)) {
    refuse("ways", std::to_string(level.ways), "a power of two for replacement=plru");
  }
}

}  // namespace

CacheSpec parse_cache_spec(const std::string& text) {
  const std::vector<std::string> parts = split(text, ';');
  if (parts.size() > 2) refuse("the simulated memory", text, "LEVEL/LEVEL;MEMORY with one semicolon");
  CacheSpec spec;
  spec.levels.clear();
  double hit_ns = 2;
  for (const std::string& part : split(parts[0], '/')) {
    CacheLevel& level = spec.levels.emplace_back();
    level.hit_ns = hit_ns;
    apply(part, kOfLevel, "a cache", level);
    check(level);
    hit_ns = level.hit_ns * 4;
  }
  spec.memory_read_ns = spec.memory_write_ns = std::max(80.0, hit_ns);
  if (parts.size() == 2) apply(parts[1], kOfMemory, "the memory", spec);
  return spec;
}

std::string to_string(const CacheSpec& spec) {
  std::string text;
  for (const CacheLevel& level : spec.levels) {
    text += fmt::format("{}size={},line={},ways={},index={},replacement={},write={},allocate={},prefetch={},hit={}",
                        text.empty() ? "" : "/", level.size_bytes, level.line_bytes, level.ways,
                        level.index == Index::kPlain ? "plain" : "xor", to_string(level.replacement),
                        level.write_back ? "back" : "through", level.write_allocate ? "yes" : "no",
                        to_string(level.prefetch), level.hit_ns);
  }
  return text + fmt::format(";memory={},memory-write={},posted={},noise={},spikes={},seed={}", spec.memory_read_ns,
                            spec.memory_write_ns, spec.posted_writes ? "yes" : "no", spec.noise, spec.spikes,
                            spec.seed);
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", value, std::abs(value - std::round(value)) < 0.005 ? 0 : (value < 10 ? 2 : 1),
                     kUnits[unit]);
}

}  // namespace ringside::probe
