// `ringside cache MATRIX`: writes a matrix's binary cache ahead of time.
#pragma once

namespace ringside {

int cache_command(int argc, const char* const* argv);

}  // namespace ringside
