// SPDX-License-Identifier: BSD-3-Clause
// Random graphs with heavy-tailed degrees: R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004) with the probabilities of the
// Graph500 benchmark, a = 0.57, b = c = 0.19. Every edge is a function of the seed and its number alone: so any thread
// can make any edge, also a second time, without a list of edges. Labels are not scrambled: small ids have large
// degrees.
#pragma once

#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/shared_builder.hpp"
#include "producer/text/matrix_name.hpp"

namespace ringside {

/// The result is a pattern: duplicates collapse, self-loops stay. It does not depend on the number of threads. options:
/// must be within their ranges. Throws `Error` (exit code 3) if memory is lacking.
CsrMatrix make_rmat(const RmatOptions& options, Orientation orientation);

/// This process's part of the matrix, if each of several processes makes a share of the edges.
CsrMatrix make_rmat_share(const RmatOptions& options, SharedBuilder::How how);

}  // namespace ringside
