// SPDX-License-Identifier: BSD-3-Clause
// Messages of proto/ringside.proto from their text format.
#pragma once

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside::testing {

template <class Message>
Message wire_message(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

/// Expects that the fields in `text` have these values in `message`. The message may have further fields.
template <class Message>
void expect_fields(const Message& message, const std::string& text) {
  google::protobuf::util::MessageDifferencer differences;
  differences.set_scope(google::protobuf::util::MessageDifferencer::PARTIAL);
  EXPECT_TRUE(differences.Compare(wire_message<Message>(text), message)) << message.ShortDebugString();
}

}  // namespace ringside::testing
