// SPDX-License-Identifier: BSD-3-Clause
// Writes HDF5: one dataset for each variable, with a leading axis `iteration` for several steps (docs/use/export.md).
#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/export/formats/chunks.hpp"
#include "cli/export/formats/export_format.hpp"
#include "cli/export/formats/result_columns.hpp"
#include "common/files/direct_file.hpp"
#include "common/files/output_file.hpp"
#include "common/platform/error.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {
namespace {

// Contains classes that own libhdf5's objects, the HDF5 types that correspond to our dtypes, and functions that give
// libhdf5's errors as text.

/// The reason for the failure of libhdf5's last call: the system's reason, if there is one ("No space left on device"),
/// else the message of the innermost function.
std::string hdf5_reason() {
  std::string reason;
  const auto look = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    auto& text = *static_cast<std::string*>(to);
    const std::string said = error->desc == nullptr ? "" : error->desc;
    constexpr std::string_view kSystem = "error message = '";
    const std::size_t at = said.find(kSystem);
    if (at != std::string::npos) {
      text = said.substr(at + kSystem.size(), said.find('\'', at + kSystem.size()) - at - kSystem.size());
      return 1;  // found the system's reason: end the search
    }
    if (text.empty()) text = said;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &reason);
  return reason.empty() ? "libhdf5 gives no reason" : reason;
}

/// Owns an object of libhdf5. The destructor closes the object with Close; only finish() reports a failure to close.
template <herr_t (*Close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {
    if (id < 0) throw system_error("--output: hdf5: {}", hdf5_reason());
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) Close(id_);
  }
  hid_t get() const noexcept { return id_; }
  hid_t release() noexcept { return std::exchange(id_, -1); }

 private:
  hid_t id_ = -1;
};

using Hdf5File = Hdf5Handle<H5Fclose>;
using Hdf5Group = Hdf5Handle<H5Gclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5Attribute = Hdf5Handle<H5Aclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;

/// Little-endian; a complex number is a compound of r and i, as h5py and other readers expect.
Hdf5Type hdf5_type(DType dtype) {
  const auto complex = [](hid_t part, std::size_t bytes) {
    Hdf5Type type(H5Tcreate(H5T_COMPOUND, 2 * bytes));
    H5Tinsert(type.get(), "r", 0, part);
    H5Tinsert(type.get(), "i", bytes, part);
    return type;
  };
  if (dtype == DType::kC64) return complex(H5T_IEEE_F32LE, 4);
  if (dtype == DType::kC128) return complex(H5T_IEEE_F64LE, 8);
  const hid_t types[] = {H5T_IEEE_F32LE,
                         H5T_IEEE_F64LE,
                         -1,
                         -1,
                         H5T_STD_I8LE,
                         H5T_STD_I16LE,
                         H5T_STD_I32LE,
                         H5T_STD_I64LE,
                         H5T_STD_U8LE,
                         H5T_STD_U16LE,
                         H5T_STD_U32LE,
                         H5T_STD_U64LE};
  return Hdf5Type(H5Tcopy(types[static_cast<std::uint16_t>(dtype) - 1]));
}

using Extents = std::vector<hsize_t>;

/// Smaller datasets are not aligned, because alignment would make a file with many small datasets large.
constexpr hsize_t kAlignedFrom = 64 << 10;

/// Checks the status of a function of libhdf5: negative means failure.
void check_hdf5(herr_t status, const std::string& output) {
  if (status < 0) throw system_error("--output: cannot write '{}': {}", output, hdf5_reason());
}

Hdf5Space space_of(const Extents& extents, const Extents& most) {
  if (extents.empty()) return Hdf5Space(H5Screate(H5S_SCALAR));
  return Hdf5Space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), most.data()));
}

/// Text of variable length, which h5py reads as str.
Hdf5Type text_type() {
  Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

void add_attribute(hid_t to, const char* name, hid_t type, const void* value) {
  const Hdf5Space scalar(H5Screate(H5S_SCALAR));
  const Hdf5Attribute attribute(H5Acreate2(to, name, type, scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
  if (H5Awrite(attribute.get(), type, value) < 0) throw system_error("--output: hdf5: {}", hdf5_reason());
}

void add_attribute(hid_t to, const char* name, const std::string& text) {
  const char* value = text.c_str();
  add_attribute(to, name, text_type().get(), &value);
}

void add_attribute(hid_t to, const char* name, std::uint64_t number) {
  add_attribute(to, name, H5T_NATIVE_UINT64, &number);
}

class Hdf5Sink final : public ExportSink {
 public:
  explicit Hdf5Sink(const ExportTarget& target)
      : output_(target.output),
        variables_(target.variables),
        series_(target.series),
        new_file_(target.output, "--output", target.kept, NewFile::Until::kNamed) {
    if (new_file_.name_beside().empty()) {
      throw usage_error(
          "--output: '{}' cannot be an hdf5 file: found a pipe, a device or a folder that accepts no new file, "
          "expected a regular file; npy, npz, csv and mtx can be written to a pipe",
          output_);
    }
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_alignment(access.get(), kAlignedFrom, DirectFile::kAlignment);
    file_ = Hdf5File(H5Fcreate(new_file_.name_beside().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    values_file_.emplace(new_file_.descriptor());
    for (const ExportedVariable& one : variables_) make_dataset(one);
  }
  void write(const ExportedStep& step) override {
    for (std::size_t v = 0; v < variables_.size(); ++v) write_variable(step, v);
    pending_ = {step.iteration, step.step, step.run_id};
    pending_results_ = step.results;
  }

  void accept() override {
    accepted_.push_back(pending_);
    results_.add(pending_results_);
  }

  void finish() override {
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      if (series_) {
        Extents extents = extents_of(variables_[v].variable);
        extents[0] = accepted_.size();
        check_hdf5(H5Dset_extent(datasets_[v].get(), extents.data()), output_);
      } else {
        add_step(datasets_[v].get(), accepted_.at(0));
      }
    }
    if (series_) {
      write_axes();
    } else {
      add_step(file_.get(), accepted_.at(0));
    }
    write_results();
    datasets_.clear();
    check_hdf5(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), output_);
    check_hdf5(H5Fclose(file_.release()), output_);
    new_file_.finish();
  }

 private:
  struct Named {
    std::uint64_t iteration = 0;
    std::uint64_t step = 0;
    std::string run_id;
  };

  Extents extents_of(const Variable& variable) const {
    Extents extents(variable.shape.begin(), variable.shape.end());
    if (series_) extents.insert(extents.begin(), 1);
    return extents;
  }

  static std::vector<std::uint64_t> chunk_of(const ExportedVariable& one) {
    return one.chunk.empty() ? chunk_shape(one.variable.shape, bytes_of(one.variable.dtype)) : one.chunk;
  }

  /// The dataset of one step is contiguous, unless chunks are given. In the dataset of several steps, each chunk
  /// belongs to one step, and the number of steps is unlimited.
  void make_dataset(const ExportedVariable& one) {
    const Variable& variable = one.variable;
    const Hdf5Type type = hdf5_type(variable.dtype);
    const Extents extents = extents_of(variable);
    Extents most = extents;
    const Hdf5Properties properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);
    H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);  // so that write_variable can find the offsets
    if (series_ || !one.chunk.empty()) {
      const std::vector<std::uint64_t> chunk = chunk_of(one);
      Extents chunks(chunk.begin(), chunk.end());
      if (series_) most[0] = H5S_UNLIMITED;
      if (series_) chunks.insert(chunks.begin(), 1);
      H5Pset_chunk(properties.get(), static_cast<int>(chunks.size()), chunks.data());
    }
    const Hdf5Space space = space_of(extents, most);
    Hdf5Dataset dataset(H5Dcreate2(file_.get(), variable.name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                   properties.get(), H5P_DEFAULT));
    add_attribute(dataset.get(), "unit", variable.unit);
    add_attribute(dataset.get(), "dtype", std::string(to_string(variable.dtype)));
    add_attribute(dataset.get(), "role", std::string(to_string(variable.role)));
    datasets_.push_back(std::move(dataset));
  }

  /// libhdf5 allocates the space, and DirectFile writes the values to this space. This is possible because the values
  /// have the same bytes in memory and in the file.
  void write_variable(const ExportedStep& step, std::size_t v) {
    const Variable& variable = variables_[v].variable;
    const hid_t dataset = datasets_[v].get();
    const bool own_chunks = !variables_[v].chunk.empty();
    if (series_) {
      Extents extents = extents_of(variable);
      extents[0] = accepted_.size() + 1;
      check_hdf5(H5Dset_extent(dataset, extents.data()), output_);
    }
    const haddr_t begin = series_ || own_chunks ? HADDR_UNDEF : H5Dget_offset(dataset);
    for_each_chunk(variable.shape, chunk_of(variables_[v]), bytes_of(variable.dtype), [&](const ChunkPlace& place) {
      const std::span<const std::byte> values = step.part(v, place);
      if (!series_ && !own_chunks) return write_values(begin, place.offset, values, step);
      Extents first(place.first.begin(), place.first.end());
      if (series_) first.insert(first.begin(), accepted_.size());
      // To find the offset of a chunk, libhdf5 searches all chunks, which is slow if there are many small chunks. A
      // chunk of a given shape may be shorter than others in any dimension; its entries are then not contiguous in the
      // file.
      if (own_chunks || place.bytes < kAlignedFrom) return write_chunk(v, first, place, values, step);
      unsigned filters = 0;
      haddr_t offset = HADDR_UNDEF;
      hsize_t bytes = 0;
      check_hdf5(H5Dget_chunk_info_by_coord(dataset, first.data(), &filters, &offset, &bytes), output_);
      write_values(offset, 0, values, step);
    });
  }

  void write_chunk(std::size_t v, const Extents& first, const ChunkPlace& place, std::span<const std::byte> values,
                   const ExportedStep& step) {
    Extents count(place.count.begin(), place.count.end());
    if (series_) count.insert(count.begin(), 1);
    const Hdf5Type type = hdf5_type(variables_[v].variable.dtype);
    const hid_t dataset = datasets_[v].get();
    const Hdf5Space file_space(H5Dget_space(dataset));
    const Hdf5Space memory = space_of(count, count);
    H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    check_hdf5(H5Dwrite(dataset, type.get(), memory.get(), file_space.get(), H5P_DEFAULT, values.data()), output_);
    step.wrote(place.bytes);
  }

  void write_values(haddr_t begin, std::uint64_t offset, std::span<const std::byte> values, const ExportedStep& step) {
    if (begin == HADDR_UNDEF)
      throw system_error("--output: cannot write '{}': libhdf5 has allocated no space for it", output_);
    if (const int error = values_file_->write(begin + offset, values, step.wrote)) {
      throw system_error("--output: cannot write '{}': {}", output_, errno_text(error));
    }
  }

  static void add_step(hid_t to, const Named& step) {
    add_attribute(to, "iteration", step.iteration);
    add_attribute(to, "step", step.step);
    add_attribute(to, "run_id", step.run_id);
  }

  void write_column(hid_t to, const std::string& name, hid_t type, const void* values, const std::string& unit = {},
                    bool fills = false) {
    const Extents extents = series_ ? Extents{accepted_.size()} : Extents{};
    const Hdf5Space space = space_of(extents, extents);
    const Hdf5Dataset dataset(H5Dcreate2(to, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    check_hdf5(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), output_);
    if (!unit.empty()) add_attribute(dataset.get(), "unit", unit);
    if (fills) add_attribute(dataset.get(), "_FillValue", H5T_NATIVE_INT64, &kAbsentInteger);
  }

  /// Writes the arrays that describe the steps along the leading axis. They are in a separate group, because a variable
  /// may be named `step`.
  void write_axes() {
    std::vector<std::uint64_t> iterations;
    std::vector<std::uint64_t> steps;
    std::vector<const char*> runs;
    for (const Named& one : accepted_) {
      iterations.push_back(one.iteration);
      steps.push_back(one.step);
      runs.push_back(one.run_id.c_str());
    }
    const Hdf5Group group(H5Gcreate2(file_.get(), group_name("steps").c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    write_column(group.get(), "iteration", H5T_NATIVE_UINT64, iterations.data());
    write_column(group.get(), "step", H5T_NATIVE_UINT64, steps.data());
    write_column(group.get(), "run_id", text_type().get(), runs.data());
  }

  void write_results() {
    const Hdf5Group group(
        H5Gcreate2(file_.get(), group_name("results").c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (const ResultColumn& column : results_.columns()) {
      if (!series_ && !column.values[0].present) continue;
      if (column.is_integer()) {
        write_column(group.get(), column.name, H5T_NATIVE_INT64, column.i64().data(), column.unit, series_);
      } else {
        write_column(group.get(), column.name, H5T_NATIVE_DOUBLE, column.f64().data(), column.unit);
      }
    }
  }

  /// The name of a group. If a variable has the same name, `@` is put before the group's name; no variable's name
  /// contains this character.
  std::string group_name(const std::string& name) const {
    const bool taken = std::any_of(variables_.begin(), variables_.end(),
                                   [&](const ExportedVariable& one) { return one.variable.name == name; });
    return taken ? "@" + name : name;
  }

  const std::string output_;
  const std::vector<ExportedVariable> variables_;
  const bool series_;
  OutputFile new_file_;
  Hdf5File file_;
  std::optional<DirectFile> values_file_;
  std::vector<Hdf5Dataset> datasets_;
  Named pending_;
  StepResults pending_results_;
  std::vector<Named> accepted_;
  ExportColumns results_;
};

}  // namespace

std::unique_ptr<ExportSink> make_hdf5(const ExportTarget& target) {
  return std::make_unique<Hdf5Sink>(target);
}

}  // namespace ringside
