// SPDX-License-Identifier: BSD-3-Clause
// Request heads that two programs may interpret in different ways are refused. From all other heads, the right request
// is read.
#include "cli/http/request_head.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringside {
namespace {

int status_of(const std::string& head) {
  const auto fault = fault_in(head);
  return fault ? fault->status : 200;
}

std::string head_with(const std::string& fields) {
  return "GET /metrics HTTP/1.1\r\n" + fields + "\r\n";
}

TEST(RequestHeadTest, WhatBrowsersAndPrometheusSendIsTaken) {
  for (const char* fields :
       {"Host: localhost\r\n", "Host: localhost:9464\r\nAccept: text/html,*/*;q=0.8\r\nUser-Agent: A (b; c)\r\n",
        "host:[::1]:9464\r\nCookie: a=b; c=d\r\n", "Host: \t127.0.0.1 \t\r\nX-Empty:\r\n", "Host:\r\n",
        "Host: localhost\r\nContent-Length: 0\r\n", "Host: localhost\r\nX: \xc3\xa4\r\n"}) {
    EXPECT_EQ(status_of(head_with(fields)), 200) << fields;
  }
  EXPECT_EQ(status_of("HEAD /a?b=c&d=%20 HTTP/1.0\r\n\r\n"), 200);
}

TEST(RequestHeadTest, TwoHostsAndNoHostAreRefused) {
  for (const char* fields :
       {"", "X: y\r\n", "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nhOsT: evil.example\r\n",
        "Host: localhost, evil.example\r\n", "Host: localhost evil.example\r\n"}) {
    EXPECT_EQ(status_of(head_with(fields)), 400) << fields;
  }
}

TEST(RequestHeadTest, ABodyWhoseLengthIsSaidInTwoWaysIsRefused) {
  for (const char* fields :
       {"Content-Length: 0\r\nContent-Length: 5\r\n", "Content-Length: 0\r\nContent-Length: 0\r\n",
        "Content-Length: 0, 5\r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n", "Content-Length: 0x5\r\n",
        "Content-Length:\r\n", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n"}) {
    EXPECT_EQ(status_of(head_with(std::string("Host: localhost\r\n") + fields)), 400) << fields;
  }
  for (const char* length : {"5", "00005", "99999999999999999999"}) {
    EXPECT_EQ(status_of(head_with(std::string("Host: localhost\r\nContent-Length: ") + length + "\r\n")), 413)
        << length;
  }
}

TEST(RequestHeadTest, LinesThatAreFoldedOrEndInAnotherWayAreRefused) {
  for (const std::string& fields :
       {std::string("Host: localhost\r\nX: a\r\n b\r\n"), std::string("Host: localhost\r\n\tb\r\n"),
        std::string(" Host: localhost\r\n"), std::string("Host: localhost\nX: y\r\n"),
        std::string("Host: localhost\rX: y\r\n"), std::string("Host: local\0host\r\n", 18),
        std::string("Host: localhost\r\nX: \x01\r\n"), std::string("Host: localhost\r\nX: \x7f\r\n")}) {
    EXPECT_EQ(status_of(head_with(fields)), 400) << fields;
  }
}

TEST(RequestHeadTest, NamesThatAreNoneAreRefused) {
  for (const char* line : {"Host : evil.example", "Transfer-Encoding : chunked", ": x", "no colon", "a b: c",
                           "Host\x0b: x", "\xc3\xa4: x", "(x): y"}) {
    EXPECT_EQ(status_of(head_with(std::string("Host: localhost\r\n") + line + "\r\n")), 400) << line;
  }
}

TEST(RequestHeadTest, ARequestLineHasThreePartsAndAPathOfOurs) {
  for (const char* line : {"", "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1",
                           "GET / HTTP/2.0", "GET / HTTP/1.2", "GET / http/1.1", "GET http://evil.example/ HTTP/1.1",
                           "GET * HTTP/1.1", "GET evil HTTP/1.1", "CONNECT localhost:1 HTTP/1.1", "GET /a b HTTP/1.1",
                           "GET /\tb HTTP/1.1", "G(T / HTTP/1.1", "GET /\xc3\xa4 HTTP/1.1"}) {
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: localhost\r\n\r\n"), 400) << line;
  }
}

TEST(RequestHeadTest, AHeadIsWholeWithItsEmptyLine) {
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\nHost: a\r\n"), std::nullopt);
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next"), 27u);
  EXPECT_TRUE(cannot_be_completed("GET / HTTP/1.1\n"));
  EXPECT_TRUE(cannot_be_completed("\n"));
  EXPECT_FALSE(cannot_be_completed("GET / HTTP/1.1\r\nHost"));
  EXPECT_EQ(status_of("GET /" + std::string(9000, 'a')), 431);
}

TEST(RequestHeadTest, TheTargetIsReadAsAPathAndTheParametersOfItsQuery) {
  const RequestHead request = read_head("GET /a%2fb+c?x=1%2B+2&&y&=z&x=3&%66=%=#?x=4 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/a/b+c");
  EXPECT_EQ(request.parameters,
            (std::vector<std::pair<std::string, std::string>>{{"x", "1+ 2"}, {"y", ""}, {"x", "3"}, {"f", "%="}}));
  EXPECT_EQ(request.parameter("x"), "1+ 2") << "the first one counts";
  EXPECT_EQ(request.parameter("y"), "");
  EXPECT_EQ(request.parameter("z"), std::nullopt);
}

TEST(RequestHeadTest, APercentSignWithoutTwoDigitsIsItself) {
  EXPECT_EQ(read_head("GET /%%4%zz%-1%41%2 HTTP/1.1\r\nHost: a\r\n\r\n").path, "/%%4%zz%-1A%2");
  EXPECT_EQ(read_head("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n").path, std::string("/\0", 2));
}

TEST(RequestHeadTest, AFieldIsFoundByItsNameInAnyCaseAndHasNoBlanksAround) {
  const RequestHead request =
      read_head("GET / HTTP/1.1\r\nHOST: \t[::1]:80 \r\nX-a:\r\nCookie: a=b; c=d\r\ncookie: e\r\n\r\n");
  EXPECT_EQ(request.field("host"), "[::1]:80");
  EXPECT_EQ(request.field("x-a"), "");
  EXPECT_EQ(request.field("cookie"), "a=b; c=d") << "the first one counts";
  EXPECT_EQ(request.field("authorization"), "");
  EXPECT_EQ(request.fields.size(), 4u);
}

}  // namespace
}  // namespace ringside
