// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/formats/zarr_metadata.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/export/formats/export_format.hpp"

namespace ringside {
namespace {

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

}  // namespace

std::string zarr_chunk_name(ZarrFormat format, const std::string& array, std::span<const std::uint64_t> index) {
  if (format == ZarrFormat::k3) {
    return index.empty() ? array + "/c" : fmt::format("{}/c/{}", array, fmt::join(index, "/"));
  }
  return index.empty() ? array + "/0" : fmt::format("{}/{}", array, fmt::join(index, "."));
}

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

}  // namespace ringside
