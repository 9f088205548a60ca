// `ringside replay POOL`: reduces the kept iterates again, in order and from their bytes, and compares the results
// with what was recorded.
#pragma once

namespace ringside {

int replay_command(int argc, const char* const* argv);

}  // namespace ringside
