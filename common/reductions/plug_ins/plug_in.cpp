// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/plug_ins/plug_in.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/schema/dtype.hpp"
#include "common/schema/names.hpp"

namespace ringside {
namespace {

// The size of the declaration in its first version.
constexpr std::uint32_t kFirstSize = sizeof(ringside_reduction);
constexpr std::uint32_t kFirstResultSize = sizeof(ringside_reduction_result);
constexpr std::uint32_t kKnownFlags =
    RINGSIDE_REDUCTION_RAW | RINGSIDE_REDUCTION_ANY_ORDER | RINGSIDE_REDUCTION_NEEDS_PREVIOUS;

std::vector<std::byte> bytes_of_file(const std::string& path) {
  const RegularFile file = open_input(path);
  if (!file.valid()) {
    const bool is_missing = file.error == ENOENT || file.error == ENOTDIR || !file.kind.empty();
    const std::string line = fmt::format("{}: {}; expected the shared library of a plug-in", path, file.why());
    throw is_missing ? usage_error("{}", line) : system_error("{}", line);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.status.st_size));
  if (read_whole(file.fd.get(), bytes, 0) < bytes.size()) {
    throw system_error("{}: {}", path, errno != 0 ? errno_text(errno) : "the file became shorter while it was read");
  }
  return bytes;
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386: return "i386";
    case EM_ARM: return "ARM";
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "AArch64";
    case EM_RISCV: return "RISC-V";
    default: return fmt::format("machine {}", machine);
  }
}

/// Checks the file first, because the dynamic linker's own messages about wrong files are hard to understand.
void check_elf(const std::string& path, const std::vector<std::byte>& bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    throw usage_error("{}: not an ELF file; expected the shared library of a plug-in", path);
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    throw usage_error("{}: found a library for {}{}; expected one for x86-64", path, machine_name(header.e_machine),
                      header.e_ident[EI_CLASS] == ELFCLASS64 ? "" : " (32 bits)");
  }
  if (header.e_type != ET_DYN) throw usage_error("{}: not a shared library; expected one (cc -shared -fPIC)", path);
}

std::shared_ptr<void> open_library(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    throw usage_error("{}: the dynamic linker refuses it: {}", path, why != nullptr ? why : "unknown reason");
  }
  // The library is never closed: threads may have run its code, and it may have installed handlers of its own.
  return {handle, [](void*) {}};
}

/// The table that the macro RINGSIDE_REDUCTIONS defines.
std::vector<const ringside_reduction*> reductions_in(void* library, const std::string& path) {
  const auto* const table =
      static_cast<const ringside_reduction* const*>(dlsym(library, "ringside_reductions"));
  if (table == nullptr) {
    throw usage_error("{}: exports no symbol 'ringside_reductions'; expected RINGSIDE_REDUCTIONS(...) of "
                      "ringside_reduction.h in it",
                      path);
  }
  std::vector<const ringside_reduction*> found;
  while (found.size() < kMostPlugIns && table[found.size()] != nullptr) found.push_back(table[found.size()]);
  if (found.empty()) throw usage_error("{}: declares no reduction; expected at least one", path);
  return found;
}

std::string name_of(const ringside_reduction& declared) {
  return declared.name != nullptr ? declared.name : "";
}

Id128 id_of(const std::vector<std::byte>& bytes, const PlugInSpec& spec, const std::string& name) {
  const Id128 content = hash128(bytes.data(), bytes.size());
  std::string text = to_string(content);
  text.append(1, '\0').append(name);
  for (const auto& [key, value] : spec.settings) text.append(1, '\0').append(key).append(1, '\0').append(value);
  return hash128(text.data(), text.size());
}

}  // namespace

// A path may contain ':' and '=', so the words are taken from the end: first settings, as long as a word contains '=',
// then the name.
PlugInSpec parse_plug_in(std::string_view text) {
  constexpr const char* kExpected = "expected FILE.so:NAME[:KEY=VALUE]...";
  PlugInSpec spec;
  spec.text = text;
  std::string_view rest = text;
  const auto last_word = [&rest] { return rest.substr(std::min(rest.rfind(':'), rest.size() - 1) + 1); };
  const auto take_away = [&rest](std::string_view word) { rest.remove_suffix(word.size() + 1); };
  while (rest.find(':') != rest.npos && last_word().find('=') != std::string_view::npos &&
         last_word().find('/') > last_word().find('=')) {
    const std::string_view word = last_word();
    const std::size_t equals = word.find('=');
    if (equals == 0) throw usage_error("--reduce-with {}: the setting '{}' has no key; {}", text, word, kExpected);
    std::pair<std::string, std::string> setting{word.substr(0, equals), word.substr(equals + 1)};
    const auto has_key = [&](const auto& other) { return other.first == setting.first; };
    if (std::any_of(spec.settings.begin(), spec.settings.end(), has_key) || (setting.first == "as" && !spec.as.empty())) {
      throw usage_error("--reduce-with {}: found the setting '{}' twice, expected it once", text, setting.first);
    }
    if (setting.first == "as") {
      check_name(setting.second, "--reduce-with: as", "reduction", 0);
      spec.as = setting.second;
    } else {
      spec.settings.insert(spec.settings.begin(), std::move(setting));
    }
    take_away(word);
  }
  if (rest.find(':') != rest.npos && last_word().find('/') == std::string_view::npos) {
    spec.name = last_word();
    take_away(last_word());
    if (spec.name.empty()) throw usage_error("--reduce-with {}: the reduction has no name; {}", text, kExpected);
  }
  if (rest.empty()) throw usage_error("--reduce-with {}: found no file; {}", text, kExpected);
  spec.path = std::filesystem::absolute(std::filesystem::path(rest)).lexically_normal();
  return spec;
}

std::string PlugInSpec::absolute() const {
  std::string whole = path;
  if (!name.empty()) whole += ":" + name;
  for (const auto& [key, value] : settings) whole += ":" + key + "=" + value;
  return as.empty() ? whole : whole + ":as=" + as;
}

PlugIn PlugIn::load(const PlugInSpec& spec) {
  PlugIn plug_in;
  plug_in.spec_ = spec;
  const std::vector<std::byte> bytes = bytes_of_file(spec.path);
  check_elf(spec.path, bytes);
  plug_in.library_ = open_library(spec.path);
  const std::vector<const ringside_reduction*> found = reductions_in(plug_in.library_.get(), spec.path);
  std::string names;
  const ringside_reduction* chosen = nullptr;
  for (const ringside_reduction* one : found) {
    if (one->abi != RINGSIDE_REDUCTION_ABI) {
      throw usage_error(
          "{}: found a plug-in for version {} of the interface; expected version {} (ringside_reduction.h)", spec.path,
          one->abi, RINGSIDE_REDUCTION_ABI);
    }
    if (one->size < kFirstSize) {
      throw usage_error("{}: declares a reduction of {} bytes; expected .size = sizeof(ringside_reduction), {}",
                        spec.path, one->size, kFirstSize);
    }
    names += (names.empty() ? "" : ", ") + name_of(*one);
    if (spec.name == name_of(*one)) chosen = one;
  }
  if (chosen == nullptr && spec.name.empty() && found.size() == 1) chosen = found.front();
  if (chosen == nullptr && spec.name.empty()) {
    throw usage_error("{}: has several reductions; expected FILE:NAME with one of {}", spec.path, names);
  }
  if (chosen == nullptr) {
    throw usage_error("{}: has no reduction '{}'; expected one of {}", spec.path, spec.name, names);
  }
  plug_in.take_declaration(chosen);
  plug_in.id_ = id_of(bytes, spec, name_of(*chosen));
  return plug_in;
}

void PlugIn::take_declaration(const ringside_reduction* found) {
  std::memcpy(&declared_, found, std::min<std::size_t>(found->size, sizeof declared_));
  check_name(name_of(declared_), spec_.path, "reduction", 0);
  name_ = spec_.as.empty() ? name_of(declared_) : spec_.as;
  const auto refuse = [&](std::string_view what, std::uint64_t value, const std::string& expected) {
    throw usage_error("{}: reduction '{}': {} {}; expected {}", spec_.path, declared_.name, what, value, expected);
  };
  if (declared_.classes > RINGSIDE_CLASS_ANY) refuse("classes", declared_.classes, "0 to 7");
  if ((declared_.flags & ~kKnownFlags) != 0) refuse("flags", declared_.flags, "flags that this version supports");
  const std::size_t most =
      is(RINGSIDE_REDUCTION_ANY_ORDER) ? kMostStateBytesInAnyOrder : kMostStateBytes;
  if (declared_.state_bytes == 0 || declared_.state_bytes > most) {
    refuse("state_bytes", declared_.state_bytes, fmt::format("1 to {}", most));
  }
  if (declared_.init == nullptr || declared_.block == nullptr || declared_.merge == nullptr ||
      declared_.finish == nullptr) {
    throw usage_error("{}: reduction '{}' lacks a function; expected init, block, merge and finish", spec_.path,
                      declared_.name);
  }
  if (declared_.result_count == 0 || declared_.result_count > 64 || declared_.results == nullptr) {
    refuse("result_count", declared_.result_count, "1 to 64");
  }
  if (declared_.result_size < kFirstResultSize) {
    refuse("result_size", declared_.result_size, fmt::format("sizeof(ringside_reduction_result), {}", kFirstResultSize));
  }
  if (declared_.create == nullptr && !spec_.settings.empty()) {
    throw usage_error("{}: reduction '{}' accepts no settings; found {}={}", spec_.path, declared_.name,
                      spec_.settings.front().first, spec_.settings.front().second);
  }
  const auto* const first = reinterpret_cast<const std::byte*>(declared_.results);
  for (std::uint32_t r = 0; r < declared_.result_count; ++r) {
    ringside_reduction_result& result = results_.emplace_back();
    std::memcpy(&result, first + std::size_t{r} * declared_.result_size, sizeof result);
    if (result.type != RINGSIDE_VALUE_F64 && result.type != RINGSIDE_VALUE_I64) {
      refuse("a result of type", result.type, "RINGSIDE_VALUE_F64 (1) or RINGSIDE_VALUE_I64 (2)");
    }
    if (result.count > kMostPlugInValues) refuse("a result of count", result.count, fmt::format("at most {}", kMostPlugInValues));
    if ((result.classes & ~std::uint32_t{classes_of(declared_)}) != 0) {
      refuse("a result for classes", result.classes, "classes of the reduction");
    }
    if (result.flags != 0) refuse("a result with flags", result.flags, "0");
    const std::string full = ringside::name_of(name_, result);
    check_name(full, spec_.path, "result", r);
    check_unit(unit_of(result), spec_.path, "result", full);
  }
}

std::vector<ResultDescription> PlugIn::descriptions() const {
  std::vector<ResultDescription> descriptions = describe(name_, declared_, results_.data());
  for (ResultDescription& description : descriptions) set_origin(description, id_);
  return descriptions;
}

}  // namespace ringside
