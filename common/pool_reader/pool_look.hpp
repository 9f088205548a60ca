// SPDX-License-Identifier: BSD-3-Clause
// Functions that readers and owners use for a pool's file: queries of its status and its owner, and requests for its
// pages in advance. name: the user's name for the pool, with which messages begin.
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

/// The result of fstat. Throws Error (exit code 3).
struct stat status_of(int fd, const std::string& name);

/// Requests from the disk, in advance, the parts of a mapped pool that recovery reads: libpmemobj's part, in which
/// recovery finds the ring, and the slots' headers. Page faults would request these parts one by one, each with the
/// device's read-ahead.
void fetch_front(std::span<const std::byte> mapping) noexcept;
void fetch_headers(std::span<const std::byte> mapping, const RingGeometry& geometry) noexcept;

/// A text for a refusal: " (FOLDER belongs to user ringside, mode 0700; this process runs as user root)", or empty if
/// the folder cannot be inspected.
std::string owner_and_mode(const std::filesystem::path& path);

/// The process that has the owner's lock on the pool, if the kernel reports it.
std::optional<pid_t> owner_of(const std::string& name);

/// The Error for a pool that another process owns. The text names that process if the kernel reports it.
Error in_use(const std::string& name);

/// The Error for a reader of a pool that is still being made.
Error being_made(const std::string& name);

}  // namespace ringside
