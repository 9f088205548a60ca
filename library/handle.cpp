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
  if (error == nullptr) return;
  try {
    ringside_error made{};
    made.status = status;
    std::memcpy(made.line, line.text(), sizeof(made.line));
    give(made, error, "ringside_error");
  } catch (...) {  // a wrong size: the status alone reports the failure
  }
}

ringside_status refuse(Line& line, std::string_view text) noexcept {
  line.set(text);
  return RINGSIDE_USAGE;
}

void check_size(std::uint32_t bytes, std::size_t first, const char* type) {
  if (bytes >= first && bytes <= kMostStructBytes && bytes % sizeof(std::uint64_t) == 0) return;
  throw usage_error("{}: its size is {}; expected sizeof({})", type, bytes, type);
}

void take_bytes(void* to, std::size_t own, const void* from, std::uint32_t bytes, const char* type) {
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
