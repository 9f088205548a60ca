// SPDX-License-Identifier: BSD-3-Clause
// Writes Parquet with pyarrow: Debian has no Parquet library, and an encoder of our own would be far less tested.
// `python3` from PATH reads the table as an Arrow stream on its standard input, and writes the file on its standard
// output.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "cli/export/records/arrow_file.hpp"
#include "cli/export/records/records_export.hpp"
#include "cli/export/records/records_table.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr int kNoPyarrow = 77;

/// This script imports nothing from the working folder, and reports an error in one line.
constexpr const char* kScript = R"(import sys
sys.path[:] = [p for p in sys.path if p]
try:
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:
    sys.exit(77)
try:
    with pyarrow.ipc.open_stream(sys.stdin.buffer) as stream, \
            pyarrow.parquet.ParquetWriter(pyarrow.PythonFile(sys.stdout.buffer, mode="w"), stream.schema) as to:
        for batch in stream:
            to.write_batch(batch)
    sys.stdout.buffer.flush()
except Exception as error:
    sys.exit(" ".join(str(error).split()) or type(error).__name__)
)";

/// Starts python3 with these standard streams.
pid_t start_python(int in, int out, int err) {
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, err, STDERR_FILENO);
  std::string words[] = {"python3", "-c", kScript};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, "python3", &streams, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failed != 0) {
    throw system_error(
        "--format: parquet needs a python3 with pyarrow in PATH, but python3 cannot be started: {}; feather and csv "
        "need no Python",
        errno_text(failed));
  }
  return pid;
}

}  // namespace

void write_parquet(const RecordsTable& table, OutputFile& file) {
  Pipe in = new_pipe();
  Pipe err = new_pipe();
  const pid_t pid = start_python(in.read_end.get(), file.descriptor(), err.write_end.get());
  in.read_end.reset();
  err.write_end.reset();
  bool broken = false;  // python3 ended early; its exit status gives the reason
  write_arrow(table, ArrowForm::kStream, [&](const void* data, std::size_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0 && !broken) {
      const ssize_t written = write(in.write_end.get(), at, bytes);
      if (written < 0 && errno == EINTR) continue;
      broken = written < 0;
      if (broken) break;
      at += written;
      bytes -= static_cast<std::size_t>(written);
    }
  });
  in.write_end.reset();
  std::string said;
  read_to_end(err.read_end.get(), said);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoPyarrow) {
    throw system_error(
        "--format: parquet needs a python3 with pyarrow in PATH (pip install pyarrow); feather and csv need no Python");
  }
  if (status != 0 || broken) {
    throw system_error("--format: parquet: pyarrow failed: {}", said.empty() ? "it gives no reason" : shortened(said));
  }
}

}  // namespace ringside
