#include "common/key_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace ringside {
namespace {

constexpr const char* kServerSecret = "/server.secret";
constexpr const char* kServerPublic = "/server.public";
constexpr const char* kClientSecret = "/client.secret";
constexpr const char* kAllowed = "/clients.allowed";

/// `flags`: O_EXCL for a new file, O_APPEND for a line more.
void write_file(const std::string& path, const std::string& text, int flags) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (!fd.valid() && errno == EEXIST) {
    throw usage_error("{}: found keys, expected none: keys are never overwritten; choose another folder or name", path);
  }
  if (!fd.valid() || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      fsync(fd.get()) != 0) {
    throw system_error("{}: cannot write: {}", path, errno_text(errno));
  }
}

void make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("{}: cannot make the folder: {}", path, errno_text(errno));
  }
}

/// forbidden: permissions that others must not have.
std::string read_file(const std::string& path, mode_t forbidden, const char* accepted) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!fd.valid() || fstat(fd.get(), &found) != 0) {
    throw usage_error("{}: cannot be read ({}); expected {}, as `ringside keygen` makes it", path, errno_text(errno),
                      accepted);
  }
  if (!S_ISREG(found.st_mode)) throw usage_error("{}: found no file, expected {}", path, accepted);
  if ((found.st_mode & forbidden) != 0 || (found.st_uid != geteuid() && found.st_uid != 0)) {
    throw usage_error("{}: found permissions {:03o} of user {}, expected {} that is this user's and at most {:03o}",
                      path, found.st_mode & 0777u, found.st_uid, accepted, 0777u & ~forbidden);
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw usage_error("{}: cannot be read; expected {}", path, accepted);
  return text.str();
}

std::string secret_text(const KeyPair& pair) {
  return fmt::format("# Ringside: a CURVE key pair. Keep it to yourself.\npublic {}\nsecret {}\n", pair.public_key,
                     pair.secret_key);
}

/// The word behind `word` at the beginning of a line.
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

KeyPair read_secret(const std::string& path) {
  const std::string text = read_file(path, 0077, "a secret key");
  return {key_behind(text, "public", path), key_behind(text, "secret", path)};
}

std::string read_public(const std::string& path) {
  return key_behind(read_file(path, 0022, "a public key"), "public", path);
}

}  // namespace

void make_server_keys(const std::string& folder) {
  make_folder(folder);
  const KeyPair pair = make_key_pair();
  write_file(folder + kServerSecret, secret_text(pair), O_EXCL);
  write_file(folder + kServerPublic, fmt::format("public {}\n", pair.public_key), O_EXCL);
  write_file(folder + kAllowed, "# Ringside: the clients that are let in, a line each: KEY NAME\n", O_EXCL);
}

void make_client_keys(const std::string& folder, const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  if (name.empty() || name.find_first_not_of(kLetters) != std::string::npos) {
    throw usage_error("--client: found '{}', expected a name of letters, digits, - and _", name);
  }
  const std::string server = read_public(folder + kServerPublic);
  const std::string own = folder + "/" + name;
  make_folder(own);
  const KeyPair pair = make_key_pair();
  write_file(own + kClientSecret, secret_text(pair), O_EXCL);
  write_file(own + kServerPublic, fmt::format("public {}\n", server), O_EXCL);
  // Last: nobody is let in whose keys are not there.
  write_file(folder + kAllowed, fmt::format("{} {}\n", pair.public_key, name), O_APPEND);
}

CurveKeys read_server_keys(const std::string& folder) {
  return {read_secret(folder + kServerSecret), {}};
}

CurveKeys read_client_keys(const std::string& folder) {
  return {read_secret(folder + kClientSecret), read_public(folder + kServerPublic)};
}

std::vector<std::string> read_allowed_clients(const std::string& folder) {
  const std::string path = folder + kAllowed;
  std::istringstream lines(read_file(path, 0022, "the list of clients that are let in"));
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
    throw usage_error("{}: found no client that is let in, expected one at least: `ringside keygen {} --client NAME`",
                      path, folder);
  }
  return keys;
}

}  // namespace ringside
