// ringside keygen: keys for following a run over tcp.
#pragma once

namespace ringside {

int keygen_command(int argc, const char* const* argv);

}  // namespace ringside
