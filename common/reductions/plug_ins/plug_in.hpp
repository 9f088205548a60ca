// SPDX-License-Identifier: BSD-3-Clause
// A reduction that a user's shared library declares (include/ringside_reduction.h), loaded and checked.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/results/declared_results.hpp"

namespace ringside {

inline constexpr std::size_t kMostPlugIns = 16;  // the most plug-ins in a run, and the most reductions in a library
inline constexpr std::size_t kMostStateBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostStateBytesInAnyOrder = std::size_t{16} << 20;
inline constexpr std::uint32_t kMostPlugInValues = 65536;  // the most values in one result

/// The content of `--reduce-with FILE:NAME[:KEY=VALUE]...`: a library, a reduction in it, and settings.
struct PlugInSpec {
  std::string text;  // the text as given
  std::string path;  // the absolute path of the library
  std::string name;  // the name of the reduction in the library; empty: the library has only one
  std::string as;    // the name for its results (the setting `as`); empty: the reduction's name
  std::vector<std::pair<std::string, std::string>> settings;  // all settings except `as`, in the order given

  /// The text with an absolute path, which means the same in any folder.
  std::string absolute() const;
};

/// Throws Error (exit code 2). Does not read any file.
PlugInSpec parse_plug_in(std::string_view text);

/// Copies share the loaded library.
class PlugIn {
 public:
  /// Reads the file, then runs the library's constructors. Throws Error: exit code 2 if the file is not a plug-in, has
  /// another architecture or ABI, or lacks the reduction or a valid declaration of it; 3 if it cannot be read.
  static PlugIn load(const PlugInSpec& spec);

  const PlugInSpec& spec() const noexcept { return spec_; }
  /// The name under which its results are recorded.
  const std::string& name() const noexcept { return name_; }
  /// The hash of the library's bytes, the reduction's name in the library and its settings: plug-ins with the same id
  /// give the same bits.
  const Id128& id() const noexcept { return id_; }
  const ringside_reduction& declared() const noexcept { return declared_; }
  /// The declared results.
  const std::vector<ringside_reduction_result>& results() const noexcept { return results_; }
  std::vector<ResultDescription> descriptions() const;
  bool is(std::uint32_t flag) const noexcept { return (declared_.flags & flag) != 0; }

 private:
  PlugIn() = default;
  void take_declaration(const ringside_reduction* found);

  std::shared_ptr<void> library_;
  PlugInSpec spec_;
  std::string name_;
  Id128 id_;
  ringside_reduction declared_{};
  std::vector<ringside_reduction_result> results_;
};

}  // namespace ringside
