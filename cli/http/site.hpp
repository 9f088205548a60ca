// SPDX-License-Identifier: BSD-3-Clause
// What a server serves, apart from the files of the page. HttpServer decides who may ask; a site decides what is
// answered, and never turns a part of a request into a path.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace ringside {

struct SiteRequest {
  std::string path;                                                             // "/api/status"
  std::function<std::optional<std::string>(const std::string& name)> parameter;  // of the query
};

struct SiteAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string text;
  std::chrono::seconds retry_after{};  // of a refusal that will end; 0: says nothing of it
};

class Site {
 public:
  virtual ~Site() = default;
  /// Nothing if there is nothing at that path. Called by the server's thread.
  virtual std::optional<SiteAnswer> answer(const SiteRequest& request) const = 0;
  /// For the refusal of a path: "/, /metrics".
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
