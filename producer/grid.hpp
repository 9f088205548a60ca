// The SIDE x SIDE grid graph: every cell is linked with its up to 8 neighbours, both ways, not with itself. Cell (y, x)
// is row y * SIDE + x. grid:2000 is the workload of the published experiments (4,000,000 rows, 31,976,004 entries).
#pragma once

#include <cstdint>

#include "producer/csr_matrix.hpp"

namespace ringside {

/// side: 1 to 65535, more would not fit 32-bit columns. A pattern, built by all OpenMP threads. The graph equals its
/// transpose: `orientation` is only noted. Throws `Error` (exit code 3) where memory is lacking.
CsrMatrix make_grid(std::uint32_t side, Orientation orientation);

}  // namespace ringside
