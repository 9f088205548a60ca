// SPDX-License-Identifier: BSD-3-Clause
// The fields of a message of Protocol Buffers, one after the other, without that library: libringside reads records and
// must not depend on it. Every length is checked before it is used. The format is documented at
// https://protobuf.dev/programming-guides/encoding/.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ringside {

/// A field as it stands in the message; the value of a type that it does not have is 0 or empty.
struct WireField {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;  // varint, fixed64 or fixed32
  std::string_view bytes;     // text, bytes, a message, or packed numbers
  bool is_bytes = false;

  double f64() const noexcept { return std::bit_cast<double>(integer); }
  std::int64_t i64() const noexcept { return static_cast<std::int64_t>(integer); }
  std::uint32_t u32() const noexcept { return static_cast<std::uint32_t>(integer); }
  bool flag() const noexcept { return integer != 0; }
};

class WireFields {
 public:
  /// message: outlives this object.
  explicit WireFields(std::string_view message) noexcept : rest_(message) {}

  /// False at the end, and where the bytes are no field: then `intact` is false.
  bool next(WireField& field) noexcept {
    if (rest_.empty()) return false;
    std::uint64_t key = 0;
    field = {};
    intact_ = take_varint(key) && key >> 3 != 0 && key >> 32 == 0 && take_value(key & 7, field);
    field.number = static_cast<std::uint32_t>(key >> 3);
    if (!intact_) rest_ = {};
    return intact_;
  }
  bool intact() const noexcept { return intact_; }

  /// Takes a varint off the front. False if there is none of at most 10 bytes.
  bool take_varint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 70 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  bool take_value(std::uint64_t type, WireField& field) noexcept {
    switch (type) {
      case 0: return take_varint(field.integer);
      case 1: return take_fixed(8, field.integer);
      case 5: return take_fixed(4, field.integer);
      case 2: break;
      default: return false;  // groups, which proto3 does not have
    }
    std::uint64_t bytes = 0;
    if (!take_varint(bytes) || bytes > rest_.size()) return false;
    field.is_bytes = true;
    field.bytes = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }
  bool take_fixed(std::size_t bytes, std::uint64_t& value) noexcept {
    if (rest_.size() < bytes) return false;
    std::memcpy(&value, rest_.data(), bytes);  // little-endian, like x86-64
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view rest_;
  bool intact_ = true;
};

}  // namespace ringside
