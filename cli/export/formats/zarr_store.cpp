// SPDX-License-Identifier: BSD-3-Clause
// Zarr stores in a folder, in formats 2 and 3: one array for each variable, in uncompressed chunks, with the metadata
// that xarray needs to open them as a data set (docs/use/export.md).
// Specifications: https://zarr-specs.readthedocs.io/
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/export/formats/chunks.hpp"
#include "cli/export/formats/export_format.hpp"
#include "cli/export/formats/result_columns.hpp"
#include "common/files/output_folder.hpp"
#include "common/json/json.hpp"
#include "common/records/shown_results.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {
namespace {

struct ZarrArray {
  DType dtype = DType::kF64;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> chunk;
  std::vector<std::string> dimensions;  // the names of the dimensions
  Json attributes = Json::object();
};

enum class ZarrFormat { k2 = 2, k3 = 3 };

std::string text_of_json(const Json& json) {
  return json.dump(2) + "\n";
}

Json array_2(const ZarrArray& array) {
  // No fill value: every chunk exists, and xarray would read the fill value as "missing".
  return {
      {"zarr_format", 2},      {"shape", array.shape},  {"chunks", array.chunk}, {"dtype", numpy_dtype(array.dtype)},
      {"compressor", nullptr}, {"fill_value", nullptr}, {"order", "C"},          {"filters", nullptr}};
}

std::string data_type_3(DType dtype) {
  constexpr const char* kNames[] = {"float32", "float64", "complex64", "complex128", "int8",   "int16",
                                    "int32",   "int64",   "uint8",     "uint16",     "uint32", "uint64"};
  return kNames[static_cast<std::uint16_t>(dtype) - 1];
}

Json array_3(const ZarrArray& array) {
  Json fill = 0;
  if (class_of(array.dtype) == DTypeClass::kReal) fill = 0.0;
  if (class_of(array.dtype) == DTypeClass::kComplex) fill = {0.0, 0.0};
  Json bytes = {{"name", "bytes"}};
  if (bytes_of(array.dtype) > 1) bytes["configuration"] = {{"endian", "little"}};
  return {{"zarr_format", 3},
          {"node_type", "array"},
          {"shape", array.shape},
          {"data_type", data_type_3(array.dtype)},
          {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", array.chunk}}}}},
          {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
          {"fill_value", fill},
          {"codecs", Json::array({bytes})},
          {"attributes", array.attributes},
          {"dimension_names", array.dimensions}};
}

/// The name of a chunk's file, relative to the store: "x/0.0" or "x/c/0/0".
std::string zarr_chunk_name(ZarrFormat format, const std::string& array, std::span<const std::uint64_t> index) {
  if (format == ZarrFormat::k3) {
    return index.empty() ? array + "/c" : fmt::format("{}/c/{}", array, fmt::join(index, "/"));
  }
  return index.empty() ? array + "/0" : fmt::format("{}/{}", array, fmt::join(index, "."));
}

/// The names and contents of the files that describe a store with these arrays. One file of the group repeats the
/// content of all others (consolidated metadata), so that a reader needs only one request.
std::map<std::string, std::string> zarr_metadata(ZarrFormat format, const std::map<std::string, ZarrArray>& arrays,
                                                 const Json& attributes) {
  std::map<std::string, std::string> files;
  Json all = Json::object();
  if (format == ZarrFormat::k3) {
    for (const auto& [name, array] : arrays) {
      all[name] = array_3(array);
      files[name + "/zarr.json"] = text_of_json(all[name]);
    }
    files["zarr.json"] =
        text_of_json({{"zarr_format", 3},
                      {"node_type", "group"},
                      {"attributes", attributes},
                      {"consolidated_metadata", {{"kind", "inline"}, {"must_understand", false}, {"metadata", all}}}});
    return files;
  }
  all[".zgroup"] = {{"zarr_format", 2}};
  all[".zattrs"] = attributes;
  for (const auto& [name, array] : arrays) {
    all[name + "/.zarray"] = array_2(array);
    Json with_names = array.attributes;
    with_names["_ARRAY_DIMENSIONS"] = array.dimensions;
    all[name + "/.zattrs"] = with_names;
  }
  for (const auto& [name, json] : all.items()) files[name] = text_of_json(json);
  files[".zmetadata"] = text_of_json({{"zarr_consolidated_format", 1}, {"metadata", all}});
  return files;
}

/// Variables of the same shape get the same dimension names, so that xarray combines them entry by entry.
std::vector<std::string> dimension_names(const std::vector<std::uint64_t>& shape) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < shape.size(); ++d) names.push_back(fmt::format("axis{}_{}", d, shape[d]));
  return names;
}

class ZarrSink final : public ExportSink {
 public:
  ZarrSink(const ExportTarget& target, ZarrFormat format)
      : format_(format),
        series_(target.series),
        variables_(target.variables),
        folder_(target.output, "--output", "a zarr store", target.kept) {
    for (const ExportedVariable& one : variables_) {
      chunks_.push_back(one.chunk.empty() ? chunk_shape(one.variable.shape, bytes_of(one.variable.dtype)) : one.chunk);
    }
  }

  void write(const ExportedStep& step) override {
    pending_ = true;
    for (std::size_t v = 0; v < variables_.size(); ++v) write_variable(step, v);
    iteration_ = step.iteration;
    step_ = step.step;
    run_id_ = step.run_id;
    pending_results_ = step.results;
  }

  void accept() override {
    pending_ = false;
    iterations_.push_back(iteration_);
    steps_.push_back(step_);
    run_ids_.push_back(run_id_);
    results_.add(pending_results_);
  }

  void finish() override {
    if (pending_) remove_pending();
    std::map<std::string, ZarrArray> arrays;
    for (std::size_t v = 0; v < variables_.size(); ++v) arrays[variables_[v].variable.name] = array_of(v);
    Json attributes = Json::object();
    if (series_) {
      add_axis(arrays, "iteration", DType::kU64, iterations_);
      attributes["step"] = steps_;
      attributes["run_id"] = run_ids_;
      add_columns(arrays);
    } else {
      attributes["iteration"] = iterations_.at(0);
      attributes["step"] = steps_.at(0);
      attributes["run_id"] = run_ids_.at(0);
      attributes["results"] = values_as_json();
    }
    for (const auto& [name, text] : zarr_metadata(format_, arrays, attributes)) folder_.write(name, text);
    folder_.publish();
  }

 private:
  std::string chunk_name(std::size_t v, std::span<const std::uint64_t> index) const {
    std::vector<std::uint64_t> whole(index.begin(), index.end());
    if (series_) whole.insert(whole.begin(), iterations_.size());
    return zarr_chunk_name(format_, variables_[v].variable.name, whole);
  }

  void write_variable(const ExportedStep& step, std::size_t v) {
    const Variable& variable = variables_[v].variable;
    const std::size_t entry_bytes = bytes_of(variable.dtype);
    for_each_chunk(variable.shape, chunks_[v], entry_bytes, [&](const ChunkPlace& place) {
      const std::span<const std::byte> whole =
          padded(step.part(v, place), place.count, chunks_[v], entry_bytes, padding_);
      folder_.write(chunk_name(v, place.index), std::span(&whole, 1));
      step.wrote(place.bytes);
    });
  }

  /// Removes the chunks of a step that was neither accepted nor replaced.
  void remove_pending() {
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const Variable& variable = variables_[v].variable;
      for_each_chunk(variable.shape, chunks_[v], bytes_of(variable.dtype),
                     [&](const ChunkPlace& place) { folder_.remove(chunk_name(v, place.index)); });
    }
  }

  ZarrArray array_of(std::size_t v) const {
    const Variable& variable = variables_[v].variable;
    ZarrArray array{.dtype = variable.dtype,
                    .shape = variable.shape,
                    .chunk = chunks_[v],
                    .dimensions = dimension_names(variable.shape)};
    if (series_) {
      array.shape.insert(array.shape.begin(), iterations_.size());
      array.chunk.insert(array.chunk.begin(), 1);
      array.dimensions.insert(array.dimensions.begin(), "iteration");
    }
    if (!variable.unit.empty()) array.attributes["units"] = variable.unit;
    array.attributes["dtype"] = to_string(variable.dtype);
    array.attributes["role"] = to_string(variable.role);
    return array;
  }

  /// Adds an array with one value per step. If a variable has the name `name`, the array gets another name.
  template <class T>
  ZarrArray& add_axis(std::map<std::string, ZarrArray>& arrays, const std::string& name, DType dtype,
                      const std::vector<T>& values) {
    const std::string free = arrays.contains(name) ? "@" + name : name;
    const std::uint64_t zero = 0;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    folder_.write(zarr_chunk_name(format_, free, std::span(&zero, 1)), std::span(&bytes, 1));
    ZarrArray& array = arrays[free];
    array.dtype = dtype;
    array.shape = array.chunk = {values.size()};
    array.dimensions = {"iteration"};
    return array;
  }

  void add_columns(std::map<std::string, ZarrArray>& arrays) {
    for (const ResultColumn& column : results_.columns()) {
      ZarrArray& array = column.is_integer() ? add_axis(arrays, column.name, DType::kI64, column.i64())
                                             : add_axis(arrays, column.name, DType::kF64, column.f64());
      const bool gaps = column.is_integer() && std::any_of(column.values.begin(), column.values.end(),
                                                           [](const StepValue& value) { return !value.present; });
      if (gaps) array.attributes["_FillValue"] = kAbsentInteger;
      if (!column.unit.empty()) array.attributes["units"] = column.unit;
    }
  }

  Json values_as_json() const {
    Json values = Json::object();
    for (const ResultColumn& column : results_.columns()) values[column.name] = to_json(column.values.at(0));
    return values;
  }

  const ZarrFormat format_;
  const bool series_;
  const std::vector<ExportedVariable> variables_;
  std::vector<std::vector<std::uint64_t>> chunks_;  // for each variable: its chunks' shape, without the leading axis
  OutputFolder folder_;
  std::vector<std::byte> padding_;  // a shorter chunk, padded with zeros
  bool pending_ = false;
  std::uint64_t iteration_ = 0;
  std::uint64_t step_ = 0;
  std::string run_id_;
  StepResults pending_results_;
  std::vector<std::uint64_t> iterations_;
  std::vector<std::uint64_t> steps_;
  std::vector<std::string> run_ids_;
  ExportColumns results_;
};

}  // namespace

std::unique_ptr<ExportSink> make_zarr2(const ExportTarget& target) {
  return std::make_unique<ZarrSink>(target, ZarrFormat::k2);
}

std::unique_ptr<ExportSink> make_zarr3(const ExportTarget& target) {
  return std::make_unique<ZarrSink>(target, ZarrFormat::k3);
}

}  // namespace ringside
