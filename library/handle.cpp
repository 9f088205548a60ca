// SPDX-License-Identifier: BSD-3-Clause
#include "library/handle.hpp"

#include "common/platform/version.hpp"
#include "common/schema/dtype.hpp"

namespace ringside::library {

ringside_status status_of_exception(LastError& last) noexcept {
  try {
    throw;
  } catch (const Refusal& error) {
    return last.set(RINGSIDE_USAGE, error.what(), error.reason());
  } catch (const Error& error) {
    const auto status = static_cast<ringside_status>(error.code());
    return last.set(status, error.what(), status == RINGSIDE_USAGE ? RINGSIDE_REASON_ARGUMENT : 0);
  } catch (const std::bad_alloc&) {
    return last.set(RINGSIDE_SYSTEM, "out of memory");
  } catch (const std::exception& error) {
    return last.set(RINGSIDE_SYSTEM, error.what());
  } catch (...) {
    return last.set(RINGSIDE_SYSTEM, "an unknown failure");
  }
}

bool is_place_for(const ringside_error* error) noexcept {
  if (error == nullptr) return true;
  try {
    check_size(error->size, kFirstSize<ringside_error>, "ringside_error");
    return true;
  } catch (...) {
    return false;
  }
}

void pass_on(const LastError& last, ringside_error* error) noexcept {
  if (error == nullptr) return;
  try {
    give(last.get(), error, "ringside_error");
  } catch (...) {
  }
}

const ringside_error* no_handle() noexcept {
  static const ringside_error error = [] {
    LastError made;
    made.set(RINGSIDE_USAGE, "no handle: found NULL", RINGSIDE_REASON_ARGUMENT);
    return made.get();
  }();
  return &error;
}

void check_size(std::uint32_t bytes, std::size_t first, const char* type) {
  if (bytes >= first && bytes <= kMostStructBytes && bytes % sizeof(std::uint64_t) == 0) return;
  throw usage_error("{}: its size is {}; expected sizeof({})", type, bytes, type);
}

void take_bytes(void* to, std::size_t own, const void* from, std::uint32_t bytes, const char* type) {
  const auto* rest = static_cast<const unsigned char*>(from);
  for (std::size_t at = own; at < bytes; ++at) {
    if (rest[at] == 0) continue;
    throw usage_error(
        "{}: byte {} of {} is set, but libringside {} does not know it: the program uses a newer interface", type, at,
        bytes, version());
  }
  std::memcpy(to, from, std::min<std::size_t>(own, bytes));
}

}  // namespace ringside::library

const char* ringside_version(void) {
  return ringside::version();
}

size_t ringside_dtype_bytes(uint32_t dtype) {
  if (dtype > UINT16_MAX || !ringside::is_dtype(static_cast<std::uint16_t>(dtype))) return 0;
  return ringside::bytes_of(static_cast<ringside::DType>(dtype));
}

size_t ringside_variable_bytes(const ringside_variable* variable) {
  if (variable == nullptr || variable->size < ringside::library::kFirstSize<ringside_variable>) return 0;
  if (variable->dims > RINGSIDE_MOST_DIMS) return 0;
  std::size_t bytes = ringside_dtype_bytes(variable->dtype);
  for (std::uint32_t d = 0; d < variable->dims; ++d) {
    if (__builtin_mul_overflow(bytes, variable->shape[d], &bytes)) return 0;
  }
  return bytes;
}

uint32_t ringside_interface(void) {
  return RINGSIDE_INTERFACE;
}
