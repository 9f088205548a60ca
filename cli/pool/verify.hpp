// `ringside verify POOL`: every slot's hashes checked against its bytes.
#pragma once

namespace ringside {

int verify_command(int argc, const char* const* argv);

}  // namespace ringside
