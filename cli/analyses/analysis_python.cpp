// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/analysis_python.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "common/platform/process.hpp"
#include "common/program/program_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThreadsVariable = "OMP_NUM_THREADS";
constexpr const char* kPathVariable = "PYTHONPATH";

/// The folder of the package that belongs to this program; empty: the interpreter finds the package in its own path.
std::string package_folder() {
  std::error_code error;
  const fs::path prefix = program_folder().parent_path();
  if (prefix == "/usr") return {};
  for (const char* folder : {"python", "lib/python3/dist-packages"}) {
    const fs::path candidate = prefix / folder;
    if (fs::exists(candidate / "ringside" / "analyze.py", error)) return candidate.string();
  }
  return {};
}

}  // namespace

std::vector<std::string> interpreters(const std::string& given) {
  if (!given.empty()) return {given};
  return {"python3", "/usr/bin/python3"};
}

std::vector<std::pair<std::string, std::string>> interpreter_environment(std::size_t threads) {
  std::vector<std::pair<std::string, std::string>> environment;
  if (const std::string folder = package_folder(); !folder.empty()) {
    const char* others = environment_value(kPathVariable);
    environment.emplace_back(kPathVariable, others == nullptr ? folder : folder + ":" + others);
  }
  environment.emplace_back("PYTHONSAFEPATH", "1");  // the current folder may contain another ringside.py
  if (threads > 0 && environment_value(kThreadsVariable) == nullptr) {
    environment.emplace_back(kThreadsVariable, std::to_string(threads));
  }
  return environment;
}

std::string no_package_text(const std::vector<std::string>& tried, const std::string& why) {
  return fmt::format(
      "{}: cannot run analyses: {}; expected a Python with the package ringside, in PATH or named by --python or "
      "RINGSIDE_PYTHON (to install the package: python3-ringside on Debian, elsewhere `pip install`, see "
      "docs/publish/python.md)",
      fmt::join(tried, ", "), why);
}

}  // namespace ringside
