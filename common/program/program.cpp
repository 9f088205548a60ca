// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/program.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "common/files/standard_streams.hpp"
#include "common/files/watched_mapping.hpp"
#include "common/kernels/float_environment.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/program/log.hpp"
#include "common/program/stop_signal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

// If variables of a job script require it, OpenMP's run-time library binds the main thread while the library is loaded.
// These variables are meant for the user's solver. Ringside chooses its cores among all that the kernel allows, but
// every thread would inherit the single core of the main thread. So the names are hidden from this process's libraries
// and restored before main, for programs started later.
constexpr const char* kBindingVariables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};

// GCC and clang have only this spelling of the attribute in common.
#define RINGSIDE_BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))

struct HiddenVariable {
  char* text;  // a variable in the environment
  char first;
};
constexpr int kMostHidden = 16;
HiddenVariable hidden_variables[kMostHidden];
int hidden_count = 0;

RINGSIDE_BEFORE_SANITIZERS bool begins_with(const char* text, const char* name) noexcept {
  while (*name != '\0' && *text == *name) ++text, ++name;
  return *name == '\0';
}

/// Called before the constructors of every library, and before a sanitizer's run-time library is ready.
RINGSIDE_BEFORE_SANITIZERS void hide_binding_variables(char** variables) noexcept {
  for (; *variables != nullptr; ++variables) {
    for (const char* name : kBindingVariables) {
      if (hidden_count == kMostHidden || !begins_with(*variables, name)) continue;
      hidden_variables[hidden_count++] = {*variables, **variables};
      **variables = '_';
      break;
    }
  }
}

/// The limit of the main thread's stack is also the stack size of every other thread. With a smaller stack,
/// constructors and threads of libraries die of SIGSEGV. System calls are made by number, because a sanitizer's
/// replacements of libc's functions do not work yet.
RINGSIDE_BEFORE_SANITIZERS void check_stack() noexcept {
  constexpr rlim_t kLeastBytes = rlim_t{256} << 10;
  rlimit limit{};
  if (syscall(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit) != 0 || limit.rlim_cur >= kLeastBytes) return;
  static const char text[] =
      "ringside: the limit of the stack (ulimit -s) is less than the 256 KiB that each thread needs; raise it, for "
      "example `ulimit -s 8192`\n";
  [[maybe_unused]] const long written = syscall(SYS_write, STDERR_FILENO, text, sizeof text - 1);
  syscall(SYS_exit_group, static_cast<int>(ExitCode::kSystem));
}

}  // namespace

extern "C" [[gnu::used]] RINGSIDE_BEFORE_SANITIZERS void ringside_before_libraries(int /*argc*/, char** /*argv*/,
                                                                                   char** variables) noexcept {
  check_stack();
  hide_binding_variables(variables);
}
// This is not a C++ array, because AddressSanitizer would append zeros to it, which would be called as functions.
asm(".pushsection .preinit_array,\"aw\",@preinit_array\n.balign 8\n.quad ringside_before_libraries\n.popsection");

namespace {

[[gnu::constructor]] void show_binding_variables() noexcept {
  for (int i = 0; i < hidden_count; ++i) *hidden_variables[i].text = hidden_variables[i].first;
}

int fail(ExitCode code, std::string_view text) noexcept {
  print_failure("ringside", static_cast<int>(code), text);
  return static_cast<int>(code);
}

/// Rejects a mistyped value, which would otherwise silently select another variant.
void check_isa_variable() {
  const char* wanted = std::getenv("RINGSIDE_ISA");
  if (wanted == nullptr || *wanted == '\0') return;
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    if (to_string(isa) == wanted) return;
  }
  throw usage_error("RINGSIDE_ISA: found '{}', expected plain, avx2 or avx512, or the variable unset",
                    shortened(wanted));
}

/// output_error: the error of standard output, if this error ended `body`.
int run_body(const std::function<int()>& body, int& output_error) noexcept {
  try {
    check_isa_variable();
    return body();
  } catch (const std::filesystem::filesystem_error&) {
    return fail_with_caught();
  } catch (const std::system_error& error) {  // fmt::print also throws this
    if (std::ferror(stdout) == 0) return fail_with_caught();
    output_error = error.code().value();
    return static_cast<int>(ExitCode::kDone);
  } catch (const std::exception&) {
    return fail_with_caught();
  }
}

}  // namespace

int fail_with_caught() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kSystem, kOutOfMemory);
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().empty() ? "a path" : error.path1().string();
    return fail(ExitCode::kSystem, path + ": cannot be used (" + error.code().message() + ")");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {  // thrown by std::thread
      return fail(ExitCode::kSystem,
                  "cannot start a thread (" + error.code().message() + "); " + std::string(kNoMoreThreads));
    }
    return fail(ExitCode::kSystem, std::string("unexpected failure: ") + error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::kSystem, std::string("unexpected failure: ") + error.what());
  }
}

int run_program(const std::function<int()>& body) noexcept {
  set_default_floats();  // a preloaded library may have changed the settings; later threads inherit these
  hold_standard_descriptors();
  ignore_write_signals();
  catch_bus_errors(logs_to_journal());
  const NotedOutput noted;
  int output_error = 0;
  const int code = run_body(body, output_error);
  const int found = finish_standard_output();
  if (output_error == 0) output_error = found;
  if (output_error == 0) return code;
  // A failure of the work itself has been reported already, and is more important to the caller than a failed print.
  const bool is_done = code == static_cast<int>(ExitCode::kDone);
  if (output_error == EPIPE) {
    if (!is_done) return code;
    end_by_broken_pipe();
  }
  const std::string why = output_error == EBADF ? "it is closed" : errno_text(output_error);
  const int failed =
      fail(ExitCode::kSystem, "standard output: cannot be written: " + why + "; expected one that accepts all output");
  return is_done ? failed : code;
}

}  // namespace ringside
