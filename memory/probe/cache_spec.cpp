// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/cache_spec.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <stdexcept>

namespace ringside::probe {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& found, const char* accepted) {
  throw std::invalid_argument(fmt::format("{}: found '{}', expected {}", key, found, accepted));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

double number(const std::string& key, const std::string& value, double least, double most) {
  std::size_t read = 0;
  double parsed = 0;
  try {
    parsed = std::stod(value, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read == 0 || read != value.size() || !(parsed >= least && parsed <= most)) {
    refuse(key, value, fmt::format("a number from {} to {}", least, most).c_str());
  }
  return parsed;
}

std::uint64_t bytes(const std::string& key, std::string value) {
  std::uint64_t unit = 1;
  if (!value.empty()) {
    const std::size_t scale = std::string("KMG").find(value.back());
    if (scale != std::string::npos) {
      unit = std::uint64_t{1} << (10 * (scale + 1));
      value.pop_back();
    }
  }
  return static_cast<std::uint64_t>(number(key, value, 1, 1e9)) * unit;
}

template <class Value>
Value one_of(const std::string& key, const std::string& value,
             const std::vector<std::pair<const char*, Value>>& known) {
  std::string accepted = "one of";
  for (const auto& [name, meaning] : known) {
    if (value == name) return meaning;
    accepted += fmt::format(" {}", name);
  }
  refuse(key, value, accepted.c_str());
}

void set_level(CacheLevel& level, const std::string& key, const std::string& value) {
  if (key == "size") {
    level.size_bytes = bytes(key, value);
  } else if (key == "line") {
    level.line_bytes = bytes(key, value);
  } else if (key == "ways") {
    level.ways = static_cast<std::uint32_t>(number(key, value, 1, 65536));
  } else if (key == "index") {
    level.index = one_of<Index>(key, value, {{"plain", Index::kPlain}, {"xor", Index::kXor}});
  } else if (key == "replacement") {
    level.replacement = one_of<Replacement>(key, value,
                                            {{"lru", Replacement::kLru},
                                             {"plru", Replacement::kPlru},
                                             {"fifo", Replacement::kFifo},
                                             {"random", Replacement::kRandom},
                                             {"adaptive", Replacement::kAdaptive}});
  } else if (key == "write") {
    level.write_back = one_of<bool>(key, value, {{"back", true}, {"through", false}});
  } else if (key == "allocate") {
    level.write_allocate = one_of<bool>(key, value, {{"yes", true}, {"no", false}});
  } else if (key == "prefetch") {
    level.prefetch = one_of<Prefetch>(
        key, value, {{"none", Prefetch::kNone}, {"next-line", Prefetch::kNextLine}, {"stride", Prefetch::kStride}});
  } else if (key == "hit") {
    level.hit_ns = number(key, value, 0.1, 1e6);
  } else {
    refuse("a cache", key, "size, line, ways, index, replacement, write, allocate, prefetch or hit");
  }
}

void set_memory(CacheSpec& spec, const std::string& key, const std::string& value) {
  if (key == "memory") {
    spec.memory_read_ns = number(key, value, 1, 1e7);
  } else if (key == "memory-write") {
    spec.memory_write_ns = number(key, value, 1, 1e7);
  } else if (key == "posted") {
    spec.posted_writes = one_of<bool>(key, value, {{"yes", true}, {"no", false}});
  } else if (key == "noise") {
    spec.noise = number(key, value, 0, 10);
  } else if (key == "spikes") {
    spec.spikes = number(key, value, 0, 1);
  } else if (key == "seed") {
    spec.seed = static_cast<std::uint64_t>(number(key, value, 0, 1e15));
  } else {
    refuse("the memory", key, "memory, memory-write, posted, noise, spikes or seed");
  }
}

template <class Set>
void for_each_setting(const std::string& text, const Set& set) {
  for (const std::string& setting : split(text, ',')) {
    if (setting.empty()) continue;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) refuse("a setting", setting, "KEY=VALUE");
    set(setting.substr(0, equals), setting.substr(equals + 1));
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

std::string_view to_string(Prefetch prefetch) noexcept {
  switch (prefetch) {
    case Prefetch::kNone: return "none";
    case Prefetch::kNextLine: return "next-line";
    case Prefetch::kStride: break;
  }
  return "stride";
}

CacheSpec parse_cache_spec(const std::string& text) {
  const std::vector<std::string> parts = split(text, ';');
  if (parts.size() > 2) refuse("the simulated memory", text, "LEVEL/LEVEL;MEMORY with one semicolon");
  CacheSpec spec;
  spec.levels.clear();
  double hit_ns = 2;
  for (const std::string& part : split(parts[0], '/')) {
    CacheLevel& level = spec.levels.emplace_back();
    level.hit_ns = hit_ns;
    for_each_setting(part,
                     [&level](const std::string& key, const std::string& value) { set_level(level, key, value); });
    check(level);
    hit_ns = level.hit_ns * 4;
  }
  spec.memory_read_ns = spec.memory_write_ns = std::max(80.0, hit_ns);
  if (parts.size() == 2) {
    for_each_setting(parts[1],
                     [&spec](const std::string& key, const std::string& value) { set_memory(spec, key, value); });
  }
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
