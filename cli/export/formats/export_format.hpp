// SPDX-License-Identifier: BSD-3-Clause
// The interface of every file format of `ringside export`. A format takes verified steps, one after another, and its
// output appears under its name once it contains all of them. export_formats.cpp has the table of formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/export/formats/chunks.hpp"
#include "cli/export/formats/slice.hpp"
#include "common/files/output_file.hpp"
#include "common/files/output_guard.hpp"
#include "common/records/step_results.hpp"
#include "common/schema/variable.hpp"

namespace ringside {

struct ExportedVariable {
  Variable variable;  // with the shape of the slice
  Region region;      // place of its entries in the kept variable
  std::vector<std::uint64_t> chunk = {};  // if the format has chunks: their shape, one chunk a rank; empty: chunk_shape
};

/// The variables to write, and their destination.
struct ExportTarget {
  std::string output;
  std::vector<KeptFile> kept;  // files that the output must not replace
  std::vector<ExportedVariable> variables;
  bool series = false;         // several steps
  std::vector<double> points;  // --points: x, y, z of each entry; empty: none
};

/// A verified step, as a sink reads it. One thread calls `part` and `wrote`.
struct ExportedStep {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  std::string run_id;  // 32 hexadecimal digits
  StepResults results;
  /// The bytes of a chunk of a variable of the target, one of for_each_chunk: row by row, valid until the next call.
  /// Large variables are never requested as a whole, because several rings may have their parts.
  std::function<std::span<const std::byte>(std::size_t variable, const ChunkPlace& place)> part;
  /// Notes progress. Throws Error (exit code 130) if the command must end.
  std::function<void(std::uint64_t bytes)> wrote;
};

/// Calls put(data, bytes) for each part of a variable of the target in order, and notes the progress. The parts in this
/// order are the variable, row by row.
void for_each_part(const Variable& variable, const ExportedStep& step, std::size_t index,
                   const std::function<void(const void* data, std::size_t bytes)>& put);

/// One output. It leaves no file if it is destroyed before `finish` has returned. All functions throw Error.
class ExportSink {
 public:
  virtual ~ExportSink() = default;
  virtual void write(const ExportedStep& step) = 0;
  /// Call when the last written step is complete. Otherwise the next `write` replaces it, and `finish` drops it.
  virtual void accept() = 0;
  virtual void finish() = 0;
};

struct ExportFormat {
  enum class Takes { kOne, kSeveral, kSeveralOfOneShape };

  std::string_view name;
  std::span<const std::string_view> endings;  // outputs with these endings get this format, unless --format is given
  Takes variables = Takes::kOne;
  bool series = false;   // takes several steps
  bool streams = false;  // can be written to a pipe
  bool chunks = true;    // requests a variable chunk by chunk; false: as a whole
  /// Throws Error (exit code 2) for what the format cannot hold; called before any output is written.
  void (*check)(const ExportTarget& target) = nullptr;
  std::unique_ptr<ExportSink> (*make)(const ExportTarget& target) = nullptr;
};

/// In the order of the help text; the first is the default.
std::span<const ExportFormat> export_formats();

// The formats of that table.
using WriteStep = void(OutputFile& file, const ExportTarget& target, const ExportedStep& step);  // the whole file
WriteStep write_npy;
WriteStep write_npz;
WriteStep write_csv;
WriteStep write_mtx;
WriteStep write_vtk;
std::unique_ptr<ExportSink> make_vtk_series(const ExportTarget& target);
std::unique_ptr<ExportSink> make_hdf5(const ExportTarget& target);
std::unique_ptr<ExportSink> make_zarr2(const ExportTarget& target);
std::unique_ptr<ExportSink> make_zarr3(const ExportTarget& target);
/// Refuses complex numbers and variables of more than two dimensions.
void check_table(const ExportTarget& target);
/// Refuses variables of different shapes, an output with the ending of another kind of file, and, without points,
/// variables of no dimension or more than three.
void check_vtk(const ExportTarget& target);

/// NumPy's name of a dtype, with its byte order: "<f8".
std::string_view numpy_dtype(DType dtype) noexcept;

}  // namespace ringside
