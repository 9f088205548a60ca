// SPDX-License-Identifier: BSD-3-Clause
// The struct that libringside-messages exports: its version, and the function that makes messages. Exceptions that are
// thrown here reach libringside. libringside can catch them, because libstdc++ compares the types of two libraries by
// their names.
#include "common/messages/message_coordination.hpp"
#include "common/platform/version.hpp"
#include "library/messages.hpp"

extern "C" __attribute__((visibility("default"))) const ringside::library::MessagesEntry ringside_messages;

const ringside::library::MessagesEntry ringside_messages{ringside::version(), ringside::make_messages};
