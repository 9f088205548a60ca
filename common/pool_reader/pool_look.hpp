// SPDX-License-Identifier: BSD-3-Clause
// Queries of readers and owners about a pool's file: its status, its owner, and requests for its pages in advance.
// Messages begin with `name`, the user's name for the pool.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "common/platform/error.hpp"
#include "common/ring/ring_geometry.hpp"

namespace ringside {

/// Throws Error (exit code 3).
struct stat status_of(int fd, const std::string& name);

/// Requests from the disk, in advance, what recovery reads of a mapped pool: libpmemobj's part, in which recovery finds
/// the ring, and the slots' headers. Page faults would request them one by one, each with the device's read-ahead.
void fetch_front(std::span<const std::byte> mapping) noexcept;
void fetch_headers(std::span<const std::byte> mapping, const RingGeometry& geometry) noexcept;

/// For a refusal: " (FOLDER belongs to user ringside, mode 0700; this process runs as user root)", or nothing if the
/// folder cannot be inspected.
std::string owner_and_mode(const std::filesystem::path& path);

/// The process that has the owner's lock on the pool, if the kernel reports it.
std::optional<pid_t> owner_of(const std::string& name);

/// The Error for a pool that another process owns. It names the process if the kernel reports it.
Error in_use(const std::string& name);

/// The Error for a reader while the pool is being made.
Error being_made(const std::string& name);

}  // namespace ringside
