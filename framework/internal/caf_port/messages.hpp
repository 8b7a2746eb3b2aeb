// The parts of CAF's messages, for the rooms above.
#pragma once

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>
#include <caf/rtti_pair.hpp>
#include <caf/system_messages.hpp>
