// `ringside report`: writes one HTML file with the account of a run, its waiting times, and residual and reductions
// over its iterations. The source is the journal and the ring of a pool, or a summary, which holds no steps.
#pragma once

namespace ringside {

int report_command(int argc, const char* const* argv);

}  // namespace ringside
