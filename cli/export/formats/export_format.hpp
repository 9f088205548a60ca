// SPDX-License-Identifier: BSD-3-Clause
// The interface of every file format of `ringside export`. A format receives verified steps, one after another. Its
// output appears under its final name when all steps are written. export_formats.cpp contains the table of formats.
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
  Region region;      // the place of the slice's entries in the kept variable
  std::vector<std::uint64_t> chunk = {};  // for formats with chunks: their shape, one chunk per rank; empty:
                                          // chunk_shape
};

/// The variables to write, and their destination.
struct ExportTarget {
  std::string output;
  std::vector<KeptFile> kept;  // files that the output must not replace
  std::vector<ExportedVariable> variables;
  bool series = false;         // whether several steps are written
  std::vector<double> points;  // from --points: x, y, z of each entry; empty: not given
};

/// A verified step, in the form in which a sink receives it. Only one thread calls `part` and `wrote`.
struct ExportedStep {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  std::string run_id;  // 32 hexadecimal digits
  StepResults results;
  /// Returns the bytes of a chunk of one of the target's variables, row by row. `place` is from for_each_chunk. The
  /// bytes are valid until the next call. A large variable is never requested as a whole, because its parts may be in
  /// several rings.
  std::function<std::span<const std::byte>(std::size_t variable, const ChunkPlace& place)> part;
  /// Notes progress. Throws Error (exit code 130) if a signal requests the end of the command.
  std::function<void(std::uint64_t bytes)> wrote;
};

/// Calls put(data, bytes) for each part of one of the target's variables, and notes the progress. The concatenated
/// parts are the variable, row by row.
void for_each_part(const Variable& variable, const ExportedStep& step, std::size_t index,
                   const std::function<void(const void* data, std::size_t bytes)>& put);

/// One output. If it is destroyed before `finish` has returned, no file remains. All functions throw Error.
class ExportSink {
 public:
  virtual ~ExportSink() = default;
  virtual void write(const ExportedStep& step) = 0;
  /// Accepts the last written step. A step that was not accepted is replaced by the next `write`, and dropped by
  /// `finish`.
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
  /// Throws Error (exit code 2) for variables that the format cannot hold; called before any output is written.
  void (*check)(const ExportTarget& target) = nullptr;
  std::unique_ptr<ExportSink> (*make)(const ExportTarget& target) = nullptr;
};

/// All formats, in the order of the help text; the first is the default.
std::span<const ExportFormat> export_formats();

// The functions of the formats in export_formats().
using WriteStep = void(OutputFile& file, const ExportTarget& target, const ExportedStep& step);  // one whole file
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
