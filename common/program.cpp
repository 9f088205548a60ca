#include "common/program.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include "common/error.hpp"
#include "common/stop_signal.hpp"

namespace ringside {

int run_program(const std::function<int()>& body) noexcept {
  ignore_write_signals();
  try {
    return body();
  } catch (const Error& error) {
    std::fprintf(stderr, "ringside: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "ringside: out of memory; free some, or use a smaller matrix\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ringside: unexpected failure: %s\n", error.what());
  }
  return static_cast<int>(ExitCode::kSystem);
}

}  // namespace ringside
