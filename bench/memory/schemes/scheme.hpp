// SPDX-License-Identifier: BSD-3-Clause
// The interface of a scheme for arrays, which far_array.cpp calls. Each scheme is a file in this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/memory/schemes/far_timing.hpp"
#include "common/json/json.hpp"

namespace ringside::bench {

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual void* reserve(std::size_t bytes) = 0;  // page-aligned zeros; throws Error
  virtual Json account() const { return Json::object(); }
};

/// The words after the scheme's name. Each of these functions throws Error if the words are not valid or the system
/// refuses.
using Words = std::vector<std::string>;
std::unique_ptr<Scheme> dram_scheme(const Words& words);
std::unique_ptr<Scheme> mmap_scheme(const Words& words);
std::unique_ptr<Scheme> umap_scheme(const Words& words, const FarTiming& timing);
std::unique_ptr<Scheme> ringside_scheme(const Words& words, const FarTiming& timing);
std::unique_ptr<Scheme> michel_scheme(const Words& words, const FarTiming& timing);

/// Accepts 67108864 or 64M. Throws Error (exit code 2).
std::uint64_t bytes_of(const std::string& text);

/// The function `name` of a loaded library. Throws Error (exit code 3) if the library does not have this function.
void* function_of(void* library, const char* file, const char* name);
/// Loads the library that the environment variable `variable` names, or `file` if it is not set. Throws Error (exit
/// code 3) with the loader's reason.
void* loaded_library(const char* variable, const char* file);

}  // namespace ringside::bench
