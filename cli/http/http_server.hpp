// SPDX-License-Identifier: BSD-3-Clause
// The HTTP server of `ringside serve`: it serves a site, and the assets of the site's pages. It changes nothing. It
// trusts no client: it limits the size of requests, their time and the connections, accepts only heads that conform to
// the RFC, and requires a token if one is configured. If it listens only on loopback, the Host header must contain one
// of the server's own names or that of an allowed proxy. The server refuses requests that a browser makes for a page of
// another origin. All addresses in its answers are relative, so that a proxy may place the server below any path.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/http/access_token.hpp"
#include "cli/http/connection_loop.hpp"
#include "cli/http/site.hpp"

namespace ringside {

struct ListenAddress {
  std::string host;                             // a numeric address, or "localhost"
  int port = 0;                                 // 0: any free port
  std::vector<std::string> allowed_hosts = {};  // further names accepted in a Host header, from allowed_host()
  bool is_loopback() const noexcept;
};

/// Parses "HOST:PORT" or "[IPV6]:PORT". Throws Error (exit code 2).
ListenAddress parse_listen_address(const std::string& text);

/// The name under which a proxy forwards requests, in lower case: "monitor.example.org". Throws Error (exit code 2),
/// whose text names `option`.
std::string allowed_host(const std::string& text, std::string_view option);

class HttpServer {
 public:
  /// Serves the content of `site`. Throws Error (exit code 2) for an address beyond loopback without a token.
  HttpServer(std::shared_ptr<const Site> site, ListenAddress address, std::optional<AccessToken> token,
             const ConnectionLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Answers requests on its own thread until the server is destroyed. Throws Error (exit code 3) if it cannot listen
  /// at the address.
  void start();

  /// "http://127.0.0.1:9464/"
  std::string url() const;
  int port() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
