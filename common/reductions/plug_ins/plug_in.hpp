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

inline constexpr std::size_t kMostPlugIns = 16;  // of a run, and reductions of a library
inline constexpr std::size_t kMostStateBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostStateBytesInAnyOrder = std::size_t{16} << 20;
inline constexpr std::uint32_t kMostPlugInValues = 65536;  // of one result

/// What `--reduce-with FILE:NAME[:KEY=VALUE]...` names: a library, a reduction in it, and its settings.
struct PlugInSpec {
  std::string text;  // as given
  std::string path;  // absolute
  std::string name;  // of the reduction in the library; empty: the only one there
  std::string as;    // under which its results are recorded (the setting `as`); empty: its own name
  std::vector<std::pair<std::string, std::string>> settings;  // without `as`, in the order given

  /// The same with an absolute path: it means the same in any folder.
  std::string absolute() const;
};

/// Throws Error (exit code 2). Reads no file.
PlugInSpec parse_plug_in(std::string_view text);

/// A copy shares the library.
class PlugIn {
 public:
  /// Reads the file, then runs the library's constructors. Throws Error: exit code 2 if the file is no plug-in, is of
  /// another architecture or ABI, lacks the reduction, or declares it wrongly; 3 if it cannot be read.
  static PlugIn load(const PlugInSpec& spec);

  const PlugInSpec& spec() const noexcept { return spec_; }
  /// Under which its results are recorded.
  const std::string& name() const noexcept { return name_; }
  /// The hash of the library's bytes, the reduction's name in it and its settings: equal ones give equal bits.
  const Id128& id() const noexcept { return id_; }
  const ringside_reduction& declared() const noexcept { return declared_; }
  /// As many as results are declared.
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
