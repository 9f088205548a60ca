// Keys for following a run over tcp, in a folder (docs/live.md): the server's pair, and the list of the clients that
// are let in. What a client needs lies in a folder of its own below it, to be carried to the client's machine.
//
//   FOLDER/server.secret        the server's pair, 0600       FOLDER/NAME/client.secret   the client's pair, 0600
//   FOLDER/server.public        its public half               FOLDER/NAME/server.public   whom it talks to
//   FOLDER/clients.allowed      "KEY NAME", a line each
#pragma once

#include <string>
#include <vector>

#include "common/handoff/channel.hpp"

namespace ringside {

/// Makes FOLDER (0700) with a server's pair and an empty list. Throws Error: 2 if there is one already, 3 if it cannot
/// be written.
void make_server_keys(const std::string& folder);

/// Makes a client's folder below FOLDER and lets it in. Throws Error: 2 if the name is taken or is no name, or FOLDER
/// has no server's keys.
void make_client_keys(const std::string& folder, const std::string& name);

/// What an analyzer listens with. Throws Error (exit code 2): a file is missing, is no key, a secret can be read by
/// others, or the folder written to by them.
CurveKeys read_server_keys(const std::string& folder);

/// What a client connects with: FOLDER is the one `make_client_keys` made. Throws Error, as above.
CurveKeys read_client_keys(const std::string& folder);

/// The files of FOLDER that an analyzer reads.
std::vector<std::string> server_key_files(const std::string& folder);

/// The public keys that are let in. Throws Error (exit code 2) if the list is missing, may be changed by others, holds
/// anything but keys, or none.
std::vector<std::string> read_allowed_clients(const std::string& folder);

}  // namespace ringside
