#include "common/program.hpp"

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/log.hpp"
#include "common/stop_signal.hpp"
#include "common/watched_mapping.hpp"

namespace ringside {
namespace {

int fail(ExitCode code, std::string_view text) noexcept {
  print_failure("ringside", static_cast<int>(code), text);
  return static_cast<int>(code);
}

}  // namespace

int run_program(const std::function<int()>& body) noexcept {
  ignore_write_signals();
  catch_bus_errors(logs_to_journal());
  try {
    return body();
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kSystem, "out of memory; free some, or use a smaller matrix");
  } catch (const std::exception& error) {
    return fail(ExitCode::kSystem, std::string("unexpected failure: ") + error.what());
  }
}

}  // namespace ringside
