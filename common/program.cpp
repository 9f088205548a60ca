#include "common/program.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/isa.hpp"
#include "common/log.hpp"
#include "common/printable.hpp"
#include "common/stop_signal.hpp"
#include "common/watched_mapping.hpp"

namespace ringside {
namespace {

int fail(ExitCode code, std::string_view text) noexcept {
  print_failure("ringside", static_cast<int>(code), text);
  return static_cast<int>(code);
}

/// Where it is set it is meant: another variant than that is not to be taken in silence for a slip of the keyboard.
void check_isa_variable() {
  const char* wanted = std::getenv("RINGSIDE_ISA");
  if (wanted == nullptr || *wanted == '\0') return;
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    if (to_string(isa) == wanted) return;
  }
  throw usage_error("RINGSIDE_ISA: found '{}', expected plain, avx2 or avx512, or the variable unset",
                    shortened(wanted));
}

}  // namespace

int run_program(const std::function<int()>& body) noexcept {
  ignore_write_signals();
  catch_bus_errors(logs_to_journal());
  try {
    check_isa_variable();
    return body();
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kSystem, "out of memory; free some, or use a smaller matrix");
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().empty() ? "a path" : error.path1().string();
    return fail(ExitCode::kSystem, path + ": cannot be used (" + error.code().message() + ")");
  } catch (const std::exception& error) {
    return fail(ExitCode::kSystem, std::string("unexpected failure: ") + error.what());
  }
}

}  // namespace ringside
