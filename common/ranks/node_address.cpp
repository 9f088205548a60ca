// SPDX-License-Identifier: BSD-3-Clause
#include "common/ranks/node_address.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "common/files/new_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {

namespace {

constexpr std::size_t kMostBytes = 4096;
constexpr std::size_t kKeyLetters = 40;

std::string content_of(const RegularFile& file) {
  std::string text(kMostBytes, '\0');
  const ssize_t got = pread(file.fd.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

// The file has three lines: the address, the public key, the secret key.
std::optional<NodeAddress> read_node_address(const std::string& socket) {
  const std::string path = socket + kNodeAddressSuffix;
  const RegularFile file = open_regular(path, O_RDONLY | O_NOFOLLOW);
  if (!file.valid() && file.error == ENOENT) return std::nullopt;
  constexpr const char* kExpected = "the file that ringside-analyzer writes there";
  if (!file.valid()) throw system_error("{}: cannot be read: {}; expected {}", shortened(path), file.why(), kExpected);
  // Refuse a file of another user, because that user could know the keys in it.
  if (file.status.st_uid != geteuid() || (file.status.st_mode & 0077) != 0) {
    throw system_error(
        "{}: found permissions {:03o} of user {}, expected a file of this user to which no other user has access",
        shortened(path), file.status.st_mode & 0777u, file.status.st_uid);
  }
  std::istringstream lines(content_of(file));
  NodeAddress found;
  std::string rest;
  const bool complete = std::getline(lines, found.address) && std::getline(lines, found.public_key) &&
                        std::getline(lines, found.secret_key) && !std::getline(lines, rest);
  if (!complete || found.address.empty() || found.public_key.size() != kKeyLetters ||
      found.secret_key.size() != kKeyLetters) {
    throw system_error("{}: found no address and keys of a node, expected {}", shortened(path), kExpected);
  }
  return found;
}

void remove_node_address(const std::string& socket) noexcept {
  unlink((socket + kNodeAddressSuffix).c_str());
}

void write_node_address(const std::string& socket, const NodeAddress& address) {
  const std::string path = socket + kNodeAddressSuffix;
  const std::string text = formatted("{}\n{}\n{}\n", address.address, address.public_key, address.secret_key);
  NewFile file(path, 0600);
  errno = ENOSPC;  // a short write sets no errno
  if (!file.fd().valid() || write(file.fd().get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw system_error("{}: cannot be written: {}", shortened(path), errno_text(errno));
  }
  if (const int error = file.publish()) throw system_error("{}: cannot be written: {}", shortened(path), errno_text(error));
}

}  // namespace ringside
