// `ringside run`: starts the analyzer and the producer on their cores, shows their progress, passes Ctrl-C on, and
// prints the account. It never leaves a child behind.
#pragma once

namespace ringside {

int run_command(int argc, const char* const* argv);

}  // namespace ringside
