// `ringside serve`: serves a web page, JSON and Prometheus metrics of the run beside it. It only subscribes and asks
// for the status; the analyzer does not depend on it.
#pragma once

namespace ringside {

int serve_command(int argc, const char* const* argv);

}  // namespace ringside
