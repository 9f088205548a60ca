// `ringside wipe POOL`: overwrites every byte of a pool before deleting it.
#pragma once

namespace ringside {

int wipe_command(int argc, const char* const* argv);

}  // namespace ringside
