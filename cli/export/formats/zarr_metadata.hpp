// SPDX-License-Identifier: BSD-3-Clause
// The metadata of a Zarr store, in formats 2 and 3: the descriptions of arrays and groups, and the names of chunks.
// Specifications: https://zarr-specs.readthedocs.io/
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {

struct ZarrArray {
  DType dtype = DType::kF64;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> chunk;
  std::vector<std::string> dimensions;  // their names
  Json attributes = Json::object();
};

enum class ZarrFormat { k2 = 2, k3 = 3 };

/// The file of a chunk, below the store: "x/0.0" or "x/c/0/0".
std::string zarr_chunk_name(ZarrFormat format, const std::string& array, std::span<const std::uint64_t> index);

/// The files that describe a store with these arrays, with their content. One file of the group repeats all of it
/// (consolidated), so that a reader needs only one request.
std::map<std::string, std::string> zarr_metadata(ZarrFormat format, const std::map<std::string, ZarrArray>& arrays,
                                                 const Json& attributes);

}  // namespace ringside
