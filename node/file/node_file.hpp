// SPDX-License-Identifier: BSD-3-Clause
// The node file, docs/formats/files.md: one JSON object, version 1. Reading a written node gives an equal node.
#pragma once

#include <string>
#include <string_view>

#include "common/json/json.hpp"
#include "node/model/node.hpp"

namespace ringside {

inline constexpr int kNodeFormatVersion = 1;

/// Reads a node from the text of the file `name`. Throws Error (exit code 2), which names the file and the place, for
/// anything that is not a complete node file of this version.
Node parse_node(std::string_view text, const std::string& name);

/// Reads a node from a file. Throws Error as parse_node does; also exit code 3 if this process may not read the file.
Node read_node(const std::string& path);

/// The text from which `parse_node` reads an equal node.
Json to_json(const Node& node);

/// The text of the node file. As a check, this function reads the text back. Throws Error (exit code 3) if `parse_node`
/// refuses the text or returns a different node.
std::string node_text(const Node& node);

/// Throws Error (exit code 2) unless this program measured `node`, read from `path`, on this machine, which `here`
/// describes. The message lists the difference and the command that measures again.
void refuse_foreign(const Node& node, const std::string& path, const Fingerprint& here);

}  // namespace ringside
