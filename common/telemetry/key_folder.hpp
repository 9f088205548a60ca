// SPDX-License-Identifier: BSD-3-Clause
// The folder of keys for following a run over tcp (docs/use/live.md): the server's key pair, and the list of the
// clients that are let in. Each client's keys lie in a folder of their own below it, to be copied to the client's
// machine.
//
//   FOLDER/server.secret        the server's pair, 0600       FOLDER/NAME/client.secret   the client's pair, 0600
//   FOLDER/server.public        its public half               FOLDER/NAME/server.public   the server's public half
//   FOLDER/clients.allowed      "KEY NAME", a line each
#pragma once

#include <string>
#include <vector>

#include "common/messages/channel.hpp"

namespace ringside {

/// Makes FOLDER (0700) with a server's key pair and an empty list. Throws Error: exit code 2 if it holds keys already,
/// 3 if it cannot be written.
void make_server_keys(const std::string& folder);

/// Makes a client's folder below FOLDER and adds the client to the list. Throws Error: exit code 2 if the name is
/// taken or invalid, or if FOLDER has no server's keys.
void make_client_keys(const std::string& folder, const std::string& name);

/// The keys that an analyzer listens with. Throws Error (exit code 2) if a file is missing or holds no key, or if
/// others can read a secret or write to the folder.
CurveKeys read_server_keys(const std::string& folder);

/// The keys that a client connects with. FOLDER is the one that `make_client_keys` made. Throws Error, as above.
CurveKeys read_client_keys(const std::string& folder);

/// The files of FOLDER that an analyzer reads.
std::vector<std::string> server_key_files(const std::string& folder);

/// The public keys of the clients that are let in. Throws Error (exit code 2) if the list is missing, can be changed
/// by others, holds anything but keys, or holds none.
std::vector<std::string> read_allowed_clients(const std::string& folder);

}  // namespace ringside
