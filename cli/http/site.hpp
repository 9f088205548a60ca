// SPDX-License-Identifier: BSD-3-Clause
// The content of a server, except for the files of its pages. HttpServer decides which clients are admitted; a site
// makes the answer, and never uses a part of a request as a path.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace ringside {

struct SiteRequest {
  std::string path;                                                             // "/api/status"
  std::function<std::optional<std::string>(const std::string& name)> parameter;  // the value of a query parameter
};

struct SiteAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string text;
  std::chrono::seconds retry_after{};  // for a temporary refusal; 0: not announced
};

class Site {
 public:
  virtual ~Site() = default;
  /// The answer to a request; empty if the site has nothing at its path. Called by the server's thread.
  virtual std::optional<SiteAnswer> answer(const SiteRequest& request) const = 0;
  /// The existing paths, for the answer to a request with an unknown path: "/, /metrics".
  virtual std::string paths() const = 0;
};

inline SiteAnswer json_answer(std::string text) {
  return {200, "application/json", std::move(text)};
}

/// status: 400 or more. why: one line.
inline SiteAnswer refusal_answer(int status, const std::string& why) {
  return {status, "text/plain; charset=utf-8", why + "\n"};
}

}  // namespace ringside
