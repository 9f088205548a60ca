// `ringside export POOL`: a kept iterate, verified, as a file other programs read.
#pragma once

namespace ringside {

int export_command(int argc, const char* const* argv);

}  // namespace ringside
