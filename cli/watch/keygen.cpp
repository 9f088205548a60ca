// SPDX-License-Identifier: BSD-3-Clause
// ringside keygen: makes keys for following a run over TCP.
#include <fmt/format.h>

#include <string>

#include "cli/subcommands.hpp"
#include "common/options/command_line.hpp"
#include "common/telemetry/key_folder.hpp"
#include "common/text/printable.hpp"

namespace ringside {

int keygen_command(int argc, const char* const* argv) {
  std::string folder;
  std::string client;
  CommandLine line(
      "Makes keys for following a run over the network. Without --client, it makes the analyzer's keys. After that,\n"
      "with --client, it makes a pair of keys for a client, and admits this client. Never overwrites a key.",
      "ringside keygen");
  line.option("FOLDER", folder, "folder of the analyzer's keys (the value of --telemetry-keys)")
      .required()
      .value_name("FOLDER");
  line.option("--client", client, "make a client's keys, in FOLDER/NAME, and admit this client").value_name("NAME");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  if (client.empty()) {
    make_server_keys(folder);
    fmt::print("{0}: made the analyzer's keys; no client is admitted yet.\nnext: ringside keygen {0} --client NAME\n",
               printable(folder));
    return 0;
  }
  make_client_keys(folder, client);
  fmt::print(
      "{0}/{1}: made this folder with the keys of client {1}, and admitted the client. Copy the folder over ssh: "
      "everyone "
      "who has it can follow runs as {1}.\nnext: start with --telemetry-tcp HOST:PORT --telemetry-keys {0}; "
      "on the client: ringside tail --tcp HOST:PORT --keys {1}\n",
      printable(folder), printable(client));
  return 0;
}

}  // namespace ringside
