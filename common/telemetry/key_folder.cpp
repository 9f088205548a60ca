// SPDX-License-Identifier: BSD-3-Clause
#include "common/telemetry/key_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string_view>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

constexpr const char* kServerSecret = "/server.secret";
constexpr const char* kServerPublic = "/server.public";
constexpr const char* kClientSecret = "/client.secret";
constexpr const char* kAllowed = "/clients.allowed";

void write_to(const UniqueFd& fd, const std::string& path, const std::string& text) {
  const ssize_t written = fd.valid() ? write(fd.get(), text.data(), text.size()) : -1;
  const bool short_of_room = written >= 0 && written != static_cast<ssize_t>(text.size());
  if (written < 0 || short_of_room || fsync(fd.get()) != 0) {
    throw system_error("{}: cannot write: {}", path, errno_text(short_of_room ? ENOSPC : errno));
  }
}

void write_new(const std::string& path, const std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() && errno == EEXIST) {
    throw usage_error("{}: found keys, expected none: keys are never overwritten; choose another folder or name", path);
  }
  try {
    write_to(fd, path, text);
  } catch (const Error&) {
    if (fd.valid()) unlink(path.c_str());  // an incomplete key file would block the next attempt
    throw;
  }
}

/// Appends a line as a new line, even if an editor has left the last line without a newline.
void append_line(const std::string& path, const std::string& line) {
  const RegularFile list = open_regular(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (!list.valid()) throw system_error("{}: cannot write: {}", path, list.why());
  char last = '\n';
  errno = EIO;
  if (list.status.st_size > 0 && pread(list.fd.get(), &last, 1, list.status.st_size - 1) != 1) {
    throw system_error("{}: cannot be read: {}", path, errno_text(errno));
  }
  write_to(list.fd, path, (last == '\n' ? "" : "\n") + line + "\n");
}

void make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("{}: cannot make the folder: {}", path, errno_text(errno));
  }
}

/// forbidden: permissions that other users must not have.
void check_owner(const struct stat& found, const std::string& path, mode_t forbidden, const char* accepted) {
  if ((found.st_mode & forbidden) == 0 && (found.st_uid == geteuid() || found.st_uid == 0)) return;
  throw usage_error("{}: found permissions {:03o} of user {}, expected {} of this user with at most {:03o}", path,
                    found.st_mode & 0777u, found.st_uid, accepted, 0777u & ~forbidden);
}

/// Returns the text of a file, after a check that other users can replace neither the file nor its folder. Reads
/// through the descriptor that was checked.
std::string read_file(const std::string& folder, const char* name, mode_t forbidden, const char* accepted) {
  const std::string path = folder + name;
  const UniqueFd in(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat found {};
  const auto refuse = [&](int error) {
    throw usage_error("{}: cannot be read ({}); expected {}, as `ringside keygen` makes it", path, errno_text(error),
                      accepted);
  };
  if (!in.valid() || fstat(in.get(), &found) != 0) refuse(errno);
  check_owner(found, folder, 0022, "a folder");
  // O_NONBLOCK: a pipe of this name must not block us.
  const UniqueFd fd(openat(in.get(), name + 1, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid() || fstat(fd.get(), &found) != 0) refuse(errno);
  if (!S_ISREG(found.st_mode)) throw usage_error("{}: found no file, expected {}", path, accepted);
  check_owner(found, path, forbidden, accepted);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(fd.get(), buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno != EINTR) refuse(errno);
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string secret_text(const KeyPair& pair) {
  return fmt::format("# Ringside: a CURVE key pair. Keep it secret.\npublic {}\nsecret {}\n", pair.public_key,
                     pair.secret_key);
}

/// The key in a line of the form `word KEY`.
std::string key_behind(const std::string& text, const std::string& word, const std::string& path) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(word + " ")) continue;
    const std::string key = line.substr(word.size() + 1);
    if (is_key_text(key)) return key;
  }
  throw usage_error("{}: found no line '{} KEY' with a key of 40 characters, as `ringside keygen` writes it", path,
                    word);
}

KeyPair read_secret(const std::string& folder, const char* name) {
  const std::string text = read_file(folder, name, 0077, "a secret key");
  return {key_behind(text, "public", folder + name), key_behind(text, "secret", folder + name)};
}

std::string read_public(const std::string& folder) {
  return key_behind(read_file(folder, kServerPublic, 0022, "a public key"), "public", folder + kServerPublic);
}

}  // namespace

void make_server_keys(const std::string& folder) {
  make_folder(folder);
  const KeyPair pair = make_key_pair();
  write_new(folder + kServerSecret, secret_text(pair));
  write_new(folder + kServerPublic, fmt::format("public {}\n", pair.public_key));
  write_new(folder + kAllowed, "# Ringside: the admitted clients, one per line: KEY NAME\n");
}

void make_client_keys(const std::string& folder, const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  if (name.empty() || name.find_first_not_of(kLetters) != std::string::npos) {
    throw usage_error("--client: found '{}', expected a name of letters, digits, - and _", name);
  }
  const std::string server = read_public(folder);
  const std::string own = folder + "/" + name;
  make_folder(own);
  const KeyPair pair = make_key_pair();
  write_new(own + kClientSecret, secret_text(pair));
  write_new(own + kServerPublic, fmt::format("public {}\n", server));
  // Append the client last, so that every client on the list has its keys.
  append_line(folder + kAllowed, pair.public_key + " " + name);
}

CurveKeys read_server_keys(const std::string& folder) {
  return {read_secret(folder, kServerSecret), {}};
}

CurveKeys read_client_keys(const std::string& folder) {
  return {read_secret(folder, kClientSecret), read_public(folder)};
}

std::vector<std::string> server_key_files(const std::string& folder) {
  return {folder + kServerSecret, folder + kServerPublic, folder + kAllowed};
}

std::vector<std::string> read_allowed_clients(const std::string& folder) {
  const std::string path = folder + kAllowed;
  std::istringstream lines(read_file(folder, kAllowed, 0022, "the list of admitted clients"));
  std::vector<std::string> keys;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::string key = line.substr(0, line.find(' '));
    if (!is_key_text(key)) {
      throw usage_error("{}: line {}: found '{}', expected KEY NAME with a key of 40 characters", path, number, line);
    }
    keys.push_back(key);
  }
  if (keys.empty()) {
    throw usage_error("{}: found no admitted client, expected at least one: `ringside keygen {} --client NAME`", path,
                      folder);
  }
  return keys;
}

}  // namespace ringside
