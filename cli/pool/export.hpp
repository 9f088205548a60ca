// `ringside export POOL`: writes a kept iterate, after verifying it, to a file that other programs can read.
#pragma once

namespace ringside {

int export_command(int argc, const char* const* argv);

}  // namespace ringside
