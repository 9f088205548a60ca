// SPDX-License-Identifier: BSD-3-Clause
// The node file, docs/formats/files.md: one JSON object, version 1. What is written reads back as it was.
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

/// The same from a file. Throws also exit code 3 if the file may not be read.
Node read_node(const std::string& path);

/// What `parse_node` reads as the same node.
Json to_json(const Node& node);

/// The text of the file, as it is written. It was read back: throws Error (exit code 3) if `parse_node` refuses it, or
/// gives another node.
std::string node_text(const Node& node);

/// Throws Error (exit code 2) unless `node`, read from `path`, was measured by this program on this machine, which is
/// `here`. The message says what differs, and how to measure again.
void refuse_foreign(const Node& node, const std::string& path, const Fingerprint& here);

}  // namespace ringside
