// SPDX-License-Identifier: BSD-3-Clause
#include "bench/memory/far_array.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "bench/memory/schemes/scheme.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside::bench {
namespace {

struct Memory {
  std::unique_ptr<Scheme> scheme;
  std::string enter;
};

Memory& memory() {
  static Memory the;
  return the;
}

Words words_of(const std::string& text) {
  Words words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ':');) words.push_back(word);
  return words;
}

}  // namespace

void use_memory(const MemoryChoice& choice) {
  Words words = words_of(choice.scheme);
  const std::string name = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  const FarTiming timing{.emulated = choice.timing == "optane"};
  Memory& the = memory();
  the.enter = choice.enter;
  if (timing.emulated && (name == "dram" || name == "mmap")) {
    throw usage_error(
        "--timing optane: found --memory '{}', whose transfers are the kernel's; expected umap, ringside or "
        "michel",
        choice.scheme);
  }
  if (name == "dram") the.scheme = dram_scheme(words);
  if (name == "mmap") the.scheme = mmap_scheme(words);
  if (name == "umap") the.scheme = umap_scheme(words, timing);
  if (name == "ringside") the.scheme = ringside_scheme(words, timing);
  if (name == "michel") the.scheme = michel_scheme(words, timing);
  if (!the.scheme) throw usage_error("--memory: found '{}', expected {}", choice.scheme, kMemorySchemes);
}

void* far_array(std::size_t bytes) {
  return memory().scheme->reserve(bytes);
}

void arrays_reserved() {
  const std::string& path = memory().enter;
  if (path.empty()) return;
  const UniqueFd group(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string pid = std::to_string(getpid());
  if (!group.valid() || write(group.get(), pid.data(), pid.size()) < 0) {
    throw system_error("{}: cannot put this process into the group: {}", path, errno_text(errno));
  }
}

Json memory_account() {
  return memory().scheme->account();
}

void end_memory() {
  memory().scheme.reset();
}

std::uint64_t bytes_of(const std::string& text) {
  std::string digits = text;
  const std::string refusal = size_within(4096, std::uint64_t{1} << 42, "4K to 4096G")(digits);
  if (!refusal.empty()) throw usage_error("--memory: {}", refusal);
  return std::stoull(digits);
}

void* loaded_library(const char* variable, const char* file) {
  const char* given = std::getenv(variable);
  void* library = dlopen(given != nullptr ? given : file, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw system_error("{} (another library: {}=FILE): {}", file, variable, dlerror());
  return library;
}

void* function_of(void* library, const char* file, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) throw system_error("{}: found no function {}", file, name);
  return found;
}

}  // namespace ringside::bench
