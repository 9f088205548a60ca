// SPDX-License-Identifier: BSD-3-Clause
// Owners for libhdf5's objects, its types for ours, and its errors as text. Only hdf5_file.cpp includes this.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>

#include "common/platform/error.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {

/// The reason for the failure of libhdf5's last call: the system's reason, if there is one ("No space left on device"),
/// else the message of the innermost function.
inline std::string hdf5_reason() {
  std::string reason;
  const auto look = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    auto& text = *static_cast<std::string*>(to);
    const std::string said = error->desc == nullptr ? "" : error->desc;
    constexpr std::string_view kSystem = "error message = '";
    const std::size_t at = said.find(kSystem);
    if (at != std::string::npos) {
      text = said.substr(at + kSystem.size(), said.find('\'', at + kSystem.size()) - at - kSystem.size());
      return 1;  // the system's reason: search no further
    }
    if (text.empty()) text = said;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &reason);
  return reason.empty() ? "libhdf5 gives no reason" : reason;
}

/// Closes with Close at its end; only close_hdf5 reports a failure to close.
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

/// Little-endian; complex numbers are a compound of r and i, as h5py and other readers expect.
inline Hdf5Type hdf5_type(DType dtype) {
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

}  // namespace ringside
