// Streams between actors of several processes.
#pragma once

#include "peers/small_messages.hpp"

#include <string>

namespace bench {

/// One actor in each far process receives the streams of all near ends. One actor in each near end streams to all far
/// ends, one message to each in turn. near_end::one_way counts the messages of each stream. Over unix sockets.
[[nodiscard]] subject fan_subject(std::string name);

} // namespace bench
