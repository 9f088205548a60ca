// ringside keygen: makes keys for following a run over TCP.
#pragma once

namespace ringside {

int keygen_command(int argc, const char* const* argv);

}  // namespace ringside
