// ringside stop: ends the run that an analyzer serves, as Ctrl-C would; a service continues.
#pragma once

namespace ringside {

int stop_command(int argc, const char* const* argv);

}  // namespace ringside
