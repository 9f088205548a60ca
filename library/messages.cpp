// SPDX-License-Identifier: BSD-3-Clause
#include "library/messages.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "common/platform/error.hpp"
#include "common/platform/version.hpp"

namespace ringside::library {

namespace {

constexpr const char* kLibrary = "libringside-messages.so.0";

std::atomic<MakeMessages> linked{nullptr};

/// Loads the library. It stays loaded until the process ends, because ZeroMQ's threads may run its code.
void* load() {
  constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  if (void* beside = dlopen((own_folder() + kLibrary).c_str(), kHow)) return beside;
  if (void* found = dlopen(kLibrary, kHow)) return found;
  const char* why = dlerror();
  throw usage_error("--coordination messages: {}; expected the package libringside-messages0, or --coordination locks",
                    why != nullptr ? why : "libringside-messages cannot be loaded");
}

}  // namespace

std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_messages), &info) == 0 || info.dli_fname == nullptr) return {};
  const char* slash = std::strrchr(info.dli_fname, '/');
  return slash != nullptr ? std::string(info.dli_fname, slash + 1) : std::string();
}

void link_messages(MakeMessages make) noexcept {
  linked.store(make, std::memory_order_relaxed);
}

std::unique_ptr<Messages> load_messages(const std::string& socket) {
  if (const MakeMessages make = linked.load(std::memory_order_relaxed)) return make(socket);
  const auto* entry = static_cast<const MessagesEntry*>(dlsym(load(), "ringside_messages"));
  if (entry == nullptr || std::strcmp(entry->version, version()) != 0) {
    throw usage_error("--coordination messages: found libringside-messages {}, expected {}, the version of libringside",
                      entry != nullptr ? entry->version : "without an entry", version());
  }
  return entry->make(socket);
}

}  // namespace ringside::library
