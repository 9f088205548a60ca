// `ringside info POOL`: shows what a pool holds, without owning it.
#pragma once

namespace ringside {

int info_command(int argc, const char* const* argv);

}  // namespace ringside
