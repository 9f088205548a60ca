// SPDX-License-Identifier: BSD-3-Clause
// The folder of keys for following a run over tcp (docs/use/live.md): the server's key pair and the list of allowed
// clients. Each client's keys are in a separate folder below this one, which the user copies to the client's machine.
//
//   FOLDER/server.secret        the server's pair, 0600       FOLDER/NAME/client.secret   the client's pair, 0600
//   FOLDER/server.public        its public half               FOLDER/NAME/server.public   the server's public half
//   FOLDER/clients.allowed      "KEY NAME", a line each
#pragma once

#include <string>
#include <vector>

#include "common/messages/channel.hpp"

namespace ringside {

/// Makes FOLDER (0700) with a server's key pair and an empty list. Throws Error: exit code 2 if the folder already
/// contains keys, 3 if it cannot be written.
void make_server_keys(const std::string& folder);

/// Makes a client's folder below FOLDER and adds the client to the list. Throws Error: exit code 2 if the name is
/// taken or invalid, or if FOLDER has no server's keys.
void make_client_keys(const std::string& folder, const std::string& name);

/// The keys of an analyzer. Throws Error (exit code 2) if a file is missing or contains no key, or if other users can
/// read a secret or write to the folder.
CurveKeys read_server_keys(const std::string& folder);

/// The keys of a client. folder: the client's folder, made by `make_client_keys`. Throws the errors of
/// read_server_keys.
CurveKeys read_client_keys(const std::string& folder);

/// The names of the files in FOLDER that an analyzer reads.
std::vector<std::string> server_key_files(const std::string& folder);

/// The public keys of the allowed clients. Throws Error (exit code 2) if the list is missing or empty, contains
/// anything but keys, or can be changed by other users.
std::vector<std::string> read_allowed_clients(const std::string& folder);

}  // namespace ringside
