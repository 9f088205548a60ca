// SPDX-License-Identifier: BSD-3-Clause
// Iterates over the fields of a Protocol Buffers message without the Protocol Buffers library, because libringside
// reads records and must not depend on that library. Every length is checked before it is used. The format is
// documented at https://protobuf.dev/programming-guides/encoding/.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ringside {

/// A field of the message. Only one of the members `integer` and `bytes` belongs to the field's type; the other one is
/// 0 or empty.
struct WireField {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;  // the value of a varint, fixed64 or fixed32
  std::string_view bytes;     // the content of a text, bytes, a message, or packed numbers
  bool is_bytes = false;

  double f64() const noexcept { return std::bit_cast<double>(integer); }
  std::int64_t i64() const noexcept { return static_cast<std::int64_t>(integer); }
  std::uint32_t u32() const noexcept { return static_cast<std::uint32_t>(integer); }
  bool flag() const noexcept { return integer != 0; }
};

class WireFields {
 public:
  /// `message` must outlive this object.
  explicit WireFields(std::string_view message) noexcept : rest_(message) {}

  /// Reads the next field. Returns false at the end, and also if the bytes are not a field; then `intact` is false.
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

  /// Reads a varint from the front. Returns false if there is no valid one of at most 10 bytes.
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
      default: return false;  // groups, which do not exist in proto3
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
    std::memcpy(&value, rest_.data(), bytes);  // stored as little-endian, the byte order of x86-64
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view rest_;
  bool intact_ = true;
};

}  // namespace ringside
