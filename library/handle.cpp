// SPDX-License-Identifier: BSD-3-Clause
#include "library/handle.hpp"

#include "common/platform/version.hpp"

namespace ringside::library {

ringside_status status_of_exception(Line& line) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    line.set(error.what());
    return static_cast<ringside_status>(error.code());
  } catch (const std::bad_alloc&) {
    line.set("out of memory");
  } catch (const std::exception& error) {
    line.set(error.what());
  } catch (...) {
    line.set("an unknown failure");
  }
  return RINGSIDE_SYSTEM;
}

void pass_on(const Line& line, ringside_status status, ringside_error* error) noexcept {
  if (error == nullptr || error->size < offsetof(ringside_error, line)) return;
  ringside_error own{};
  own.status = status;
  std::memcpy(own.line, line.text(), sizeof(own.line));
  const std::uint32_t room = std::min<std::uint32_t>(error->size, sizeof(own));
  own.size = error->size;
  std::memcpy(error, &own, room);
  if (room > offsetof(ringside_error, line)) reinterpret_cast<char*>(error)[room - 1] = '\0';
}

ringside_status refuse(Line& line, std::string_view text) noexcept {
  line.set(text);
  return RINGSIDE_USAGE;
}

void take_bytes(void* to, std::size_t own, const void* from, std::uint32_t bytes, const char* type) {
  constexpr std::uint32_t kMost = 1 << 16;
  if (bytes < 2 * sizeof(std::uint32_t) || bytes > kMost || bytes % sizeof(std::uint32_t) != 0) {
    throw usage_error("{}: its size is {}; expected sizeof({})", type, bytes, type);
  }
  const auto* rest = static_cast<const unsigned char*>(from);
  for (std::size_t at = own; at < bytes; ++at) {
    if (rest[at] == 0) continue;
    throw usage_error("{}: byte {} of {} is set, which is of a later interface than that of libringside {}", type, at,
                      bytes, version());
  }
  std::memcpy(to, from, std::min<std::size_t>(own, bytes));
}

}  // namespace ringside::library

const char* ringside_version(void) {
  return ringside::version();
}

uint32_t ringside_abi(void) {
  return RINGSIDE_ABI;
}
