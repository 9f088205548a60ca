// SPDX-License-Identifier: BSD-3-Clause
#include "common/ranks/node_address.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "common/files/new_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"

namespace ringside {

// Three lines: the address, the public key, the secret key.
std::optional<NodeAddress> read_node_address(const std::string& socket) {
  const std::string path = socket + kNodeAddressSuffix;
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  std::ifstream file(path);
  NodeAddress found;
  std::string rest;
  const bool complete = std::getline(file, found.address) && std::getline(file, found.public_key) &&
                        std::getline(file, found.secret_key) && !std::getline(file, rest);
  if (!complete || found.address.empty() || found.public_key.size() != 40 || found.secret_key.size() != 40) {
    throw system_error("{}: found no address and keys of a node; expected what ringside-analyzer writes there",
                       shortened(path));
  }
  return found;
}

void write_node_address(const std::string& socket, const NodeAddress& address) {
  const std::string path = socket + kNodeAddressSuffix;
  const std::string text = formatted("{}\n{}\n{}\n", address.address, address.public_key, address.secret_key);
  NewFile file(path, 0600);
  if (file.fd().valid() && write(file.fd().get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      file.publish() == 0) {
    return;
  }
  throw system_error("{}: cannot be written: {}", shortened(path), errno_text(errno));
}

}  // namespace ringside
