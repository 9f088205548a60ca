// `ringside serve`: a web page, JSON and Prometheus metrics of the run beside it. Only subscribes: the analyzer does
// not know that it is there.
#pragma once

namespace ringside {

int serve_command(int argc, const char* const* argv);

}  // namespace ringside
