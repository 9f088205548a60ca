// SPDX-License-Identifier: BSD-3-Clause
// The table of file formats. To add a format, write a source file in this folder that writes a step (WriteStep) or
// implements ExportSink, declare its function in export_format.hpp, and add a line to the table below.
#include <string_view>

#include "cli/export/formats/export_format.hpp"
#include "common/files/output_folder.hpp"

namespace ringside {
namespace {

/// Writes one step to one file.
class FileSink final : public ExportSink {
 public:
  FileSink(const ExportTarget& target, WriteStep* write_step)
      : target_(target), file_(target.output, "--output", target.kept), write_step_(write_step) {}

  void write(const ExportedStep& step) override { write_step_(file_, target_, step); }
  void accept() override {}
  void finish() override { file_.finish(); }

 private:
  const ExportTarget target_;
  OutputFile file_;
  WriteStep* write_step_;
};

template <WriteStep* write_step>
std::unique_ptr<ExportSink> make_file(const ExportTarget& target) {
  return std::make_unique<FileSink>(target, write_step);
}

std::unique_ptr<ExportSink> make_vtk(const ExportTarget& target) {
  return target.series ? make_vtk_series(target) : make_file<write_vtk>(target);
}

void accept_every(const ExportTarget&) {}

void check_store(const ExportTarget& target) {
  check_output_folder(target.output, "--output", "a zarr store", target.kept);
}

constexpr std::string_view kNpy[] = {".npy"};
constexpr std::string_view kNpz[] = {".npz"};
constexpr std::string_view kCsv[] = {".csv"};
constexpr std::string_view kMtx[] = {".mtx"};
constexpr std::string_view kHdf5[] = {".h5", ".hdf5", ".hdf"};
constexpr std::string_view kVtk[] = {".vti", ".vtu", ".pvd"};
constexpr std::string_view kZarr[] = {".zarr"};

using Takes = ExportFormat::Takes;

constexpr ExportFormat kFormats[] = {
    {"npy", kNpy, Takes::kOne, false, true, true, accept_every, make_file<write_npy>},
    {"npz", kNpz, Takes::kSeveral, false, true, true, accept_every, make_file<write_npz>},
    {"csv", kCsv, Takes::kOne, false, true, true, check_table, make_file<write_csv>},
    {"mtx", kMtx, Takes::kOne, false, true, false, check_table, make_file<write_mtx>},
    {"hdf5", kHdf5, Takes::kSeveral, true, false, true, accept_every, make_hdf5},
    {"vtk", kVtk, Takes::kSeveralOfOneShape, true, true, true, check_vtk, make_vtk},
    {"zarr", kZarr, Takes::kSeveral, true, false, true, check_store, make_zarr2},
    {"zarr3", {}, Takes::kSeveral, true, false, true, check_store, make_zarr3},
};

}  // namespace

void for_each_part(const Variable& variable, const ExportedStep& step, std::size_t index,
                   const std::function<void(const void* data, std::size_t bytes)>& put) {
  const std::size_t entry_bytes = bytes_of(variable.dtype);
  for_each_chunk(variable.shape, chunk_shape(variable.shape, entry_bytes), entry_bytes, [&](const ChunkPlace& place) {
    put(step.part(index, place).data(), place.bytes);
    step.wrote(place.bytes);
  });
}

std::span<const ExportFormat> export_formats() {
  return kFormats;
}

}  // namespace ringside
