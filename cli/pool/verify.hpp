// `ringside verify POOL`: checks every slot's hashes against its bytes.
#pragma once

namespace ringside {

int verify_command(int argc, const char* const* argv);

}  // namespace ringside
