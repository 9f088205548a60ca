// `ringside report`: one HTML file with the account of a run, who waited for whom, and residual and reductions over its
// iterations. From the journal and the ring of a pool, or from a summary as far as that goes.
#pragma once

namespace ringside {

int report_command(int argc, const char* const* argv);

}  // namespace ringside
