// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/attach_request.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/platform/error.hpp"
#include "common/results/catalogue.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::string_view kWhere = "attach request";

/// The scalars that the descriptions name. Throws Error, like Catalogue::decode, for scalars that no real producer
/// would send.
std::vector<Scalar> checked_scalars(const Schema& schema, std::span<const ResultDescription> descriptions,
                                    std::string_view where) {
  for (const ResultDescription& description : descriptions) {
    if (description.source != ResultSource::kScalar) {
      throw usage_error("{}: '{}' has source {}, expected {} ({})", where, printable(text_of(description.name)),
                        static_cast<int>(description.source), static_cast<int>(ResultSource::kScalar),
                        to_string(ResultSource::kScalar));
    }
  }
  const Catalogue catalogue = Catalogue::decode(schema, descriptions, where);
  return {catalogue.scalars().begin(), catalogue.scalars().end()};
}

void check_header(const MessageHeader& header) {
  if (header.magic != kHandoffMagic || header.kind != MessageKind::kAttachRequest) {
    throw usage_error("the first message is not an attach request");
  }
  if (header.version != kHandoffVersion) {
    throw usage_error(
        "the producer uses hand-off version {}, but this analyzer uses version {}; use the same release for both",
        header.version, kHandoffVersion);
  }
}

void check_head(const AttachRequestHead& head, std::size_t descriptors) {
  if (descriptors != 2 && descriptors != 3) {
    throw usage_error("attach request: found {} file descriptors, expected 2 or 3", descriptors);
  }
  if (head.buffers < kMinBuffers || head.buffers > kMaxBuffers) {
    throw usage_error("attach request: found {} buffers, expected {} to {}", head.buffers, kMinBuffers, kMaxBuffers);
  }
  if (head.pool_use > PoolUse::kFreshAgain) {
    throw usage_error("attach request: found pool_use {}, expected 0 to 3", static_cast<std::uint32_t>(head.pool_use));
  }
  if (head.coordination > CoordinationKind::kMessages) {
    throw usage_error("attach request: found coordination {}, expected 0 or 1",
                      static_cast<std::uint32_t>(head.coordination));
  }
  if (head.resume_from != 0 && head.pool_use != PoolUse::kResume) {
    throw usage_error("attach request: it continues from iteration {}, but pool_use is {}; expected {}",
                      head.resume_from, static_cast<std::uint32_t>(head.pool_use),
                      static_cast<std::uint32_t>(PoolUse::kResume));
  }
  if (head.elastic > 1) throw usage_error("attach request: found elastic {}, expected 0 or 1", head.elastic);
  if (head.variables == 0 || head.variables > kMostVariables) {
    throw usage_error("{}: found {} variables, expected 1 to {}", kWhere, head.variables, kMostVariables);
  }
  if (head.scalars > kMostScalars) {
    throw usage_error("{}: found {} scalars, expected at most {}", kWhere, head.scalars, kMostScalars);
  }
}

template <class T>
std::vector<T> take(std::span<const std::byte>& rest, std::size_t count) {
  std::vector<T> taken(count);
  if (count > 0) std::memcpy(taken.data(), rest.data(), count * sizeof(T));  // data() of an empty vector may be null
  rest = rest.subspan(count * sizeof(T));
  return taken;
}

}  // namespace

AttachRequest::AttachRequest(const RunDescription& run, Schema variables, std::vector<Scalar> published_scalars)
    : schema(std::move(variables)), scalars(std::move(published_scalars)) {
  (void)Catalogue::of(schema, {}, scalars, {}, "scalars");
  head.run = run;
  head.run.entries = schema.place(0).entries;
  head.run.schema_id = schema.id();
  head.run.problem_id = problem_id_with(run.problem_id, schema);
  head.variables = static_cast<std::uint32_t>(schema.size());
  head.scalars = static_cast<std::uint32_t>(scalars.size());
}

std::vector<std::byte> AttachRequest::encode() const {
  std::vector<std::byte> message;
  const auto append = [&message](const void* from, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(from);
    message.insert(message.end(), begin, begin + bytes);
  };
  append(&head, sizeof(head));
  for (const VariableDescription& description : schema.encode()) append(&description, sizeof(description));
  for (const Scalar& scalar : scalars) {
    const ResultDescription description = description_of(scalar);
    append(&description, sizeof(description));
  }
  return message;
}

AttachRequest AttachRequest::decode(std::span<const std::byte> message, std::size_t descriptors) {
  AttachRequestHead head;
  // Check the version first, because a request of another version has another length.
  if (message.size() < sizeof(MessageHeader)) {
    throw usage_error("attach request: found {} bytes, expected at least {}", message.size(), sizeof(head));
  }
  std::memcpy(&head, message.data(), std::min(message.size(), sizeof(head)));
  check_header(head.header);
  if (message.size() < sizeof(head)) {
    throw usage_error("attach request: found {} bytes, expected at least {}", message.size(), sizeof(head));
  }
  check_head(head, descriptors);
  const std::size_t expected =
      sizeof(head) + head.variables * sizeof(VariableDescription) + head.scalars * sizeof(ResultDescription);
  if (message.size() != expected) {
    throw usage_error("attach request: found {} bytes with {} variables and {} scalars, expected {} bytes",
                      message.size(), head.variables, head.scalars, expected);
  }
  std::span<const std::byte> rest = message.subspan(sizeof(head));
  const Schema schema = Schema::decode(take<VariableDescription>(rest, head.variables), kWhere);
  std::vector<Scalar> scalars = checked_scalars(schema, take<ResultDescription>(rest, head.scalars), kWhere);
  if (head.run.schema_id != schema.id() || head.run.entries != schema.place(0).entries) {
    throw usage_error("{}: the description of the run does not match its variables, {}", kWhere, to_text(schema));
  }
  // Text fields come from another process: terminate them, so that they end within their field.
  head.run.solver[sizeof head.run.solver - 1] = '\0';
  head.run.matrix[sizeof head.run.matrix - 1] = '\0';
  head.run.parameters[sizeof head.run.parameters - 1] = '\0';
  head.pool[sizeof head.pool - 1] = '\0';
  return {head, schema, std::move(scalars)};
}

}  // namespace ringside
