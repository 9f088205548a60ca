// SPDX-License-Identifier: BSD-3-Clause
// What libringside-messages exports: its version, and how messages are made. Errors are thrown as exceptions through
// libringside, which catches them: libstdc++ compares the types of two libraries by their names.
#include "common/messages/message_coordination.hpp"
#include "common/platform/version.hpp"
#include "library/messages.hpp"

extern "C" __attribute__((visibility("default"))) const ringside::library::MessagesEntry ringside_messages;

const ringside::library::MessagesEntry ringside_messages{ringside::version(), ringside::make_messages};
