// SPDX-License-Identifier: BSD-3-Clause
// VTK's XML files for ParaView: variables on a regular grid (.vti), on the user's points (.vtu), and a series of such
// files (a .pvd file, with a folder of the series' files beside it).
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/export/formats/export_format.hpp"
#include "cli/export/formats/vtk_xml.hpp"
#include "common/files/output_file.hpp"
#include "common/files/output_folder.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr std::size_t kVtkPieceBytes = std::size_t{16} << 20;
constexpr std::uint8_t kVertexCell = 1;  // VTK_VERTEX

/// Writes `count` values, which value_of(index) computes, in pieces.
template <class T, class ValueOf>
void write_made(OutputFile& file, std::uint64_t count, const ValueOf& value_of) {
  std::vector<T> piece;
  for (std::uint64_t i = 0; i < count;) {
    piece.clear();
    for (; i < count && piece.size() < kVtkPieceBytes / sizeof(T); ++i) piece.push_back(value_of(i));
    file.write(piece.data(), piece.size() * sizeof(T));
  }
}

std::string kind_ending(const ExportTarget& target) {
  return target.points.empty() ? ".vti" : ".vtu";
}

/// Writes NAME.pvd, and beside this file the folder NAME with a file for each step. The folder appears first.
class VtkSeriesSink final : public ExportSink {
 public:
  explicit VtkSeriesSink(const ExportTarget& target)
      : target_(target),
        stem_(target.output.substr(0, target.output.size() - std::string(".pvd").size())),
        collection_(target.output, "--output", target.kept),
        folder_(stem_, "--output", "a folder of vtk files", target.kept) {}

  void write(const ExportedStep& step) override {
    pending_ = {step.iteration, fmt::format("step_{:06}{}", parts_.size(), kind_ending(target_))};
    OutputFile file(folder_.beside() + "/" + pending_->file, "--output");
    write_vtk(file, target_, step);
    file.finish();
  }

  void accept() override {
    parts_.push_back({pending_->iteration, stem_.substr(stem_.rfind('/') + 1) + "/" + pending_->file});
    pending_.reset();
  }

  void finish() override {
    if (pending_) folder_.remove(pending_->file);
    collection_.write(vtk_collection(parts_));
    folder_.publish();
    try {
      collection_.finish();
    } catch (...) {
      folder_.withdraw();
      throw;
    }
  }

 private:
  const ExportTarget target_;
  const std::string stem_;
  OutputFile collection_;
  OutputFolder folder_;
  std::optional<VtkPart> pending_;
  std::vector<VtkPart> parts_;
};

}  // namespace

void check_vtk(const ExportTarget& target) {
  const Variable& first = target.variables.at(0).variable;
  for (const ExportedVariable& one : target.variables) {
    if (one.region == target.variables[0].region) continue;
    throw usage_error("--variable: found {} and {}, expected variables of one shape, because vtk holds only one shape",
                      to_text(first), to_text(one.variable));
  }
  if (target.points.empty() && (first.shape.empty() || first.shape.size() > 3)) {
    throw usage_error(
        "--format: vtk holds variables of one to three dimensions, but '{}' is {}; use --slice or --points", first.name,
        to_text(first));
  }
  const std::string expected = target.series ? ".pvd" : kind_ending(target);
  for (const char* other : {".vti", ".vtu", ".pvd"}) {
    if (expected == other || !target.output.ends_with(other)) continue;
    throw usage_error("--output: found '{}', expected a name that ends with {}, because the output is {}",
                      target.output, expected,
                      target.series           ? "a series of steps (--all)"
                      : target.points.empty() ? "one step on a grid (no --points, no --all)"
                                              : "one step on points");
  }
  if (!target.series) return;
  if (!target.output.ends_with(".pvd") || target.output.size() == 4 || target.output.ends_with("/.pvd")) {
    throw usage_error(
        "--output: found '{}', expected NAME.pvd for a series of steps, whose files go to the folder NAME",
        target.output);
  }
  check_output_folder(target.output.substr(0, target.output.size() - 4), "--output", "a folder of vtk files",
                      target.kept);
}

void write_vtk(OutputFile& file, const ExportTarget& target, const ExportedStep& step) {
  const VtkHead head = vtk_head(target, step);
  file.write(head.text);
  file.write(head.figures);
  std::size_t block = 0;
  const auto write_length = [&] {
    file.write(&head.block_bytes[block], sizeof(std::uint64_t));
    ++block;
  };
  for (std::size_t v = 0; v < target.variables.size(); ++v) {
    write_length();
    for_each_part(target.variables[v].variable, step, v,
                  [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
  }
  if (!target.points.empty()) {
    const std::uint64_t count = target.points.size() / 3;
    write_length();
    file.write(target.points.data(), target.points.size() * sizeof(double));
    write_length();
    write_made<std::int64_t>(file, count, [](std::uint64_t i) { return static_cast<std::int64_t>(i); });
    write_length();
    write_made<std::int64_t>(file, count, [](std::uint64_t i) { return static_cast<std::int64_t>(i + 1); });
    write_length();
    write_made<std::uint8_t>(file, count, [](std::uint64_t) { return kVertexCell; });
  }
  file.write(kVtkTail);
}

std::unique_ptr<ExportSink> make_vtk_series(const ExportTarget& target) {
  return std::make_unique<VtkSeriesSink>(target);
}

}  // namespace ringside
