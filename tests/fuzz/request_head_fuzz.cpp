// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the head of a request must be refused or read correctly. A head is read correctly if it is the same
// after it is written again from its parts (except for blanks around the fields' values). The functions that the server
// uses must accept it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/http/request_head.hpp"

namespace {

using namespace ringside;

std::string without_blanks(std::string_view text) {
  std::string kept(text);
  std::erase_if(kept, [](char c) { return c == ' ' || c == '\t'; });
  return kept;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view all(reinterpret_cast<const char*>(data), bytes);
  const std::string_view head = all.substr(0, head_length(all).value_or(bytes));
  if (fault_in(head)) return 0;
  const RequestHead request = read_head(head);
  std::string written(head.substr(0, head.find("\r\n") + 2));
  if (!written.starts_with(request.method) || request.path.empty()) abort();
  if (request.path.size() > written.size()) abort();
  for (const auto& [name, value] : request.fields) written.append(name).append(":").append(value).append("\r\n");
  if (without_blanks(written + "\r\n") != without_blanks(head)) abort();
  for (const auto& [name, value] : request.parameters) {
    if (!request.parameter(name)) abort();
  }
  (void)request.field("host");
  return 0;
}
