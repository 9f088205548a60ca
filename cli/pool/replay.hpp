// `ringside replay POOL`: the kept iterates in order, reduced again from their bytes and compared with what was
// recorded.
#pragma once

namespace ringside {

int replay_command(int argc, const char* const* argv);

}  // namespace ringside
