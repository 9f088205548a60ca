// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/http/page_assets.hpp"
#include "cli/http/request_head.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kCookie = "ringside_session";

using Headers = std::map<std::string, std::string>;

// With these headers, a browser runs only code from this server, connects to no other server, and shows the page in no
// frame.
const Headers kHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
    {"Connection", "close"},
};

struct Response {
  int status = 200;
  Headers headers = kHeaders;
  std::string text;
};

/// The reasons of the statuses that this file and the sites use; clients read only the number.
std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 303: return "See Other";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Payload Too Large";
    case 421: return "Misdirected Request";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

void set_content(Response& response, std::string text, std::string_view type) {
  response.text = std::move(text);
  response.headers["Content-Type"] = type;
}

void refuse(Response& response, int status, std::string_view why) {
  response.status = status;
  set_content(response, fmt::format("{}\n", why), "text/plain; charset=utf-8");
}

/// The bytes of an answer, always whole and uncompressed: for loopback, compression is not worth the core's time, which
/// the solver may need. The answer to HEAD contains the length of the text that GET would return.
std::string bytes_of(Response response, bool with_text) {
  response.headers["Content-Length"] = std::to_string(response.text.size());
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) bytes += fmt::format("{}: {}\r\n", name, value);
  bytes += "\r\n";
  if (with_text) bytes += response.text;
  return bytes;
}

struct AddressListDeleter {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};

/// Makes a socket that listens at the address. Throws Error (exit code 3).
UniqueFd listen_at(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, AddressListDeleter> list(found);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = unknown == 0 ? found : nullptr; at != nullptr; at = at->ai_next) {
    UniqueFd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol));
    // SO_REUSEPORT stays off: it would let another process take half of our connections.
    const int on = 1;
    const int off = 0;
    if (fd.valid()) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd.valid() && at->ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    const bool listens =
        fd.valid() && bind(fd.get(), at->ai_addr, at->ai_addrlen) == 0 && ::listen(fd.get(), SOMAXCONN) == 0;
    if (listens) return fd;
    error = errno;
  }
  throw system_error("--listen: cannot listen at {}:{}: {}; choose another port", address.host, address.port,
                     unknown == 0 ? errno_text(error) : gai_strerror(unknown));
}

/// The port of a socket, which the kernel may have chosen.
int port_of(const UniqueFd& socket) {
  sockaddr_storage at{};
  socklen_t length = sizeof at;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &length) != 0) return 0;
  return ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(at).sin6_port
                                        : reinterpret_cast<const sockaddr_in&>(at).sin_port);
}

/// The name in a Host header, without the port. The port consists of digits or is empty.
std::string_view host_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && host.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return has_port ? host.substr(0, colon) : host;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// Whether the Host header names this server. The check prevents DNS rebinding: if the host name of a foreign page
/// resolves to loopback, the requests of the page still have that name in their Host header.
bool is_our_name(std::string_view host, const ListenAddress& address) {
  const std::string name = lower_case(host_name(host));
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == address.host ||
         std::ranges::find(address.allowed_hosts, name) != address.allowed_hosts.end();
}

/// Whether a browser sends the request because a page of another origin loads a script, an image or a frame from this
/// server. A link to this server that the user follows is allowed. Programs send neither Sec-Fetch-Site nor Origin; our
/// own pages send no Origin with GET.
bool is_of_another_origin(const RequestHead& request, const ListenAddress& address) {
  const std::string_view site = request.field("sec-fetch-site");
  if (!site.empty()) {
    const bool follows_link =
        request.field("sec-fetch-mode") == "navigate" && request.field("sec-fetch-dest") == "document";
    return site != "same-origin" && site != "none" && !follows_link;
  }
  const std::string_view origin = request.field("origin");
  if (origin.empty()) return false;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return true;  // "null": the page is a file or in a sandbox
  const std::string host = lower_case(origin.substr(scheme + 3));
  return host != lower_case(request.field("host")) &&
         std::ranges::find(address.allowed_hosts, host_name(host)) == address.allowed_hosts.end();
}

/// The relative address of the first page from a page at `path`: "./", or "../" below a folder.
std::string way_to_root(std::string_view path) {
  std::string way = "./";
  for (auto slashes = std::ranges::count(path, '/'); slashes > 1; --slashes) way = way == "./" ? "../" : way + "../";
  return way;
}

std::optional<std::string> cookie(const RequestHead& request, std::string_view wanted) {
  std::string_view rest = request.field("cookie");
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    std::string_view one = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == wanted) return std::string(one.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace

bool ListenAddress::is_loopback() const noexcept {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1";
}

ListenAddress parse_listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ListenAddress address;
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  const auto port = colon == std::string::npos ? std::nullopt : whole_number(text.substr(colon + 1));
  in6_addr parsed{};
  const bool numeric = inet_pton(bracketed ? AF_INET6 : AF_INET, address.host.c_str(), &parsed) == 1;
  if (!port || *port > 65535 || !(numeric || (address.host == "localhost" && !bracketed))) {
    throw usage_error(
        "--listen: found '{}', expected HOST:PORT with a numeric address and a port from 0 to 65535, such as "
        "127.0.0.1:9464 or [::1]:9464",
        shortened(text));
  }
  address.port = static_cast<int>(*port);
  return address;
}

std::string allowed_host(const std::string& text, std::string_view option) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
  constexpr std::string_view kOfAddresses = "0123456789abcdef:.";
  std::string name = lower_case(text);
  std::string_view inner = name;
  const bool bracketed = inner.starts_with('[') && inner.ends_with(']');
  if (bracketed) inner = inner.substr(1, inner.size() - 2);
  if (inner.empty() || inner.find_first_not_of(bracketed ? kOfAddresses : kOfNames) != std::string_view::npos) {
    throw usage_error(
        "{}: found '{}', expected only a name or an address, such as monitor.example.org or [2001:db8::1]", option,
        shortened(text));
  }
  return name;
}

struct HttpServer::Implementation {
  Implementation(std::shared_ptr<const Site> served, ListenAddress listen, std::optional<AccessToken> access,
                 const ConnectionLimits& connection_limits)
      : site(std::move(served)), address(std::move(listen)), token(std::move(access)), limits(connection_limits) {}

  /// Returns the answer to a request's head, which may be any text.
  std::string answer(std::string_view head) const {
    Response response;
    if (const std::optional<HeadFault> fault = fault_in(head)) {
      refuse(response, fault->status, fault->why);
      return bytes_of(std::move(response), true);
    }
    const RequestHead request = read_head(head);
    try {
      if (may_pass(request, response)) answer(request, response);
    } catch (const std::exception&) {
      response = {};
      refuse(response, 500, "the server could not answer this request");
    }
    return bytes_of(std::move(response), request.method != "HEAD");
  }

  bool may_pass(const RequestHead& request, Response& response) const {
    if (address.is_loopback() && !is_our_name(request.field("host"), address)) {
      refuse(response, 421,
             "Host: expected localhost, 127.0.0.1 or [::1], the listening address, or a proxy's name that `ringside "
             "serve --allow-host NAME` permits");
      return false;
    }
    if (is_of_another_origin(request, address)) {
      refuse(response, 403,
             "found a request from a page of another origin, expected one from this server's pages, or from a program");
      return false;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response.headers["Allow"] = "GET, HEAD";
      refuse(response, 405, "expected GET or HEAD");
      return false;
    }
    return !token || shows_token(request, response);
  }

  /// Whether the request has the token in a header (Prometheus, scripts), or the cookie. If the token is in the
  /// address, returns false; the answer then redirects and sets the cookie.
  bool shows_token(const RequestHead& request, Response& response) const {
    constexpr std::string_view kBearer = "Bearer ";
    const std::string_view authorization = request.field("authorization");
    if (authorization.starts_with(kBearer) && token->matches(authorization.substr(kBearer.size()))) {
      return true;
    }
    if (const auto session = cookie(request, kCookie); session && token->matches_session(*session)) return true;
    if (const auto given = request.parameter("token"); given && token->matches(*given)) {
      // The redirect removes the token from the address bar, so that no history or screenshot keeps it.
      response.status = 303;
      const std::string root = way_to_root(request.path);
      response.headers["Location"] = root;
      // A cookie without Path is valid for the folder of the requested page, even below a proxy's path.
      response.headers["Set-Cookie"] =
          fmt::format("{}={}; {}HttpOnly; SameSite=Strict", kCookie, token->session(), root == "./" ? "" : "Path=/; ");
      return false;
    }
    response.headers["WWW-Authenticate"] = "Bearer realm=\"ringside\"";
    refuse(response, 401, "a token is needed: a header 'Authorization: Bearer TOKEN', or /?token=TOKEN in a browser");
    return false;
  }

  void answer(const RequestHead& request, Response& response) const {
    const SiteRequest asked{request.path, [&request](const std::string& name) { return request.parameter(name); }};
    if (std::optional<SiteAnswer> found = site->answer(asked)) {
      response.status = found->status;
      set_content(response, std::move(found->text), found->content_type);
      if (found->retry_after.count() > 0) response.headers["Retry-After"] = std::to_string(found->retry_after.count());
    } else if (const PageAsset* asset = find_page_asset(request.path)) {
      set_content(response, std::string(asset->content), asset->content_type());
    } else {
      refuse(response, 404, "not found; there are " + site->paths());
    }
  }

  const std::shared_ptr<const Site> site;
  ListenAddress address;
  const std::optional<AccessToken> token;
  const ConnectionLimits limits;
  std::optional<ConnectionLoop> connections;
};

HttpServer::HttpServer(std::shared_ptr<const Site> site, ListenAddress address, std::optional<AccessToken> token,
                       const ConnectionLimits& limits) {
  if (!address.is_loopback() && !token) {
    throw usage_error("--listen {}:{}: other machines can reach this address; expected --token-file with it",
                      address.host, address.port);
  }
  implementation_ = std::make_unique<Implementation>(std::move(site), std::move(address), std::move(token), limits);
}

HttpServer::~HttpServer() = default;

void HttpServer::start() {
  Implementation& server = *implementation_;
  UniqueFd listening = listen_at(server.address);
  server.address.port = port_of(listening);
  server.connections.emplace(std::move(listening), server.limits,
                             [&server](std::string_view head) { return server.answer(head); });
}

std::string HttpServer::url() const {
  const ListenAddress& address = implementation_->address;
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

int HttpServer::port() const noexcept {
  return implementation_->address.port;
}

}  // namespace ringside
